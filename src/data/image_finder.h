// ImageFinder: where the picture of a sample lies.
//
// A path as the data set gives it is looked for beside the data set's file, then under each root; a picture known only
// by its id is looked for under each root as `<id>.jpg`, `.jpeg`, `.png` or `.webp`, there or in a folder named after
// the id's first three characters.
#ifndef AFTERIMAGE_DATA_IMAGE_FINDER_H_
#define AFTERIMAGE_DATA_IMAGE_FINDER_H_

#include <string>
#include <vector>

namespace afterimage {

class ImageFinder {
 public:
  ImageFinder(std::string folder, std::vector<std::string> roots)
      : folder_(std::move(folder)), roots_(std::move(roots)) {}

  // The file, or, where there is none, the path beside the data set: what reading it will then complain about.
  std::string ByPath(const std::string& path) const;
  // The file, or empty.
  std::string ById(const std::string& image_id) const;

  // The folders named by SEMANTIC_CACHE_IMAGE_ROOT, GQA_IMAGE_ROOT and LLAVA_IMAGE_ROOT, in this order.
  static std::vector<std::string> RootsFromEnvironment();

 private:
  const std::string folder_;  // of the data set's file
  const std::vector<std::string> roots_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_IMAGE_FINDER_H_
