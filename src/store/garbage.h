// CollectGarbage: frees what a cache folder need not hold.
//
// Files without rows and temporary files, as killed processes leave them; what exceeds the limits (eviction.h); chunks
// whose parent is gone, which no prompt can reach until the parent is computed again.
#ifndef AFTERIMAGE_STORE_GARBAGE_H_
#define AFTERIMAGE_STORE_GARBAGE_H_

#include <cstdint>

#include "afterimage/clock.h"
#include "afterimage/result.h"
#include "store/disk_store.h"
#include "store/file_system.h"

namespace afterimage {

struct GarbageReport {
  uint64_t evicted = 0;         // chunks, for the limits
  uint64_t without_parent = 0;  // chunks
  uint64_t quarantined = 0;     // files and rows that failed a check
  uint64_t freed_files = 0;     // of chunks, for whatever reason
  uint64_t freed_bytes = 0;
  StoreStats left;
};

// Opens the folder as its writer. Errors: those of DiskStore::Open, and kNotFound (there is no cache).
Result<GarbageReport> CollectGarbage(const DiskStoreOptions& options, FileSystem& files, const Clock& clock);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_GARBAGE_H_
