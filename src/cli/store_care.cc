// `afterimage store verify`, `gc`, `purge` and `export`.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "afterimage/clock.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/store_commands.h"
#include "store/export.h"
#include "store/garbage.h"
#include "store/listing.h"
#include "store/verify.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

// The folder of fusion chunks, if it is not in `folder`.
std::string FusionFolderOf(const DiskLayout& layout) {
  const std::string& folder = layout.chunks(ChunkHeader::Kind::kFusion);
  return folder == DiskLayout(layout.folder()).chunks(ChunkHeader::Kind::kFusion) ? "" : folder;
}

}  // namespace

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  const char* unit = "kB";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    unit = next;
    value /= 1000;
    if (value < 999.95) break;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

int StoreVerify(const std::string& folder, bool json) {
  std::optional<Progress> progress;
  const Result<VerifyReport> report =
      VerifyFolder(PosixFileSystem(), FindLayout(folder), [&](uint64_t done, uint64_t all) {
        if (!progress.has_value()) progress.emplace(stderr, all);
        progress->Show(done);
      });
  progress.reset();
  if (!report.ok()) return Fail(report.error());
  if (json) {
    Json findings = Json::array();
    for (const Finding& finding : report->findings) {
      findings.push_back({{"path", finding.path}, {"reason", finding.reason}, {"leftover", finding.leftover}});
    }
    fmt::print("{}\n", JsonText({{"folder", folder},
                                 {"chunks", report->rows},
                                 {"requests", report->requests},
                                 {"files", report->files},
                                 {"bytes", report->bytes},
                                 {"bad", report->bad()},
                                 {"leftovers", report->leftovers()},
                                 {"quarantined_files", report->quarantined_files},
                                 {"findings", findings}},
                                2));
  } else {
    for (const Finding& finding : report->findings) {
      fmt::print("{} {}: {}\n", finding.leftover ? "leftover" : "bad     ", finding.path, finding.reason);
    }
    fmt::print("{} files, {}, read through their checksums; {} chunks and {} requests in the catalogue\n",
               report->files, HumanBytes(report->bytes), report->rows, report->requests);
    fmt::print("{} bad, {} leftovers, {} files in quarantine\n", report->bad(), report->leftovers(),
               report->quarantined_files);
    if (report->bad() > 0) fmt::print("nothing bad is ever served; afterimage store gc {} puts it away\n", folder);
  }
  return report->bad() == 0 ? kExitOk : kExitFailed;
}

int StoreGc(const std::string& folder, uint64_t max_bytes, uint64_t max_blocks, bool json) {
  const DiskStoreOptions options = {.folder = folder,
                                    .fusion_folder = FusionFolderOf(FindLayout(folder)),
                                    .max_bytes = max_bytes,
                                    .max_blocks = max_blocks};
  const Result<GarbageReport> report = CollectGarbage(options, PosixFileSystem(), WallClock());
  if (!report.ok()) return Fail(report.error());
  if (json) {
    fmt::print("{}\n", JsonText({{"folder", folder},
                                 {"freed_files", report->freed_files},
                                 {"freed_bytes", report->freed_bytes},
                                 {"evicted", report->evicted},
                                 {"without_parent", report->without_parent},
                                 {"quarantined", report->quarantined},
                                 {"left", {{"chunks", report->left.chunks}, {"bytes", report->left.file_bytes}}}},
                                2));
    return kExitOk;
  }
  fmt::print("freed {} in {} files: {} chunks evicted, {} without a parent, {} quarantined\n",
             HumanBytes(report->freed_bytes), report->freed_files, report->evicted, report->without_parent,
             report->quarantined);
  fmt::print("{} chunks are left, {}\n", report->left.chunks, HumanBytes(report->left.file_bytes));
  return kExitOk;
}

int StorePurge(const std::string& folder, bool json) {
  const Result<Purged> purged = PurgeFolder(PosixFileSystem(), FindLayout(folder));
  if (!purged.ok()) return Fail(purged.error());
  if (json) {
    fmt::print("{}\n", JsonText({{"folder", folder}, {"files", purged->files}, {"bytes", purged->bytes}}, 2));
  } else {
    fmt::print("removed {} files, {}, from {}\n", purged->files, HumanBytes(purged->bytes), folder);
  }
  return kExitOk;
}

int StoreExport(const std::string& folder, const std::string& out, bool json) {
  const Result<StoreListing> listing = ReadListing(PosixFileSystem(), FindLayout(folder), /*with_vectors=*/true);
  if (!listing.ok()) return Fail(listing.error());
  const Result<std::vector<std::string>> paths = ExportListing(*listing, PosixFileSystem(), out);
  if (!paths.ok()) return Fail(paths.error());
  if (json) {
    fmt::print("{}\n", JsonText({{"folder", folder}, {"files", *paths}}, 2));
  } else {
    for (const std::string& path : *paths) fmt::print("{}\n", path);
  }
  return kExitOk;
}

}  // namespace afterimage
