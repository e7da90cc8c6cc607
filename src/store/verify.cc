#include "store/verify.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "store/catalogue.h"
#include "store/chunk_file.h"
#include "store/digest_hash.h"

namespace afterimage {
namespace {

using RowsById = std::unordered_map<Digest, ChunkRow, DigestHash>;

class Verifier {
 public:
  Verifier(FileSystem& files, const DiskLayout& layout) : files_(files), layout_(layout) {}

  Result<VerifyReport> Run(const std::function<void(uint64_t, uint64_t)>& progress) {
    const Result<FolderState> state = InspectFolder(files_, layout_);
    if (!state.ok()) return state.error();
    if (*state == FolderState::kFresh) {
      return Error{Errc::kNotFound,
                   layout_.folder() + " holds no cache: give the folder that was the --cache-dir of a run"};
    }
    if (Status status = ReadCatalogue(); !status.ok()) return status.error();
    const Result<FolderScan> scan = ScanChunks(files_, layout_);
    if (!scan.ok()) return scan.error();
    uint64_t done = 0;
    for (const FolderScan::File& file : scan->chunks) {
      CheckFile(file);
      if (progress) progress(++done, scan->chunks.size());
    }
    for (const std::string& path : scan->leftovers) Leftover(path, "left by a process that was killed");
    CheckRows(*scan);
    LookAgain();
    std::ranges::sort(report_.findings, {}, [](const Finding& f) { return std::tie(f.leftover, f.path, f.reason); });
    const Result<std::vector<FolderEntry>> quarantined = files_.List(layout_.quarantine());
    if (quarantined.ok()) report_.quarantined_files = quarantined->size();
    return std::move(report_);
  }

 private:
  void Bad(const std::string& path, std::string reason, std::optional<Digest> id = std::nullopt) {
    // Most reasons begin with the path already.
    if (reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);
    report_.findings.push_back({path, std::move(reason), false, id});
  }
  void Leftover(const std::string& path, std::string reason, std::optional<Digest> id = std::nullopt) {
    report_.findings.push_back({path, std::move(reason), true, id});
  }

  // A catalogue that cannot be read leaves no rows, and the files are checked by themselves.
  Status ReadCatalogue() {
    Result<std::unique_ptr<Catalogue>> catalogue =
        Catalogue::Open(layout_.catalogue(), {.read_only = true, .no_trace = true});
    if (!catalogue.ok()) {
      const Errc code = catalogue.error().code;
      if (code == Errc::kInvalidArgument || code == Errc::kUnsupported || code == Errc::kBusy) return catalogue.error();
      Bad(layout_.catalogue(), catalogue.error().message);
      return {};
    }
    catalogue_ = std::move(*catalogue);
    if (const Status status = catalogue_->Check(); !status.ok()) Bad(layout_.catalogue(), status.error().message);
    const Result<std::vector<RequestRow>> requests = catalogue_->LoadRequests();
    if (requests.ok()) {
      requests_ = *requests;
      report_.requests = requests->size();
    }
    std::optional<RowsById> rows = LoadRows();
    if (!rows.has_value() || !requests.ok()) {
      if (report_.findings.empty()) Bad(layout_.catalogue(), "its rows cannot be read");
      catalogue_.reset();
      return {};
    }
    rows_ = std::move(*rows);
    report_.rows = rows_.size();
    if (const uint64_t damaged = catalogue_->damaged_rows(); damaged > 0) {
      Bad(layout_.catalogue(),
          std::to_string(damaged) + (damaged == 1 ? " row fails its check" : " rows fail their check"));
    }
    return {};
  }

  std::optional<RowsById> LoadRows() {
    Result<std::vector<ChunkRow>> loaded = catalogue_->LoadChunks();
    if (!loaded.ok()) return std::nullopt;
    RowsById rows;
    for (ChunkRow& row : *loaded) rows.insert_or_assign(row.id, std::move(row));
    return rows;
  }

