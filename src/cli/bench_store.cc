#include "cli/bench_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "afterimage/clock.h"
#include "cli/bench_file.h"
#include "cli/bench_tools.h"
#include "cli/command.h"
#include "cli/machine.h"
#include "cli/progress.h"
#include "core/summary.h"
#include "store/disk_store.h"
#include "store/memory_store.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// One thing that is measured in every repeat.
struct Series {
  const char* key;
  const char* label;
  std::vector<double> values;
  std::vector<double> check_ms;      // spent on the checksum, in the same work with it timed apart
  std::vector<double> check_shares;  // what taking it adds to the load, in each repeat: the disk hides some of it
};

enum LoadIndex { kMemcpy, kMemory, kRawPageCache, kPageCache, kRawDisk, kDisk };
enum LookupIndex { kFindHit, kFindMiss, kRequestsHit, kRequestsMiss, kGet };

struct StoreResult {
  std::vector<Series> loads = {{"memcpy", "memcpy", {}},
                               {"memory", "memory store", {}},
                               {"raw_page_cache", "plain read, page cache", {}},
                               {"page_cache", "disk store, page cache", {}},
                               {"raw_disk", "plain read, disk", {}},
                               {"disk", "disk store, disk", {}}};
  std::vector<double> fio_ms;  // empty: there is no fio
  std::vector<double> put_ms;
  std::vector<double> flush_ms;
  std::vector<Series> lookups = {{"find_hit", "chunk held", {}},
                                 {"find_miss", "chunk not held", {}},
                                 {"requests_hit", "request by text key, held", {}},
                                 {"requests_miss", "request by text key, not held", {}},
                                 {"get", "open a chunk's file and check its header", {}}};
  std::vector<double> open_ms;
  uint64_t file_bytes = 0;
  double page_cache_left = 0;  // the largest share of the file that the kernel kept
  bool in_memory = false;
  int compared = 0;
  int equal = 0;
};

ChunkHeader HeaderOf(uint64_t number, uint64_t rows_bytes) {
  ChunkHeader header;
  std::memcpy(header.content.bytes.data(), &number, sizeof(number));
  header.n_tokens = header.n_positions = 256;
  header.rows_bytes = rows_bytes;
  return header;
}

double TimeMs(const auto& work) {
  const auto start = SteadyClock().Now();
  work();
  return Milliseconds(SteadyClock().Now() - start);
}

// Loads of one large chunk, in every repeat all ways one after the other.
class LoadBench {
 public:
  LoadBench(const StoreBenchFlags& flags, const std::string& folder, StoreResult& result)
      : folder_(folder), result_(result), rows_(flags.chunk_mb * 1'000'000), loaded_(rows_.size()) {
    std::mt19937_64 random(1);
    for (size_t i = 0; i + 8 <= rows_.size(); i += 8) {
      const uint64_t noise = random();
      std::memcpy(&rows_[i], &noise, sizeof(noise));
    }
    // Into K and V of so many layers, as an engine takes them.
    constexpr size_t kParts = 56;
    for (size_t i = 0; i < kParts; ++i) {
      const size_t from = rows_.size() * i / kParts;
      parts_.push_back(std::span(loaded_).subspan(from, rows_.size() * (i + 1) / kParts - from));
    }
  }

  Status Start() {
    const uint64_t bytes = FileBytes(header());
    Result<std::unique_ptr<DiskStore>> disk =
        DiskStore::Open({.folder = folder_, .queue_bytes = 2 * bytes, .durability = Durability::kPower},
                        PosixFileSystem(), WallClock());
    if (!disk.ok()) return disk.error();
    disk_ = std::move(*disk);
    for (ChunkStore* store : {static_cast<ChunkStore*>(&memory_), static_cast<ChunkStore*>(disk_.get())}) {
      if (Status status = store->Put(header(), rows_, {}, {}); !status.ok()) return status;
      if (Status status = store->Flush(); !status.ok()) return status;
    }
    path_ = disk_->layout().PathOf(ChunkHeader::Kind::kKv, header().id());
    file_.resize(bytes);
    result_.file_bytes = bytes;
    return {};
  }

