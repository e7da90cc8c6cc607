// VerifyFolder: whether what lies in a cache folder is what was put there. Changes nothing.
//
// Every chunk file is read whole through its checksum and held against its row; every page of the catalogue is looked
// at. Works beside a writer: what changed meanwhile is not taken for damage. Cost: one read of all bytes.
#ifndef AFTERIMAGE_STORE_VERIFY_H_
#define AFTERIMAGE_STORE_VERIFY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/digest.h"
#include "afterimage/result.h"
#include "store/disk_layout.h"
#include "store/file_system.h"

namespace afterimage {

struct Finding {
  std::string path;
  std::string reason;
  // Not damage, but of no use: a file without a row, as a killed process leaves it, a chunk whose parent is gone, a
  // request whose last chunk is. Opening the folder for writing or `gc` drops them.
  bool leftover = false;
  std::optional<Digest> id;  // of the chunk it is about
};

struct VerifyReport {
  uint64_t rows = 0;      // chunks in the catalogue
  uint64_t requests = 0;  // in the catalogue
  uint64_t files = 0;     // chunk files read
  uint64_t bytes = 0;     // of them
  uint64_t quarantined_files = 0;
  std::vector<Finding> findings;

  uint64_t bad() const;
  uint64_t leftovers() const;
};

// `progress` is called after each file with the files done and in all. Errors: kNotFound, kInvalidArgument (a folder or
// a catalogue of something else), kUnsupported (a newer version's), kIo. Damage is no error, but a finding.
Result<VerifyReport> VerifyFolder(FileSystem& files, const DiskLayout& layout,
                                  const std::function<void(uint64_t, uint64_t)>& progress);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_VERIFY_H_
