#include "cli/bench_cache.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "afterimage/cache.h"
#include "cli/command.h"
#include "cli/machine.h"

namespace afterimage {
namespace {

// Pairs of one kind: the same request through the cache and without it.
struct Kind {
  std::vector<double> cached_ms;
  std::vector<double> uncached_ms;
};

struct CacheBenchResult {
  std::map<std::string, Kind> kinds;  // by class and provenance: "exact, text:exact"
  int requests = 0;
  int identical = 0;               // answers equal to the uncached ones, token by token
  std::vector<double> errors;      // of the planner's predictions, relative
  Kind misses;                     // nothing of them was stored
  std::vector<double> lookup_ms;   // of a miss: all the cache did before the first token
  std::vector<double> observe_ms;  // of a miss: all it did after the last
  CacheStats stats;
};

// Removes itself.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& given) : path_(given) {
    if (!given.empty()) return;
    std::string path = (std::filesystem::temp_directory_path() / "afterimage-bench.XXXXXX").string();
    temporary_ = ::mkdtemp(path.data()) != nullptr;
    path_ = path;
  }
  ~CacheFolder() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

class CacheBench {
 public:
  CacheBench(const CacheBenchFlags& flags, const BenchModel& model, Cache& cache, Cache& none)
      : flags_(flags), model_(model), cache_(cache), none_(none) {}

  Status Run() {
    if (Status status = WarmUp(); !status.ok()) return status;
    total_ = 2 * flags_.pictures * flags_.questions + flags_.pictures + flags_.misses;
    // Every question about every picture, twice, then once behind a system message.
    for (int round = 0; round < 2; ++round) {
      for (int picture = 0; picture < flags_.pictures; ++picture) {
        for (int question = 0; question < flags_.questions; ++question) {
          if (Status status = Pair(picture, question, "", nullptr); !status.ok()) return status;
        }
      }
    }
    for (int picture = 0; picture < flags_.pictures; ++picture) {
      if (Status status = Pair(picture, 0, "Be brief.", nullptr); !status.ok()) return status;
    }
    for (int i = 0; i < flags_.misses; ++i) {
      if (Status status = Pair(flags_.pictures + i, i, "", &result_.misses); !status.ok()) return status;
    }
    result_.stats = cache_.stats();
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
    return {};
  }

  const CacheBenchResult& result() const { return result_; }

 private:
  Result<Query> MakeQuery(int picture, int question, const std::string& system) {
    Result<Request> request =
        QuestionOfLength(*model_.engine, BenchPicture(model_.image_size, static_cast<uint32_t>(picture) + 1),
                         flags_.text_tokens, question);
    if (!request.ok()) return request.error();
    Query query;
    query.request = std::move(*request);
    query.request.sampling.max_tokens = 4;
    if (!system.empty()) query.request.messages.insert(query.request.messages.begin(), Message{"system", {system}});
    return query;
  }

  // The first request of a process pays for much that is nobody's fault.
  Status WarmUp() {
    Result<Query> query = MakeQuery(1 << 20, 0, "");
    if (!query.ok()) return query.error();
    const Result<Served> served = none_.Serve(*query, nullptr);
    return served.ok() ? Status() : served.error();
  }