  Status Repeat(uint64_t number) {
    std::vector<Series>& loads = result_.loads;
    loads[kMemcpy].values.push_back(TimeMs([&] { std::memcpy(loaded_.data(), rows_.data(), rows_.size()); }));
    AddChecked(loads[kMemory], RawCopy(rows_, loaded_, true), RawCopy(rows_, loaded_, false));
    if (Status status = Load(memory_, loads[kMemory]); !status.ok()) return status;
    if (Status status = LoadFromFile(kRawPageCache, kPageCache, false); !status.ok()) return status;
    if (Status status = LoadFromFile(kRawDisk, kDisk, true); !status.ok()) return status;
    if (Status status = Drop(); !status.ok()) return status;
    const Result<std::optional<double>> fio = FioReadMs(path_);
    if (!fio.ok()) return fio.error();
    if (fio->has_value()) result_.fio_ms.push_back(**fio);
    return PutAnother(number);
  }

 private:
  ChunkHeader header() const { return HeaderOf(0, rows_.size()); }

  static void AddChecked(Series& series, const RawTimes& with, const RawTimes& without) {
    series.check_ms.push_back(with.check_ms);
    series.check_shares.push_back((with.total_ms - without.total_ms) / with.total_ms);
  }

  Status Drop() {
    const Result<double> left = DropFromPageCache(path_);
    if (!left.ok()) return left.error();
    result_.page_cache_left = std::max(result_.page_cache_left, *left);
    return {};
  }

  Status Load(ChunkStore& store, Series& series) {
    std::memset(loaded_.data(), 0, loaded_.size());
    Status status;
    series.values.push_back(TimeMs([&] {
      const auto found = store.Get(header().id());
      if (!found.ok()) {
        status = found.error();
      } else if (!found->has_value()) {
        status = Error{Errc::kNotFound, "the chunk that was put is not held"};
      } else {
        status = (**found)->Read(parts_, nullptr);
      }
    }));
    ++result_.compared;
    result_.equal += loaded_ == rows_ ? 1 : 0;
    return status;
  }

  Status LoadFromFile(LoadIndex raw, LoadIndex ours, bool from_disk) {
    // Before each: none of the file in the page cache, or all of it.
    const auto ready = [&]() -> Status {
      if (from_disk) return Drop();
      const Result<RawTimes> warmed = RawRead(path_, file_, false);
      return warmed.ok() ? Status() : Status(warmed.error());
    };
    std::array<RawTimes, 2> times;  // without the checksum, and with it
    const bool with_first = result_.loads[raw].values.size() % 2 == 1;
    for (const bool with_checksum : {with_first, !with_first}) {
      if (Status status = ready(); !status.ok()) return status;
      const Result<RawTimes> read = RawRead(path_, file_, with_checksum);
      if (!read.ok()) return read.error();
      times[with_checksum ? 1 : 0] = *read;
    }
    result_.loads[raw].values.push_back(times[0].total_ms);
    AddChecked(result_.loads[ours], times[1], times[0]);
    if (Status status = ready(); !status.ok()) return status;
    return Load(*disk_, result_.loads[ours]);
  }

  Status PutAnother(uint64_t number) {
    const ChunkHeader other = HeaderOf(number + 1, rows_.size());
    Status status;
    result_.put_ms.push_back(TimeMs([&] { status = disk_->Put(other, rows_, {}, {}); }));
    if (!status.ok()) return status;
    result_.flush_ms.push_back(TimeMs([&] { status = disk_->Flush(); }));
    if (!status.ok()) return status;
    if (status = disk_->Erase(other.id()); !status.ok()) return status;
    return disk_->Flush();
  }

  const std::string folder_;
  StoreResult& result_;
  std::vector<std::byte> rows_;
  std::vector<std::byte> loaded_;
  std::vector<std::byte> file_;
  std::vector<std::span<std::byte>> parts_;
  MemoryStore memory_{{}, WallClock()};
  std::unique_ptr<DiskStore> disk_;
  std::string path_;
};

// Lookups in a folder of many small chunks; times in microseconds.
class LookupBench {
 public:
  LookupBench(uint64_t n_chunks, const std::string& folder, StoreResult& result)
      : n_chunks_(n_chunks), folder_(folder), result_(result) {}

  Status Start() {
    if (Status status = Open(); !status.ok()) return status;
    const std::vector<std::byte> rows(64);
    for (uint64_t i = 0; i < n_chunks_; ++i) {
      if (Status status = store_->Put(HeaderOf(i, rows.size()), rows, {}, {}); !status.ok()) return status;
      RequestRow row;
      row.text_key = KeyOf(i);
      row.leaf = IdOf(i);
      row.payload = R"({"question":"what is on the left of the sofa?"})";
      if (Status status = store_->PutRequest(std::move(row)); !status.ok()) return status;
    }
    return store_->Flush();
  }

