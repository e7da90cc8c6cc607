#include "store/garbage.h"

#include <unordered_set>

namespace afterimage {
namespace {

struct Usage {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

Result<Usage> UsageOf(FileSystem& files, const DiskLayout& layout) {
  const Result<FolderScan> scan = ScanChunks(files, layout);
  if (!scan.ok()) return scan.error();
  std::vector<std::string> paths = scan->leftovers;
  for (const FolderScan::File& file : scan->chunks) paths.push_back(layout.PathOf(file.kind, file.id));
  Usage usage;
  for (const std::string& path : paths) {
    const auto file = files.OpenForReading(path);
    if (!file.ok()) continue;
    ++usage.files;
    usage.bytes += (*file)->size();
  }
  return usage;
}

}  // namespace

Result<GarbageReport> CollectGarbage(const DiskStoreOptions& options, FileSystem& files, const Clock& clock) {
  const DiskLayout layout(options.folder, options.fusion_folder);
  const Result<FolderState> state = InspectFolder(files, layout);
  if (!state.ok()) return state.error();
  if (*state == FolderState::kFresh) {
    return Error{Errc::kNotFound,
                 options.folder + " holds no cache: give the folder that was the --cache-dir of a run"};
  }
  const Result<Usage> before = UsageOf(files, layout);
  if (!before.ok()) return before.error();
  const Result<std::unique_ptr<DiskStore>> store = DiskStore::Open(options, files, clock);
  if (!store.ok()) return store.error();

  GarbageReport report;
  while (true) {  // until no chunk is left whose parent went in the round before
    const Result<std::vector<ChunkRow>> rows = (*store)->catalogue().LoadChunks();
    if (!rows.ok()) return rows.error();
    std::unordered_set<Digest, DigestHash> held;
    for (const ChunkRow& row : *rows) held.insert(row.id);
    uint64_t erased = 0;
    for (const ChunkRow& row : *rows) {
      if (row.header.parent == Digest() || held.contains(row.header.parent)) continue;
      if (Status status = (*store)->Erase(row.id); !status.ok()) return status.error();
      ++erased;
    }
    if (Status status = (*store)->Flush(); !status.ok()) return status.error();
    if (erased == 0) break;
    report.without_parent += erased;
  }
  const Result<Usage> after = UsageOf(files, layout);
  if (!after.ok()) return after.error();
  report.left = (*store)->stats();
  report.evicted = report.left.evicted;
  report.quarantined = report.left.quarantined;
  report.freed_files = before->files - after->files;
  report.freed_bytes = before->bytes - after->bytes;
  return report;
}

}  // namespace afterimage