  void CheckFile(const FolderScan::File& file) {
    const std::string path = layout_.PathOf(file.kind, file.id);
    const auto row = rows_.find(file.id);
    const bool has_row = row != rows_.end() && row->second.header.kind == file.kind;
    const auto chunk = has_row ? ChunkFile::Open(files_, path,
                                                 {.header_sum = row->second.header_sum,
                                                  .rows_bytes = row->second.header.rows_bytes,
                                                  .logits_bytes = row->second.header.logits_bytes,
                                                  .file_bytes = row->second.file_bytes})
                               : ChunkFile::Open(files_, path);
    if (!chunk.ok() && chunk.error().code == Errc::kNotFound) return;  // CheckRows has it
    ++report_.files;
    Status status = chunk.ok() ? (*chunk)->Verify() : Status(chunk.error());
    if (status.ok() && ((*chunk)->header().id() != file.id || (*chunk)->header().kind != file.kind)) {
      status = Error{Errc::kCorrupt, "another chunk's bytes, under this name"};
    }
    if (chunk.ok()) report_.bytes += (*chunk)->file_bytes();
    if (!status.ok()) {
      Bad(path, status.error().message, file.id);
    } else if (!has_row && catalogue_ != nullptr) {
      Leftover(path, "the catalogue does not know it", file.id);
    }
  }

  void CheckRows(const FolderScan& scan) {
    std::unordered_map<Digest, ChunkHeader::Kind, DigestHash> there;
    for (const FolderScan::File& file : scan.chunks) there.emplace(file.id, file.kind);
    for (const auto& [id, row] : rows_) {
      const std::string path = layout_.PathOf(row.header.kind, id);
      const auto file = there.find(id);
      if (file == there.end() || file->second != row.header.kind) Bad(path, "missing", id);
      if (row.header.parent != Digest() && !rows_.contains(row.header.parent)) {
        Leftover(path, "its parent " + row.header.parent.Hex().substr(0, 12) + " is gone", id);
      }
    }
    for (const RequestRow& row : requests_) {
      if (catalogue_ == nullptr || rows_.contains(row.leaf)) continue;
      Leftover(layout_.catalogue(), "request:" + std::to_string(row.id) + " ends in a chunk that is gone", row.leaf);
    }
  }

  // What a writer replaced, evicted or committed since is not what was found.
  void LookAgain() {
    if (catalogue_ == nullptr || report_.findings.empty()) return;
    // Opened again: a writer may have come since.
    Result<std::unique_ptr<Catalogue>> catalogue =
        Catalogue::Open(layout_.catalogue(), {.read_only = true, .no_trace = true});
    if (!catalogue.ok()) return;
    catalogue_ = std::move(*catalogue);
    const std::optional<RowsById> now = LoadRows();
    if (!now.has_value()) return;
    std::erase_if(report_.findings, [&](const Finding& finding) {
      if (!finding.id.has_value()) return false;
      const auto before = rows_.find(*finding.id);
      const auto after = now->find(*finding.id);
      if ((before == rows_.end()) != (after == now->end())) return true;
      if (before == rows_.end()) return false;
      return before->second.header_sum != after->second.header_sum ||
             before->second.created_ns != after->second.created_ns;
    });
  }

  FileSystem& files_;
  const DiskLayout& layout_;
  std::unique_ptr<Catalogue> catalogue_;  // null: it cannot be read
  RowsById rows_;
  std::vector<RequestRow> requests_;
  VerifyReport report_;
};

}  // namespace

uint64_t VerifyReport::bad() const {
  return static_cast<uint64_t>(std::ranges::count(findings, false, &Finding::leftover));
}

uint64_t VerifyReport::leftovers() const { return findings.size() - bad(); }

Result<VerifyReport> VerifyFolder(FileSystem& files, const DiskLayout& layout,
                                  const std::function<void(uint64_t, uint64_t)>& progress) {
  return Verifier(files, layout).Run(progress);
}

}  // namespace afterimage
