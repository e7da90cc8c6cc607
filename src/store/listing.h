// StoreListing: what a cache folder holds, for people and other programs: `afterimage store ls`, `show`, `export`.
//
// Reads the catalogue alone, beside a writer if there is one; sees what is committed. The whole of it is in memory:
// about 1 kB a chunk or request, and the vectors.
#ifndef AFTERIMAGE_STORE_LISTING_H_
#define AFTERIMAGE_STORE_LISTING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "afterimage/result.h"
#include "store/catalogue.h"
#include "store/chunk_store.h"
#include "store/disk_layout.h"
#include "store/file_system.h"

namespace afterimage {

struct StoreListing {
  std::vector<ChunkRow> chunks;      // the oldest first
  std::vector<RequestRow> requests;  // the oldest first
  std::vector<VectorRow> vectors;    // where they were asked for: they are larger than all the rest
  std::vector<Rate> rates;
  StoreStats totals;               // of what is held; the counters are zero
  uint64_t catalogue_bytes = 0;    // on disk, with its log
  uint64_t quarantined_files = 0;  // in quarantine/
  uint64_t damaged_rows = 0;       // left out above
};

// Where the files of a folder lie, fusion chunks included: the catalogue remembers where those were put. What cannot be
// read is taken to be in the folder.
DiskLayout FindLayout(const std::string& folder);

// Errors: kNotFound (nothing there), kInvalidArgument (a folder of something else), kCorrupt, kUnsupported, kIo.
Result<StoreListing> ReadListing(FileSystem& files, const DiskLayout& layout, bool with_vectors = false);

// Chunks as trees, parents before children: positions in `chunks`, and how deep. Chunks whose parent is not held are
// roots; none is left out, whatever their parents say.
struct TreeEntry {
  size_t index = 0;
  size_t depth = 0;
};
std::vector<TreeEntry> TreeOrder(const std::vector<ChunkRow>& chunks);

// The chunk whose id begins with these hex digits. Errors: kNotFound, kInvalidArgument (no prefix of an id, or of more
// than one).
Result<const ChunkRow*> FindByPrefix(const std::vector<ChunkRow>& chunks, const std::string& prefix);

}  // namespace afterimage

#endif  // AFTERIMAGE_STORE_LISTING_H_