  Status Pair(int picture, int question, const std::string& system, Kind* misses) {
    if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[Krequest {} of {} ", n_ + 1, total_);
    const Result<Query> query = MakeQuery(picture, question, system);
    if (!query.ok()) return query.error();
    // They take turns in going first.
    Result<Served> first = n_ % 2 == 0 ? cache_.Serve(*query, nullptr) : none_.Serve(*query, nullptr);
    if (!first.ok()) return first.error();
    Result<Served> second = n_ % 2 == 0 ? none_.Serve(*query, nullptr) : cache_.Serve(*query, nullptr);
    if (!second.ok()) return second.error();
    const Served& cached = n_ % 2 == 0 ? *first : *second;
    const Served& uncached = n_ % 2 == 0 ? *second : *first;
    ++n_;
    const Report& report = cached.report;
    ++result_.requests;
    result_.identical += cached.answer.tokens == uncached.answer.tokens ? 1 : 0;
    const std::string name =
        std::string(Name(report.reuse_class)) + (report.provenance.empty() ? "" : ", " + report.provenance);
    Kind& kind = misses != nullptr ? *misses : result_.kinds[name];
    kind.cached_ms.push_back(report.ttft_ms);
    kind.uncached_ms.push_back(uncached.report.ttft_ms);
    if (report.predicted_ms.has_value()) {
      result_.errors.push_back(std::abs(*report.predicted_ms - report.actual_ms) / report.actual_ms);
    }
    if (misses != nullptr) {
      double lookup_ms = report.plan_ms;
      for (const LayerReport& layer : report.layers) lookup_ms += layer.lookup_ms;
      result_.lookup_ms.push_back(lookup_ms);
      result_.observe_ms.push_back(report.observe_ms);
    }
    return {};
  }

  const CacheBenchFlags& flags_;
  const BenchModel& model_;
  Cache& cache_;
  Cache& none_;
  CacheBenchResult result_;
  int n_ = 0;
  int total_ = 0;
};

void PrintResult(const CacheBenchResult& result) {
  fmt::print("{:<24}{:>10}{:>30}{:>30}{:>26}\n", "served", "requests", "first token, ms", "without the cache, ms",
             "faster");
  const auto line = [](const std::string& name, const Kind& kind) {
    if (kind.cached_ms.empty()) return;
    fmt::print("{:<24}{:>10}{:>30}{:>30}{:>26}\n", name, kind.cached_ms.size(), Short(Summarize(kind.cached_ms), ""),
               Short(Summarize(kind.uncached_ms), ""), Short(Ratio(kind.uncached_ms, kind.cached_ms), "x"));
  };
  for (const auto& [name, kind] : result.kinds) line(name, kind);
  line("misses, new pictures", result.misses);
  fmt::print("\nanswers identical to those without the cache: {} of {}\n", result.identical, result.requests);
  if (!result.errors.empty()) {
    fmt::print("planner: predictions off by {:.0f} % (median of {})\n", 100 * Summarize(result.errors).median,
               result.errors.size());
  }
  if (!result.lookup_ms.empty()) {
    fmt::print(
        "a miss: {} ms of lookup and planning before the first token, {:.3f} % of it; {} ms of keeping after "
        "the answer\n",
        Short(Summarize(result.lookup_ms), ""), 100 * Ratio(result.lookup_ms, result.misses.uncached_ms).median,
        Short(Summarize(result.observe_ms), ""));
  }
  const CacheStats& stats = result.stats;
  fmt::print("stored: {:.1f} MB of attention state, {:.1f} MB of encoder output, {:.1f} MB of logits\n",
             static_cast<double>(stats.kv_bytes) / 1e6, static_cast<double>(stats.fusion_bytes) / 1e6,
             static_cast<double>(stats.logits_bytes) / 1e6);
}

nlohmann::ordered_json ToJson(const Kind& kind) {
  return {{"requests", kind.cached_ms.size()},
          {"ttft_ms", ToJson(Summarize(kind.cached_ms))},
          {"uncached_ttft_ms", ToJson(Summarize(kind.uncached_ms))},
          {"speedup", ToJson(Ratio(kind.uncached_ms, kind.cached_ms))}};
}

nlohmann::ordered_json ToJson(const CacheBenchResult& result) {
  nlohmann::ordered_json json = {{"requests", result.requests}, {"identical", result.identical}};
  for (const auto& [name, kind] : result.kinds) json["served"][name] = ToJson(kind);
  if (!result.errors.empty()) {
    json["planner"] = {{"predictions", result.errors.size()},
                       {"median_relative_error", Summarize(result.errors).median}};
  }
  if (!result.lookup_ms.empty()) {
    json["miss"] = ToJson(result.misses);
    json["miss"]["lookup_ms"] = ToJson(Summarize(result.lookup_ms));
    json["miss"]["lookup_share"] = ToJson(Ratio(result.lookup_ms, result.misses.uncached_ms));
    json["miss"]["observe_ms"] = ToJson(Summarize(result.observe_ms));
  }
  return json;
}

}  // namespace

int RunCacheBench(const CacheBenchFlags& flags) {
  if (flags.pictures < 1 || flags.questions < 1 || flags.misses < 0) {
    return Fail({Errc::kInvalidArgument, "give at least 1 picture and 1 question, and no negative number of misses"});
  }
  const Result<BenchModel> model = LoadBenchModel(flags.shape, flags.models_dir, flags.threads);
  if (!model.ok()) return Fail(model.error());
  const CacheFolder folder(flags.cache_dir);
  CacheOptions options;
  options.folder = folder.path();
  const Result<std::unique_ptr<Cache>> cache = Cache::Open(options, *model->engine);
  if (!cache.ok()) return Fail(cache.error());
  const Result<std::unique_ptr<Cache>> none = Cache::Open({.mode = CacheMode::kOff}, *model->engine);
  if (!none.ok()) return Fail(none.error());
  if (!flags.json) {
    fmt::print(
        "{}, {}\n{}: {}, random weights, {} threads; {} pictures, {} questions each, asked twice; medians, 95 % "
        "intervals in brackets\n\n",
        MachineName(), model->engine->info().name, flags.shape, model->engine->info().model, model->threads,
        flags.pictures, flags.questions);
    std::fflush(stdout);
  }
  CacheBench bench(flags, *model, **cache, **none);
  if (Status status = bench.Run(); !status.ok()) return Fail(status.error());
  const CacheBenchResult& result = bench.result();
  if (flags.json) {
    nlohmann::ordered_json json = ToJson(result);
    json["machine"] = MachineName();
    json["engine"] = model->engine->info().name;
    json["shape"] = flags.shape;
    json["threads"] = model->threads;
    fmt::print("{}\n", json.dump(2));
  } else {
    PrintResult(result);
  }
  return result.identical == result.requests
             ? kExitOk
             : Fail({Errc::kInternal, "an answer was not the one given without the cache"});
}

}  // namespace afterimage
