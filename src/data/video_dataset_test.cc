#include "data/video_dataset.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

TEST(VideoDataset, FramesComeInOrderEachWithThePictureOfItsVideo) {
  TemporaryFolder folder;
  for (const char* name : {"a/f1.png", "images/b/f1.jpg", "root/c/f1.jpeg"}) {
    std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
    std::ofstream(folder / name) << "";
  }
  std::ofstream(folder / "frames.json")
      << R"([{"id": "9", "imageId": "f1", "question": "x", "metadata": {"video_id": "b", "frame_number": 4}},)"
      << R"( {"id": "2", "imageId": "f1", "question": "x", "answer": "no", "metadata": {"video_id": "a"}},)"
      << R"( {"imageId": "f1", "question": "x", "metadata": {"video_id": "c"}}])";
  const std::unique_ptr<Dataset> dataset = NewVideoDataset(folder / "frames.json", {folder / "root"}).value();
  const Sample first = dataset->Next().value().value();
  EXPECT_EQ(first.id, "9");
  EXPECT_EQ(first.image_path, folder / "images/b/f1.jpg");
  EXPECT_EQ(first.metadata, R"({"video_id":"b","frame_number":4})");
  const Sample second = dataset->Next().value().value();
  EXPECT_EQ(second.answer, "no");
  EXPECT_EQ(second.image_path, folder / "a/f1.png");
  const Sample third = dataset->Next().value().value();
  EXPECT_EQ(third.id, "3");
  EXPECT_EQ(third.image_path, folder / "root/c/f1.jpeg");
  EXPECT_FALSE(dataset->Next().value().has_value());
}

}  // namespace
}  // namespace afterimage