  Status Repeat() {
    // `key_of` makes what is asked for beforehand: hashing is no part of a lookup.
    const auto measure = [&](LookupIndex index, int n, const auto& key_of, const auto& lookup) {
      std::vector<decltype(key_of(uint64_t{0}))> keys;
      for (int i = 0; i < n; ++i) keys.push_back(key_of(random_() % n_chunks_));
      int right = 0;
      const double ms = TimeMs([&] {
        for (const auto& key : keys) right += lookup(key) ? 1 : 0;
      });
      result_.lookups[index].values.push_back(1000 * ms / n);
      result_.compared += n;
      result_.equal += right;
    };
    const auto absent_id = [&](uint64_t number) { return IdOf(number + n_chunks_); };
    const auto absent_key = [&](uint64_t number) { return KeyOf(number + n_chunks_); };
    const auto n_requests = [&](const std::string& key) {
      const auto rows = store_->FindRequests("", Digest(), key);
      return rows.ok() ? static_cast<int>(rows->size()) : -1;
    };
    measure(kFindHit, 2000, IdOf, [&](const Digest& id) { return store_->Find(id).has_value(); });
    measure(kFindMiss, 2000, absent_id, [&](const Digest& id) { return !store_->Find(id).has_value(); });
    measure(kRequestsHit, 200, KeyOf, [&](const std::string& key) { return n_requests(key) == 1; });
    measure(kRequestsMiss, 200, absent_key, [&](const std::string& key) { return n_requests(key) == 0; });
    measure(kGet, 200, IdOf, [&](const Digest& id) {
      const auto found = store_->Get(id);
      return found.ok() && found->has_value();
    });
    store_.reset();
    Status status;
    result_.open_ms.push_back(TimeMs([&] { status = Open(); }));
    return status;
  }

 private:
  static std::string KeyOf(uint64_t number) { return "question " + std::to_string(number); }
  static Digest IdOf(uint64_t number) { return HeaderOf(number, 64).id(); }

  Status Open() {
    Result<std::unique_ptr<DiskStore>> store =
        DiskStore::Open({.folder = folder_, .durability = Durability::kProcess}, PosixFileSystem(), WallClock());
    if (!store.ok()) return store.error();
    store_ = std::move(*store);
    return {};
  }

  const uint64_t n_chunks_;
  const std::string folder_;
  StoreResult& result_;
  std::unique_ptr<DiskStore> store_;
  std::mt19937_64 random_{2};
};

Status Measure(const StoreBenchFlags& flags, const std::string& folder, StoreResult& result) {
  result.in_memory = LiesInMemory(folder);
  LoadBench loads(flags, folder + "/loads", result);
  if (Status status = loads.Start(); !status.ok()) return status;
  LookupBench lookups(flags.chunks, folder + "/lookups", result);
  if (Status status = lookups.Start(); !status.ok()) return status;
  Progress progress(stderr, static_cast<size_t>(flags.repeats));
  for (int i = 0; i < flags.repeats; ++i) {
    if (Status status = loads.Repeat(static_cast<uint64_t>(i)); !status.ok()) return status;
    if (Status status = lookups.Repeat(); !status.ok()) return status;
    progress.Show(static_cast<size_t>(i) + 1);
  }
  return {};
}

std::string DiskNote(const StoreResult& result) {
  if (result.in_memory) return "the folder lies in memory: there is no disk here, give --dir";
  if (result.page_cache_left > 0.01) {
    return fmt::format("the kernel kept up to {:.0f} % of the file in its page cache: the disk figures are too good",
                       100 * result.page_cache_left);
  }
  return "";
}

