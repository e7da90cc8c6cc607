// How DiskStore opens a folder, and how it makes a catalogue anew from the chunk files.
//
// The catalogue is right about what is held, the folders about what is there: what only one of them knows goes. Unless
// the catalogue is incomplete, because rows were lost to damage. Then a file without a row gets one again, from its
// header; its bytes are checked when they are read, as always. Should the process end in between, the catalogue is
// still incomplete, and the next start goes on.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "store/chunk_file.h"
#include "store/disk_store.h"

namespace afterimage {

Status DiskStore::Start() {
  const Result<FolderState> state = InspectFolder(files_, layout_);
  if (!state.ok()) return state.error();
  if (options_.read_only && *state != FolderState::kOurs) {
    return Error{Errc::kNotFound, options_.folder + " has no catalogue of afterimage"};
  }
  if (!options_.read_only) {
    if (Status status = MakeFolders(*state); !status.ok()) return status;
  }
  if (Status status = OpenCatalogue(*state); !status.ok()) return status;
  if (options_.read_only) return LoadTable();
  if (Status status = MakeChunkFolders(); !status.ok()) return status;
  Status status = LoadTable();
  if (!status.ok() && status.error().code == Errc::kCorrupt) {
    table_ = {};
    status = catalogue_->StartAnew([&] { return MoveCatalogueAway(files_, layout_); });
    ++counters_.quarantined;
    RememberFusionFolder();
    if (status.ok()) status = LoadTable();
  }
  if (!status.ok()) return status;
  Process({});  // the limits may be lower than last time
  writer_ = std::thread([this] { WriterMain(); });
  return {};
}

Status DiskStore::MakeFolders(FolderState state) {
  const bool sync = options_.durability == Durability::kPower && state == FolderState::kFresh;
  if (Status status = files_.MakeFolders(layout_.folder()); !status.ok()) return status;
  Result<std::unique_ptr<FileLock>> lock = files_.Lock(layout_.lock());
  if (!lock.ok()) return lock.error();
  lock_ = std::move(*lock);
  if (sync) {
    const std::string parent = std::filesystem::path(layout_.folder()).parent_path().string();
    if (Status status = files_.SyncFolder(parent.empty() ? "." : parent); !status.ok()) return status;
  }
  return {};
}

Status DiskStore::OpenCatalogue(FolderState state) {
  const bool ours = state == FolderState::kOurs;
  const auto open = [&]() -> Status {
    Result<std::unique_ptr<Catalogue>> catalogue = Catalogue::Open(
        layout_.catalogue(),
        {.durability = options_.durability, .read_only = options_.read_only, .create = true, .incomplete = ours});
    if (!catalogue.ok()) return catalogue.error();
    catalogue_ = std::move(*catalogue);
    return {};
  };
  Status status = open();
  if (!status.ok() && status.error().code == Errc::kCorrupt && ours && !options_.read_only) {
    status = MoveCatalogueAway(files_, layout_);
    if (status.ok()) status = open();
  }
  if (status.ok()) {
    if (ours && catalogue_->created()) ++counters_.quarantined;  // the old one was damaged, or lost
    return {};
  }
  Error error = status.error();
  if (error.code == Errc::kNotFound || (error.code == Errc::kIo && !std::filesystem::exists(layout_.catalogue()))) {
    error = {Errc::kCorrupt, layout_.catalogue() + " is gone"};
  }
  if (error.code == Errc::kCorrupt && options_.read_only) {
    error.message += "; opened for writing, a new one is made from the chunk files";
  }
  return error;
}

Status DiskStore::MakeChunkFolders() {
  for (const DiskLayout::Kind kind : DiskLayout::kKinds) {
    if (Status status = files_.MakeFolders(layout_.chunks(kind)); !status.ok()) return status;
  }
  if (Status status = files_.MakeFolders(layout_.quarantine()); !status.ok()) return status;
  if (!options_.fusion_folder.empty()) {
    Result<std::unique_ptr<FileLock>> lock = files_.Lock(options_.fusion_folder + "/lock");
    if (!lock.ok()) return lock.error();
    fusion_lock_ = std::move(*lock);
  }
  if (options_.durability == Durability::kPower) {
    if (Status status = files_.SyncFolder(layout_.folder()); !status.ok()) return status;
  }
  RememberFusionFolder();
  const Result<std::vector<FolderEntry>> quarantined = files_.List(layout_.quarantine());
  for (size_t i = 0; quarantined.ok() && i < quarantined->size(); ++i) {
    in_quarantine_.insert(layout_.quarantine() + "/" + (*quarantined)[i].name);
  }
  return {};
}

// For who comes with the folder's name alone: `afterimage store`.
void DiskStore::RememberFusionFolder() {
  const std::string elsewhere =
      options_.fusion_folder.empty() ? "" : std::filesystem::absolute(options_.fusion_folder).string();
  const auto known = catalogue_->FindMeta(kFusionFolderKey);
  if (known.ok() && known->value_or("") != elsewhere) (void)catalogue_->PutMeta(kFusionFolderKey, elsewhere);
}

Status DiskStore::LoadTable() {
  const Result<std::vector<ChunkRow>> rows = catalogue_->LoadChunks();
  if (!rows.ok()) return rows.error();
  int64_t newest_ns = 0;
  for (const ChunkRow& row : *rows) {
    newest_ns = std::max({newest_ns, row.used_ns, row.created_ns});
    table_.Put(row.id, HeldFrom(row));
  }
  clock_offset_ns_ = std::max<int64_t>(0, newest_ns - clock_.Now().count());
  counters_.quarantined += catalogue_->damaged_rows();
  return options_.read_only ? Status() : MatchFiles(*rows);
}

Status DiskStore::MatchFiles(const std::vector<ChunkRow>& rows) {
  const Result<bool> incomplete = catalogue_->incomplete();
  if (!incomplete.ok()) return incomplete.error();
  const Result<FolderScan> scan = ScanChunks(files_, layout_);
  if (!scan.ok()) return scan.error();
  for (const std::string& path : scan->leftovers) (void)files_.Remove(path);
  CatalogueBatch batch;
  bool all_read = true;
  std::unordered_set<Digest, DigestHash> there;
  for (const auto& [kind, id] : scan->chunks) {
    const HeldChunk* held = table_.Find(id);
    if (held != nullptr && held->kind == kind) {
      there.insert(id);
      continue;
    }
    if (*incomplete) {
      Result<std::optional<ChunkRow>> row = RowFromFile(kind, id);
      if (!row.ok()) {  // it cannot be read now; perhaps the next time
        all_read = false;
        continue;
      }
      if (row->has_value()) {
        (*row)->created_ns = (*row)->used_ns = NowNs();
        table_.Put(id, HeldFrom(**row));
        batch.chunks.push_back(std::move(**row));
        continue;
      }
    }
    (void)files_.Remove(layout_.PathOf(kind, id));
  }
  for (const ChunkRow& row : rows) {
    if (!there.contains(row.id) && table_.Remove(row.id)) batch.deleted.push_back(row.id);
  }
  if (Status status = catalogue_->Commit(batch); !status.ok()) return status;
  return *incomplete && all_read ? catalogue_->SetComplete() : Status();
}

// While the store runs: the table knows what is held, and the files have what the table does not keep. On the writer's
// thread, or before it.
Status DiskStore::MendCatalogue() {
  if (Status status = catalogue_->StartAnew([&] { return MoveCatalogueAway(files_, layout_); }); !status.ok()) {
    return status;
  }
  RememberFusionFolder();
  {
    const std::lock_guard lock(mutex_);
    ++n_mended_;
    ++counters_.quarantined;
  }
  const Result<FolderScan> scan = ScanChunks(files_, layout_);
  if (!scan.ok()) return scan.error();
  CatalogueBatch batch;
  for (const auto& [kind, id] : scan->chunks) {
    std::optional<HeldChunk> held;
    {
      const std::lock_guard lock(mutex_);
      // One that is still to be committed gets its row then; one that is not held is on its way out.
      if (const HeldChunk* found = table_.Find(id); found != nullptr && found->bytes == nullptr) held = *found;
    }
    if (!held.has_value() || held->kind != kind) continue;
    Result<std::optional<ChunkRow>> row = RowFromFile(kind, id);
    if (!row.ok()) return row.error();
    if (!row->has_value() || (*row)->header_sum != held->header_sum) {
      const std::lock_guard lock(mutex_);
      table_.Remove(id);
      continue;
    }
    (*row)->created_ns = held->created_ns;
    (*row)->used_ns = held->used_ns;
    (*row)->hits = held->hits;
    (*row)->compute_ms = held->compute_ms;
    batch.chunks.push_back(std::move(**row));
  }
  if (Status status = catalogue_->Commit(batch); !status.ok()) return status;
  return catalogue_->SetComplete();
}

// What a file says of itself; nullopt if that is not to be trusted, and the file is in quarantine then.
Result<std::optional<ChunkRow>> DiskStore::RowFromFile(ChunkHeader::Kind kind, const Digest& id) {
  const Result<std::unique_ptr<ChunkFile>> file = ChunkFile::Open(files_, layout_.PathOf(kind, id));
  if (file.ok() && (*file)->header().kind == kind && (*file)->header().id() == id) {
    ChunkRow row;
    row.id = id;
    row.header = (*file)->header();
    row.header_sum = (*file)->header_sum();
    row.file_bytes = (*file)->file_bytes();
    return std::optional(std::move(row));
  }
  if (!file.ok() && file.error().code == Errc::kNotFound) return std::optional<ChunkRow>();
  if (!file.ok() && file.error().code != Errc::kCorrupt) return file.error();
  const std::lock_guard lock(mutex_);
  ++counters_.quarantined;
  MoveToQuarantine(kind, id);
  return std::optional<ChunkRow>();
}

}  // namespace afterimage
