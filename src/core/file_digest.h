// FileDigests: SHA-256 of large files, computed once and remembered by device, inode, size, mtime and ctime.
//
// Weights are gigabytes and are named by their digest at every start; reading them again each time would cost more
// than the rest of the start. What is remembered lies in one small text file that several processes may share: they
// replace it whole, so it is never seen half written, and an entry lost between two of them costs one more hashing.
//
// Thread safety: all methods may be called from any thread.
#ifndef AFTERIMAGE_CORE_FILE_DIGEST_H_
#define AFTERIMAGE_CORE_FILE_DIGEST_H_

#include <chrono>
#include <string>

#include "afterimage/digest.h"
#include "afterimage/result.h"

namespace afterimage {

class FileDigests {
 public:
  // `cache_path` empty: nothing is remembered. A cache file that cannot be read or parsed counts as empty.
  // A file that changed less than `min_age` ago is not remembered: it could change once more within the same tick of
  // the file system's clock, and look the same.
  explicit FileDigests(std::string cache_path, std::chrono::nanoseconds min_age = std::chrono::seconds(2));

  // SHA-256 of the file's bytes (the plain one, as sha256sum prints). Errors: kNotFound, kIo. That the cache cannot be
  // written is none.
  Result<Digest> Of(const std::string& path);

 private:
  const std::string cache_path_;
  const std::chrono::nanoseconds min_age_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_FILE_DIGEST_H_
