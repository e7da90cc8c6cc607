#include "store/listing.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "store/chunk_table.h"

namespace afterimage {

DiskLayout FindLayout(const std::string& folder) {
  DiskLayout layout(folder);
  const auto catalogue = Catalogue::Open(layout.catalogue(), {.read_only = true, .no_trace = true});
  if (!catalogue.ok()) return layout;
  const auto elsewhere = (*catalogue)->FindMeta(kFusionFolderKey);
  return elsewhere.ok() && elsewhere->has_value() ? DiskLayout(folder, **elsewhere) : layout;
}

Result<StoreListing> ReadListing(FileSystem& files, const DiskLayout& layout, bool with_vectors) {
  const Result<FolderState> state = InspectFolder(files, layout);
  if (!state.ok()) return state.error();
  if (*state == FolderState::kFresh) {
    return Error{Errc::kNotFound,
                 layout.folder() + " holds no cache: give the folder that was the --cache-dir of a run"};
  }
  const auto catalogue = Catalogue::Open(layout.catalogue(), {.read_only = true, .no_trace = true});
  const auto explained = [&](Error error) {
    const bool gone = error.code == Errc::kIo && !files.OpenForReading(layout.catalogue()).ok();
    if (gone) error = {Errc::kCorrupt, layout.catalogue() + " is gone"};
    if (error.code == Errc::kCorrupt) error.message += "; afterimage store gc makes a new one from the chunk files";
    return error;
  };
  if (!catalogue.ok()) return explained(catalogue.error());
  Result<std::vector<ChunkRow>> chunks = (*catalogue)->LoadChunks();
  if (!chunks.ok()) return explained(chunks.error());
  Result<std::vector<RequestRow>> requests = (*catalogue)->LoadRequests();
  if (!requests.ok()) return explained(requests.error());
  Result<std::vector<Rate>> rates = (*catalogue)->LoadRates();
  if (!rates.ok()) return explained(rates.error());
  Result<std::vector<VectorRow>> vectors = std::vector<VectorRow>();
  if (with_vectors) vectors = (*catalogue)->LoadVectors();
  if (!vectors.ok()) return explained(vectors.error());

  StoreListing listing;
  listing.chunks = std::move(*chunks);
  listing.requests = std::move(*requests);
  listing.rates = std::move(*rates);
  listing.vectors = std::move(*vectors);
  listing.damaged_rows = (*catalogue)->damaged_rows();
  std::ranges::sort(listing.chunks, [](const ChunkRow& a, const ChunkRow& b) {
    return std::pair(a.created_ns, a.id.bytes) < std::pair(b.created_ns, b.id.bytes);
  });
  ChunkTable table;
  for (const ChunkRow& row : listing.chunks) table.Put(row.id, HeldFrom(row));
  listing.totals = table.stats();
  for (const std::string_view suffix : DiskLayout::kCatalogueSuffixes) {
    const auto file = files.OpenForReading(layout.catalogue() + std::string(suffix));
    // SQLite's -shm is no part of what is kept: it is made from the log.
    if (file.ok() && suffix != "-shm") listing.catalogue_bytes += (*file)->size();
  }
  const Result<std::vector<FolderEntry>> quarantined = files.List(layout.quarantine());
  if (quarantined.ok()) listing.quarantined_files = quarantined->size();
  return listing;
}

std::vector<TreeEntry> TreeOrder(const std::vector<ChunkRow>& chunks) {
  std::unordered_map<Digest, size_t, DigestHash> by_id;
  for (size_t i = 0; i < chunks.size(); ++i) by_id.emplace(chunks[i].id, i);
  std::vector<std::vector<size_t>> children(chunks.size());
  std::vector<size_t> roots;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const auto parent = by_id.find(chunks[i].header.parent);
    if (parent == by_id.end() || parent->second == i) {
      roots.push_back(i);
    } else {
      children[parent->second].push_back(i);
    }
  }
  std::vector<TreeEntry> order;
  std::vector<bool> listed(chunks.size());
  const auto list_under = [&](size_t root) {
    std::vector<TreeEntry> stack = {{root, 0}};
    while (!stack.empty()) {
      const TreeEntry entry = stack.back();
      stack.pop_back();
      if (listed[entry.index]) continue;
      listed[entry.index] = true;
      order.push_back(entry);
      for (auto child = children[entry.index].rbegin(); child != children[entry.index].rend(); ++child) {
        stack.push_back({*child, entry.depth + 1});
      }
    }
  };
  for (const size_t root : roots) list_under(root);
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (!listed[i]) list_under(i);  // parents in a circle, which only damage can make
  }
  return order;
}

Result<const ChunkRow*> FindByPrefix(const std::vector<ChunkRow>& chunks, const std::string& prefix) {
  if (prefix.empty() || prefix.size() > 64 || prefix.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Error{Errc::kInvalidArgument, "'" + prefix + "' is not the beginning of a chunk's id"};
  }
  const ChunkRow* found = nullptr;
  for (const ChunkRow& row : chunks) {
    if (!row.id.Hex().starts_with(prefix)) continue;
    if (found != nullptr) {
      return Error{Errc::kInvalidArgument, "more than one chunk begins with " + prefix + ": give more digits"};
    }
    found = &row;
  }
  if (found == nullptr) return Error{Errc::kNotFound, "no chunk begins with " + prefix};
  return found;
}

}  // namespace afterimage
