// BackgroundChecksum: a checksum taken by another thread while its caller reads what comes next. Where a core is free,
// it costs a load nothing but its last piece.
#ifndef AFTERIMAGE_STORE_BACKGROUND_CHECKSUM_H_
#define AFTERIMAGE_STORE_BACKGROUND_CHECKSUM_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "store/chunk_format.h"

namespace afterimage {

// REQUIRES: what was added stays as it is until Finish.
class BackgroundChecksum {
 public:
  // Where no thread can be had there is none, and Add does the work itself.
  BackgroundChecksum() {
    try {
      thread_ = std::thread([this] { Main(); });
    } catch (const std::system_error&) {
      thread_ = {};
    }
  }
  ~BackgroundChecksum() { Join(); }
  BackgroundChecksum(const BackgroundChecksum&) = delete;
  BackgroundChecksum& operator=(const BackgroundChecksum&) = delete;

  void Add(std::span<const std::byte> piece) {
    if (!thread_.joinable()) return checksum_.Add(piece);
    bool enough = false;
    {
      const std::lock_guard lock(mutex_);
      pieces_.push_back(piece);
      enough = pieces_.size() == kPiecesAtOnce;
    }
    if (enough) changed_.notify_one();
  }

  ChecksumBytes Finish() {
    Join();
    return checksum_.Finish();
  }

 private:
  static constexpr size_t kPiecesAtOnce = 3;  // waking a thread takes as long as summing a tenth of a piece

  void Join() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      all_added_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void Main() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return all_added_ || pieces_.size() >= kPiecesAtOnce; });
      if (pieces_.empty()) return;
      const std::vector<std::span<const std::byte>> pieces = std::exchange(pieces_, {});
      lock.unlock();
      for (const std::span<const std::byte> piece : pieces) checksum_.Add(piece);
      lock.lock();
    }
  }

  Checksum checksum_;  // the thread's while it runs
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::span<const std::byte>> pieces_;  // guarded by mutex_
  bool all_added_ = false;                          // guarded by mutex_
  std::thread thread_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_BACKGROUND_CHECKSUM_H_