void Print(const StoreBenchFlags& flags, const StoreResult& result) {
  const double megabytes = static_cast<double>(result.file_bytes) / 1e6;
  fmt::print("{}; one chunk of {:.1f} MB\n", MachineName(), megabytes);
  fmt::print("medians of {} interleaved repeats, 95 % intervals in brackets\n\n", flags.repeats);
  fmt::print("{:<26}{:>24}{:>14}  {}\n", "load", "ms", "ms per MB", "the checksum takes, and adds");
  for (const Series& load : result.loads) {
    const Summary ms = Summarize(load.values);
    std::string check;
    if (!load.check_ms.empty()) {
      const bool verified = &load != &result.loads[kMemory];
      const Summary added = Summarize(load.check_shares);
      check = fmt::format("{}{} ms, {:+.1f} % [{:+.1f}, {:+.1f}]",
                          verified ? "" : "not done: ", Short(Summarize(load.check_ms).median), 100 * added.median,
                          100 * added.low, 100 * added.high);
    }
    fmt::print("{:<26}{:>24}{:>14.3f}  {}\n", load.label, Short(ms, ""), ms.median / megabytes, check);
  }
  if (result.fio_ms.empty()) {
    fmt::print("fio is not installed: the plain read stands for it\n");
  } else {
    const Summary ms = Summarize(result.fio_ms);
    fmt::print("{:<26}{:>24}{:>14.3f}\n", "fio, disk", Short(ms, ""), ms.median / megabytes);
  }
  if (const std::string note = DiskNote(result); !note.empty()) fmt::print("{}\n", note);
  fmt::print("\nput {} (a copy into the queue), then flush {} (checksum, write, sync, commit)\n",
             Short(Summarize(result.put_ms), " ms"), Short(Summarize(result.flush_ms), " ms"));
  fmt::print("\nwith {} chunks held{:>40}\n", flags.chunks, "us");
  for (const Series& lookup : result.lookups) {
    fmt::print("{:<42}{:>22}\n", lookup.label, Short(Summarize(lookup.values), ""));
  }
  fmt::print("{:<42}{:>22}\n", "open the folder, ms", Short(Summarize(result.open_ms), ""));
  fmt::print("\nbytes and lookups as they must be: {} of {}\n", result.equal, result.compared);
}

Json ToJson(const std::vector<double>& values) { return afterimage::ToJson(Summarize(values)); }

Json ToJson(const StoreBenchFlags& flags, const StoreResult& result) {
  const double megabytes = static_cast<double>(result.file_bytes) / 1e6;
  Json json = {{"machine", MachineName()}, {"chunk_bytes", result.file_bytes}, {"repeats", flags.repeats}};
  for (const Series& load : result.loads) {
    Json& entry = json["load"][load.key];
    entry["ms"] = ToJson(load.values);
    entry["ms_per_mb"] = Summarize(load.values).median / megabytes;
    entry["samples_ms"] = load.values;
    if (load.check_ms.empty()) continue;
    entry["checksum"] = {{"done", &load != &result.loads[kMemory]},
                         {"ms", ToJson(load.check_ms)},
                         {"added_share", ToJson(load.check_shares)}};
  }
  json["load"]["fio"] = result.fio_ms.empty() ? Json() : Json({{"ms", ToJson(result.fio_ms)}});
  json["disk_note"] = DiskNote(result);
  json["page_cache_left"] = result.page_cache_left;
  json["put_ms"] = ToJson(result.put_ms);
  json["flush_ms"] = ToJson(result.flush_ms);
  json["lookup"]["chunks"] = flags.chunks;
  for (const Series& lookup : result.lookups) json["lookup"][std::string(lookup.key) + "_us"] = ToJson(lookup.values);
  json["lookup"]["open_ms"] = ToJson(result.open_ms);
  json["compared"] = result.compared;
  json["equal"] = result.equal;
  return json;
}

}  // namespace

int RunStoreBench(const StoreBenchFlags& flags) {
  if (flags.repeats < 1) return Fail({Errc::kInvalidArgument, "--repeats: give at least 1"});
  if (flags.chunk_mb < 1 || flags.chunk_mb > 4000) {
    return Fail({Errc::kInvalidArgument, "--chunk-mb: give 1 to 4000"});
  }
  if (flags.chunks < 1) return Fail({Errc::kInvalidArgument, "--chunks: give at least 1"});
  std::error_code failed;
  const fs::path base = flags.dir.empty() ? fs::temp_directory_path(failed) : fs::path(flags.dir);
  fs::create_directories(base, failed);
  std::string folder = (base / "afterimage-bench.XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return Fail({Errc::kIo, base.string() + ": no folder can be made there; give another --dir"});
  }
  StoreResult result;
  const Status status = Measure(flags, folder, result);
  fs::remove_all(folder, failed);
  if (!status.ok()) return Fail(status.error());
  if (flags.json) {
    fmt::print("{}\n", ToJson(flags, result).dump(2));
  } else {
    Print(flags, result);
  }
  return result.equal == result.compared
             ? kExitOk
             : Fail({Errc::kInternal, "a load or a lookup gave something else than was put"});
}

}  // namespace afterimage
