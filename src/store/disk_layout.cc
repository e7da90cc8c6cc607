#include "store/disk_layout.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/sha256.h"
#include "store/catalogue.h"

namespace afterimage {
namespace {

std::string_view ExtensionOf(DiskLayout::Kind kind) { return kind == DiskLayout::Kind::kKv ? ".kv" : ".fusion"; }

std::string NameOf(DiskLayout::Kind kind, const Digest& id) { return id.Hex() + std::string(ExtensionOf(kind)); }

std::optional<Digest> IdFromName(DiskLayout::Kind kind, std::string_view name) {
  const std::string_view extension = ExtensionOf(kind);
  if (!name.ends_with(extension)) return std::nullopt;
  name.remove_suffix(extension.size());
  const std::optional<Digest> id = DigestFromHex(name);
  return id && id->Hex() == name ? id : std::nullopt;  // capitals are not ours
}

bool IsHexPair(const std::string& name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// What a folder holds; one that is not there holds nothing.
Result<std::vector<FolderEntry>> ListIfThere(FileSystem& files, const std::string& folder) {
  Result<std::vector<FolderEntry>> entries = files.List(folder);
  if (!entries.ok() && entries.error().code == Errc::kNotFound) return std::vector<FolderEntry>();
  return entries;
}

Result<bool> HasOurCatalogue(FileSystem& files, const DiskLayout& layout) {
  const Result<std::unique_ptr<ReadableFile>> file = files.OpenForReading(layout.catalogue());
  if (!file.ok()) {
    if (file.error().code == Errc::kNotFound) return false;
    return file.error();
  }
  std::array<std::byte, 100> start{};
  const std::array parts = {std::span<std::byte>(start)};
  const Result<uint64_t> n = file.value()->ReadAt(0, parts);
  if (!n.ok()) return n.error();
  return Catalogue::IsOurs(std::span(start).first(*n));
}

}  // namespace

DiskLayout::DiskLayout(std::string folder, std::string fusion_folder)
    : folder_(std::move(folder)), kv_folder_(folder_ + "/kv_chunks"), fusion_folder_(std::move(fusion_folder)) {
  if (fusion_folder_.empty()) fusion_folder_ = folder_ + "/fusion_chunks";
}

std::string DiskLayout::FolderOf(Kind kind, const Digest& id) const {
  return chunks(kind) + "/" + id.Hex().substr(0, 2);
}

std::string DiskLayout::PathOf(Kind kind, const Digest& id) const {
  return FolderOf(kind, id) + "/" + NameOf(kind, id);
}

std::string DiskLayout::QuarantinePathOf(Kind kind, const Digest& id) const {
  return quarantine() + "/" + NameOf(kind, id);
}

Result<FolderState> InspectFolder(FileSystem& files, const DiskLayout& layout) {
  const Result<std::vector<FolderEntry>> entries = ListIfThere(files, layout.folder());
  if (!entries.ok()) return entries.error();
  // A first start that was killed leaves a lock, a catalogue without tables, perhaps a journal that will undo half of
  // them, and nothing else: folders for chunks are made only when the tables are safe. What such a catalogue's first
  // bytes say means nothing yet, so this is asked first.
  const auto is_of_a_start = [](const FolderEntry& entry) {
    std::string_view name = entry.name;
    if (name == "lock") return true;
    constexpr std::string_view kCatalogue = "catalog.db";
    if (!name.starts_with(kCatalogue)) return false;
    name.remove_prefix(kCatalogue.size());
    return std::ranges::find(DiskLayout::kCatalogueSuffixes, name) != DiskLayout::kCatalogueSuffixes.end();
  };
  if (std::ranges::all_of(*entries, is_of_a_start)) return FolderState::kFresh;
  const auto has = [&](std::string_view name, bool is_folder) {
    return std::ranges::any_of(
        *entries, [&](const FolderEntry& entry) { return entry.name == name && entry.is_folder == is_folder; });
  };
  if (has("lock", false) && has("kv_chunks", true)) return FolderState::kOurs;
  const Result<bool> ours = HasOurCatalogue(files, layout);
  if (!ours.ok()) return ours.error();
  if (*ours) return FolderState::kOurs;
  return Error{Errc::kInvalidArgument, layout.folder() + " is not empty and has no catalogue of afterimage (" +
                                           layout.catalogue() +
                                           "): choose another folder, or remove this one if it may be lost"};
}

Result<FolderScan> ScanChunks(FileSystem& files, const DiskLayout& layout) {
  FolderScan scan;
  for (const DiskLayout::Kind kind : DiskLayout::kKinds) {
    const Result<std::vector<FolderEntry>> folders = ListIfThere(files, layout.chunks(kind));
    if (!folders.ok()) return folders.error();
    for (const FolderEntry& folder : *folders) {
      if (!folder.is_folder || !IsHexPair(folder.name)) continue;
      const std::string path = layout.chunks(kind) + "/" + folder.name;
      const Result<std::vector<FolderEntry>> entries = ListIfThere(files, path);
      if (!entries.ok()) return entries.error();
      for (const FolderEntry& entry : *entries) {
        std::string name = entry.name;
        bool leftover = false;
        while (name.ends_with(kTemporarySuffix)) {
          name.resize(name.size() - kTemporarySuffix.size());
          leftover = true;
        }
        const std::optional<Digest> id = IdFromName(kind, name);
        if (!id.has_value() || entry.is_folder) continue;
        leftover = leftover || id->Hex().substr(0, 2) != folder.name;
        if (leftover) {
          scan.leftovers.push_back(path + "/" + entry.name);
        } else {
          scan.chunks.push_back({kind, *id});
        }
      }
    }
  }
  return scan;
}

Status MoveCatalogueAway(FileSystem& files, const DiskLayout& layout) {
  if (Status status = files.MakeFolders(layout.quarantine()); !status.ok()) return status;
  for (const std::string_view suffix : DiskLayout::kCatalogueSuffixes) {
    const std::string from = layout.catalogue() + std::string(suffix);
    const std::string to = layout.quarantine() + "/catalog.db" + std::string(suffix);
    Status status = files.Rename(from, to);
    if (!status.ok() && status.error().code == Errc::kNotFound) status = files.Remove(to);  // of an earlier one
    if (!status.ok()) return status;
  }
  return {};
}

Result<Purged> PurgeFolder(FileSystem& files, const DiskLayout& layout) {
  const Result<FolderState> state = InspectFolder(files, layout);
  if (!state.ok()) return state.error();
  const Result<bool> ours = HasOurCatalogue(files, layout);
  if (!ours.ok()) return ours.error();
  if (*state != FolderState::kOurs && !*ours) {
    return Error{Errc::kInvalidArgument, layout.folder() + " has no catalogue of afterimage: nothing to purge"};
  }
  const Result<std::unique_ptr<FileLock>> lock = files.Lock(layout.lock());
  if (!lock.ok()) return lock.error();
  if (!*ours) {  // damaged, or a sound one of another application
    const auto catalogue = Catalogue::Open(layout.catalogue(), {.read_only = true, .no_trace = true});
    if (!catalogue.ok() && catalogue.error().code == Errc::kInvalidArgument) return catalogue.error();
  }
  const Result<FolderScan> scan = ScanChunks(files, layout);
  if (!scan.ok()) return scan.error();
  std::vector<std::string> paths = scan->leftovers;
  for (const FolderScan::File& file : scan->chunks) paths.push_back(layout.PathOf(file.kind, file.id));
  const Result<std::vector<FolderEntry>> quarantined = ListIfThere(files, layout.quarantine());
  if (!quarantined.ok()) return quarantined.error();
  for (const FolderEntry& entry : *quarantined) paths.push_back(layout.quarantine() + "/" + entry.name);
  // The catalogue last: a purge that is interrupted can be repeated.
  for (const std::string_view suffix : {"-journal", "-shm", "-wal", ""}) {
    paths.push_back(layout.catalogue() + std::string(suffix));
  }
  Purged purged;
  for (const std::string& path : paths) {
    const Result<std::unique_ptr<ReadableFile>> file = files.OpenForReading(path);
    if (file.ok()) {
      ++purged.files;
      purged.bytes += (*file)->size();
    }
    if (Status status = files.Remove(path); !status.ok()) return status.error();
  }
  // Folders, where nothing of others is in them.
  for (const DiskLayout::Kind kind : DiskLayout::kKinds) {
    const Result<std::vector<FolderEntry>> folders = ListIfThere(files, layout.chunks(kind));
    for (size_t i = 0; folders.ok() && i < folders->size(); ++i) {
      if (IsHexPair((*folders)[i].name)) (void)files.Remove(layout.chunks(kind) + "/" + (*folders)[i].name);
    }
    (void)files.Remove(layout.chunks(kind));
  }
  (void)files.Remove(layout.quarantine());
  return purged;
}

}  // namespace afterimage
