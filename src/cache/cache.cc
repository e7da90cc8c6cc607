#include <algorithm>

#include "cache/cache_impl.h"

namespace afterimage {
namespace {

Status CheckOptions(const CacheOptions& options) {
  if (options.mode != CacheMode::kOff && options.folder.empty()) {
    return Error{Errc::kInvalidArgument, "a cache needs a folder; give one, or switch the cache off"};
  }
  if (options.loosest > ReuseClass::kApproximate) {
    return Error{Errc::kInvalidArgument, "the loosest class of reuse is exact, normalized or approximate"};
  }
  if (options.min_gain < 0 || options.min_gain > 1) {
    return Error{Errc::kInvalidArgument, "the gain demanded of a substitution is a share from 0 to 1"};
  }
  if (options.tenant.size() > kMaxTenantBytes) {
    return Error{Errc::kInvalidArgument, "a tenant's name has at most 255 bytes"};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Cache>> Cache::Open(const CacheOptions& options, Engine& engine, const Clock& clock) {
  return CacheImpl::Open(options, engine, {clock, WallClock(), PosixFileSystem()});
}

Result<std::unique_ptr<Cache>> CacheImpl::Open(const CacheOptions& options, Engine& engine,
                                               const CacheSurroundings& surroundings) {
  if (Status status = CheckOptions(options); !status.ok()) return status.error();
  std::unique_ptr<CacheImpl> cache(new CacheImpl(options, engine, surroundings));
  if (options.mode == CacheMode::kOff) {
    cache->refusal_ = "switched off";
  } else {
    cache->refusal_ = engine.info().cache_refusal;
  }
  if (!cache->refusal_.empty()) return std::unique_ptr<Cache>(std::move(cache));
  if (Status status = cache->OpenStore(); !status.ok()) return status.error();
  if (Status status = cache->LoadRates(); !status.ok()) return status.error();
  return std::unique_ptr<Cache>(std::move(cache));
}

Status CacheImpl::OpenStore() {
  DiskStoreOptions disk_options;
  disk_options.folder = options_.folder;
  disk_options.fusion_folder = options_.fusion_folder;
  disk_options.max_bytes = options_.max_bytes;
  disk_options.max_blocks = options_.max_blocks;
  disk_options.durability = options_.durability;
  disk_options.read_only = !live();
  Result<std::unique_ptr<DiskStore>> disk =
      DiskStore::Open(disk_options, surroundings_.files, surroundings_.store_clock);
  if (!disk.ok() && !live() && disk.error().code == Errc::kNotFound) {
    refusal_ = "a dry run over a folder that holds nothing";
    return {};
  }
  if (!disk.ok()) return disk.error();
  disk_ = std::move(*disk);
  store_ = disk_.get();
  if (options_.memory_bytes > 0) {
    memory_ = std::make_unique<MemoryStore>(MemoryStoreOptions{.max_bytes = options_.memory_bytes},
                                            surroundings_.store_clock);
    tiered_ = std::make_unique<TieredStore>(*memory_, *disk_);
    store_ = tiered_.get();
  }
  const Identity& identity = engine_.info().identity;
  finder_ =
      std::make_unique<StateFinder>(engine_.info(), *store_, options_.tenant, options_.loosest != ReuseClass::kExact);
  Result<std::vector<LayerSlot>> slots =
      MakeLayers({options_, *disk_, identity.compatibility.digest()}, surroundings_.more_layers);
  if (!slots.ok()) return slots.error();
  slots_ = std::move(*slots);
  if (options_.text_guard && options_.loosest == ReuseClass::kApproximate) {
    Result<TextGuard> guard = TextGuard::Open(options_.guard_lexicon);
    if (!guard.ok()) return guard.error();
    guard_ = std::move(*guard);
  }
  rates_prefix_ =
      options_.tenant + "/" + identity.compatibility.digest().Short() + "/" + identity.numerics.digest().Short() + "/";
  return {};
}

bool CacheImpl::keeps_rows() const {
  return options_.prefix_layer ||
         std::ranges::any_of(slots_, [](const LayerSlot& slot) { return slot.layer != nullptr; });
}

bool CacheImpl::FindsByText() const {
  return std::ranges::any_of(
      slots_, [](const LayerSlot& slot) { return slot.layer != nullptr && slot.layer->modality() == Modality::kText; });
}

CacheImpl::~CacheImpl() { SaveRates(); }

Status CacheImpl::LoadRates() {
  if (refusal_.empty() && !options_.planner_rates.empty()) {
    Result<Rates> rates = Rates::ReadFrozen(options_.planner_rates, rates_prefix_);
    if (!rates.ok()) return rates.error();
    rates_ = std::move(*rates);
    return {};
  }
  if (disk_ == nullptr) return {};
  const Result<std::vector<Rate>> kept = disk_->catalogue().LoadRates();
  if (kept.ok()) rates_ = Rates(*kept, rates_prefix_);  // if not: they will be measured again
  return {};
}

void CacheImpl::SaveRates() {
  if (disk_ == nullptr || !live()) return;
  const std::scoped_lock lock(mutex_);
  n_unsaved_ = 0;
  if (rates_.frozen()) return;
  for (Rate& rate : rates_.Save(rates_prefix_)) (void)disk_->PutRate(std::move(rate));
}

Result<std::unique_ptr<StartedRequest>> CacheImpl::StartCold(std::unique_ptr<StartedRequestImpl> started,
                                                             const std::string& reason) {
  for (const LayerSlot& slot : EmptySlots(options_, reason)) {
    started->report_.layers.push_back({.key = slot.key, .reason = slot.off});
  }
  for (const char* key : {"prefix", "fusion", "kv_cache"}) {
    started->report_.layers.push_back({.key = key, .reason = reason});
  }
  Result<std::unique_ptr<Sequence>> sequence = engine_.Start(*started->prompt_);
  if (!sequence.ok()) return sequence.error();
  started->sequence_ = std::move(*sequence);
  return std::unique_ptr<StartedRequest>(std::move(started));
}

Result<std::unique_ptr<StartedRequest>> CacheImpl::TryReuse(const Query& query) {
  auto started = std::make_unique<StartedRequestImpl>(surroundings_.clock, engine_, query.request.sampling);
  Result<std::unique_ptr<Prompt>> prompt = engine_.Prepare(query.request);
  if (!prompt.ok()) return prompt.error();
  started->prompt_ = std::move(*prompt);
  started->report_.prepare_ms = started->SinceStart();
  started->report_.prompt_tokens = started->prompt_->n_tokens();
  if (!refusal_.empty()) return StartCold(std::move(started), refusal_);
  Resolved resolved = Resolve(query, *started);
  if (Status status = PlanAndExecute(resolved, *started); !status.ok()) return status.error();
  return std::unique_ptr<StartedRequest>(std::move(started));
}

Status CacheImpl::PlanAndExecute(Resolved& resolved, StartedRequestImpl& started) {
  Report& report = started.report_;
  const Executor executor(engine_, *store_, surroundings_.clock);
  DigestSet unusable;
  for (;;) {
    std::vector<Plan> plans;
    {
      const StageTimer timer(surroundings_.clock, report.plan_ms);
      const std::scoped_lock lock(mutex_);
      plans = Decide(resolved.options, rates_, policy());
    }
    // A dry run computes the request asked; the plan it would have taken is still the first in the report.
    Plan plan = plans.front();
    if (!live()) plan = {};
    Choice& choice = resolved.choices[plan.option];
    Result<std::unique_ptr<Sequence>> sequence = engine_.Start(*choice.prompt);
    if (!sequence.ok()) return sequence.error();
    Execution execution;
    const Status status =
        executor.Execute(plan, resolved.options[plan.option].state, *choice.prompt, **sequence, execution);
    ReportPlans(resolved, plans, status, report);
    if (!status.ok()) {
      unusable.insert(execution.unusable.begin(), execution.unusable.end());
      for (size_t i = 0; i < resolved.options.size(); ++i) {
        resolved.options[i].state = finder_->Find(*resolved.choices[i].prompt, unusable);
      }
      continue;
    }
    Explain(resolved, plans, report);
    if (live()) {
      report.reuse_class = plan.reuse_class;
      if (plan.predicted.measured) report.predicted_ms = plan.predicted.ms;
    }
    report.prompt_tokens = choice.prompt->n_tokens();
    report.bytes_loaded = execution.bytes();
    report.other_numerics = execution.other_numerics;
    started.observe_ = live();
    // A donor's row goes with its leaf: where the leaf is put anew, so is the row.
    const Option& option = resolved.options[plan.option];
    const bool new_leaf = !option.state.segments.back().kv.has_value();
    started.new_request_ = keeps_rows() && (new_leaf || (FindsByText() && !option.equal_donor));
    started.state_ = std::move(resolved.options[plan.option].state);
    started.execution_ = std::move(execution);
    started.record_ = std::move(choice.record);
    started.images_ = std::move(choice.images);
    started.pictures_ = std::move(choice.pictures);
    started.prompt_ = std::move(choice.prompt);
    if (!choice.substitution.empty()) started.own_prompt_ = std::move(resolved.choices[0].prompt);
    started.sequence_ = std::move(*sequence);
    return {};
  }
}

Result<Served> CacheImpl::Serve(const Query& query, const TextCallback& on_text) {
  Result<std::unique_ptr<StartedRequest>> started = TryReuse(query);
  if (!started.ok()) return started.error();
  if (Status status = (*started)->Prefill(); !status.ok()) return status.error();
  Result<Answer> answer = (*started)->Generate(on_text);
  if (!answer.ok()) return answer.error();
  (void)AddObservation(**started);  // what could not be kept is counted by the store; the answer stands
  return Served{std::move(*answer), (*started)->report()};
}

Status CacheImpl::Flush() {
  SaveRates();
  return disk_ == nullptr || !live() ? Status() : store_->Flush();
}

CacheStats CacheImpl::stats() const {
  CacheStats stats;
  if (disk_ == nullptr) return stats;
  const StoreStats held = store_->stats();
  stats.chunks = held.chunks;
  stats.kv_bytes = held.kv_bytes;
  stats.fusion_bytes = held.fusion_bytes;
  stats.logits_bytes = held.logits_bytes;
  stats.overhead_bytes = held.overhead_bytes;
  stats.blocks = held.blocks;
  stats.evicted = held.evicted;
  stats.quarantined = held.quarantined;
  stats.write_errors = held.write_errors;
  const Result<uint64_t> vector_bytes = disk_->catalogue().VectorBytes();
  if (vector_bytes.ok()) stats.vector_bytes = *vector_bytes;
  const Result<uint64_t> page_bytes = disk_->catalogue().PageBytes();
  if (page_bytes.ok()) stats.catalogue_bytes = *page_bytes;
  return stats;
}

}  // namespace afterimage
