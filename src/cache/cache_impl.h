// CacheImpl: the cache over a disk store, with a memory store before it if there is one.
#ifndef AFTERIMAGE_CACHE_CACHE_IMPL_H_
#define AFTERIMAGE_CACHE_CACHE_IMPL_H_

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "afterimage/cache.h"
#include "cache/execute.h"
#include "cache/judge.h"
#include "cache/make_layers.h"
#include "cache/plan.h"
#include "cache/rates.h"
#include "cache/started_request.h"
#include "cache/substitute.h"
#include "layers/layer.h"
#include "layers/stored_state.h"
#include "store/disk_store.h"
#include "store/memory_store.h"
#include "store/tiered_store.h"

namespace afterimage {

// What a cache takes from the machine; tests give it others. All must outlive the cache.
struct CacheSurroundings {
  const Clock& clock;        // for what things take
  const Clock& store_clock;  // for when they happened
  FileSystem& files;
  std::vector<LayerFactory> more_layers;
};

class CacheImpl final : public Cache {
 public:
  static Result<std::unique_ptr<Cache>> Open(const CacheOptions& options, Engine& engine,
                                             const CacheSurroundings& surroundings);
  ~CacheImpl() override;

  Result<std::unique_ptr<StartedRequest>> TryReuse(const Query& query) override;
  Status AddObservation(StartedRequest& started) override;
  Result<Served> Serve(const Query& query, const TextCallback& on_text) override;
  Status Flush() override;
  CacheStats stats() const override;

 private:
  // A layer's candidate that led to a request.
  struct Source {
    size_t slot = 0;
    CandidateReport candidate;
  };
  // A request that may be answered, with everything needed to answer it. The first one is the request asked.
  struct Choice {
    std::unique_ptr<Prompt> prompt;
    DonorRecord record;
    std::vector<std::shared_ptr<const Image>> images;
    std::vector<Digest> pictures;  // their digests
    std::string substitution;
    std::vector<Source> sources;  // all that led to it; none: it comes from nobody
  };
  struct Resolved {
    const Request* request = nullptr;  // the one asked
    std::deque<Choice> choices;        // those that are there stay where they are when others come
    std::vector<Option> options;       // of the same index
  };
  struct Findings;

  CacheImpl(const CacheOptions& options, Engine& engine, const CacheSurroundings& surroundings)
      : options_(options), engine_(engine), surroundings_(surroundings) {}

  Status OpenStore();
  Status LoadRates();
  void SaveRates();
  bool live() const { return options_.mode == CacheMode::kLive; }

  Result<std::unique_ptr<StartedRequest>> StartCold(std::unique_ptr<StartedRequestImpl> started,
                                                    const std::string& reason);
  // resolve.cc: asks the layers, fills their reports, and makes requests of what they found.
  Resolved Resolve(const Query& query, StartedRequestImpl& started);
  Judge JudgeOf(const Choice& own, StartedRequestImpl& started);
  VectorRef SignatureRef(const Digest& picture) const;
  double LeftToSaveMs(const Resolved& resolved);
  std::string WhyNotAsk(const Layer& layer, const Resolved& resolved);
  LayerQuery LayerQueryOf(const Choice& choice, StartedRequestImpl& started);
  Result<std::vector<NamedTensor>> EncoderOutput(Prompt& prompt, StartedRequestImpl& started);
  void AskLayer(size_t slot, StartedRequestImpl& started, Resolved& resolved, Findings& findings);
  void Substitute(Findings& findings, StartedRequestImpl& started, Resolved& resolved);
  void AddJoined(const Candidate& picture, size_t picture_slot, size_t picture_report, Findings& findings,
                 StartedRequestImpl& started, Resolved& resolved);
  void AddChoice(const Candidate& candidate, std::vector<Source> sources, License license, size_t rank,
                 StartedRequestImpl& started, Resolved& resolved);
  PlanPolicy policy() const {
    return {options_.prefix_layer, options_.fusion_layer, options_.min_prefix_tokens,
            options_.min_gain,     options_.min_gain_ms,  options_.greedy};
  }
  bool keeps_rows() const;   // some layer uses KV state
  bool FindsByText() const;  // some layer knows equal requests

  // Takes the first of the plans that works, after a failure those of what is left. Errors: Engine::Start's.
  Status PlanAndExecute(Resolved& resolved, StartedRequestImpl& started);
  // What became of the plans: the first one was tried.
  void ReportPlans(const Resolved& resolved, std::span<const Plan> plans, const Status& status, Report& report) const;
  // What each layer contributed to the plan taken, the first.
  void ExplainSlot(size_t slot, const Resolved& resolved, std::span<const Plan> plans, bool by_donor,
                   Report& report) const;
  void Explain(const Resolved& resolved, std::span<const Plan> plans, Report& report) const;

  Status KeepRows(StartedRequestImpl& started);
  void RecordIn(StartedRequestImpl& started, RequestRow& row, std::vector<VectorRow>& vectors);
  Status KeepPictures(StartedRequestImpl& started);
  void Learn(const StartedRequestImpl& started);

  const CacheOptions options_;
  Engine& engine_;
  const CacheSurroundings surroundings_;
  std::string refusal_;              // why nothing is cached: switched off, or the engine's reason
  std::unique_ptr<DiskStore> disk_;  // null when refusal_ is set, and in a dry run over a folder that is not there
  std::unique_ptr<MemoryStore> memory_;
  std::unique_ptr<TieredStore> tiered_;
  ChunkStore* store_ = nullptr;  // the one of the three to ask
  std::unique_ptr<StateFinder> finder_;
  std::vector<LayerSlot> slots_;  // of the layers that find donors
  std::optional<TextGuard> guard_;
  std::string rates_prefix_;  // of the keys in the catalogue: rates of another tenant, model or machine are not ours

  std::mutex mutex_;
  Rates rates_;        // guarded by mutex_
  int n_unsaved_ = 0;  // observations since the rates were saved; guarded by mutex_
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_CACHE_IMPL_H_
