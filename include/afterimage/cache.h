// Cache: what a model did for earlier requests, put back for the next ones.
//
//   auto cache = Cache::Open(options, *engine);
//   auto served = (*cache)->Serve(query, on_text);  // the answer and its report
//
// or, for a server that runs its engine itself, the steps of Serve:
//
//   auto started = (*cache)->TryReuse(query);       // resolve, plan, execute
//   (*started)->Prefill();                          // computes what could not be put back
//   auto answer = (*started)->Generate(on_text);
//   (*cache)->AddObservation(**started);            // keeps what was newly computed
//
// Two steps (docs/architecture.md). *Resolve*: which request is answered, this one or a substitute that is close
// enough. *Reuse*: whatever exact state of that request is stored is put back, the rest is computed. So approximation
// lives in the mapping, never in the bytes: what is stored is always exact for its key.
//
// A request never fails because of the cache: bytes that cannot be used are computed instead.
//
// Thread safety: all methods may be called from any thread. A StartedRequest belongs to one thread at a time.
#ifndef AFTERIMAGE_CACHE_H_
#define AFTERIMAGE_CACHE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "afterimage/clock.h"
#include "afterimage/durability.h"
#include "afterimage/embedding.h"
#include "afterimage/engine.h"
#include "afterimage/report.h"
#include "afterimage/text_encoder.h"

namespace afterimage {

enum class CacheMode {
  kLive,
  kDryRun,  // looks up, gates, plans and reports; puts nothing back and writes nothing
  kOff,     // every request is computed; no folder is opened
};

// A request, and how it is to be known as a donor.
struct Query {
  Request request;
  std::string id;                        // in reports; need not be unique
  std::string question;                  // for people; empty: the last text of the last user message
  std::string chunk_text;                // the text key; empty: the question
  std::vector<std::string> image_paths;  // for people, and for hooks that read the files themselves
  std::string metadata;                  // JSON, for hooks; empty: none
};

// One embedding layer: donors whose vector from the hook's source of this name is near.
struct EmbeddingLayerOptions {
  std::string name;
  int dim = 0;              // another than the source's: vectors are projected
  double threshold = 0.85;  // least cosine
};

// When another picture may be taken for the one asked about.
enum class ImageGate {
  kExact,  // never
  kNear,   // where it is near by its layer's score, and no place in it differs much
  kOff,    // always: only thresholds count, and a text match takes the donor's picture along
};

struct CacheOptions {
  CacheMode mode = CacheMode::kLive;
  std::string folder;                           // where it all lies; made if absent
  std::string fusion_folder;                    // encoder output elsewhere; empty: in `folder`
  uint64_t max_bytes = 0;                       // of chunk files; 0: no limit
  uint64_t max_blocks = 0;                      // of 16 tokens; 0: no limit
  uint64_t memory_bytes = uint64_t{256} << 20;  // of chunks also kept in memory; 0: none
  Durability durability = Durability::kPower;

  bool exact_layer = true;
  std::vector<EmbeddingLayerOptions> embedding_layers;  // each needs a source of its name in embedding_hook
  bool semantic_layer = true;                           // where there is a text_encoder
  bool prefix_layer = true;
  bool fusion_layer = true;
  std::shared_ptr<EmbeddingHook> embedding_hook;
  std::shared_ptr<TextEncoder> text_encoder;
  double similarity_threshold = 0.85;  // of the semantic layer: least cosine
  int chunk_window = 256;              // characters of the chunk text the semantic layer looks at
  std::string vector_index = "flat";   // how vectors are searched

  ReuseClass loosest = ReuseClass::kExact;  // kExact, kNormalized or kApproximate
  int min_prefix_tokens = 32;               // of a prefix without a picture
  // Rules for substitutions; each can be switched alone.
  ImageGate image_gate = ImageGate::kNear;
  double near_score = -1;      // least score of a near picture; under its layer's threshold it has no effect
  double near_local = 0.4;     // largest difference of one place of a near picture (docs/gates.md)
  bool text_guard = true;      // questions that differ in a word that matters are not the same (docs/gates.md)
  std::string guard_lexicon;   // a file that extends the guard's words; empty: none
  bool license_whole = false;  // a match puts in the donor's whole request, not only what was matched
  bool greedy = false;         // the best score wins, whatever it saves; otherwise exact state comes first
  double min_gain = 0.1;       // a substitution must save this share of the best exact plan's time
  double min_gain_ms = 0;      // and this much
  // Decides alone, in place of thresholds, image gate and text guard, which substitutions are right; nullopt: unknown,
  // so no. Null: there is none. For finding out what perfect judgement would be worth.
  std::function<std::optional<bool>(const Query& asked, const Donor& donor, bool question, bool picture)> oracle;

  std::string tenant;         // part of every key
  std::string planner_rates;  // a file with frozen rates (docs/format.md); empty: measured
};

// A request under way: a sequence of the engine that holds what could be put back.
class StartedRequest {
 public:
  virtual ~StartedRequest() = default;  // gives the place in the engine's context back

  virtual const Prompt& prompt() const = 0;  // of the request that is answered: the substitute's, if there is one

  // Computes the rest. Called once. Errors: Sequence::Prefill's.
  virtual Status Prefill() = 0;

  // REQUIRES: Prefill done. Called once. Errors: Sequence::Generate's.
  virtual Result<Answer> Generate(const TextCallback& on_text) = 0;

  virtual const Report& report() const = 0;  // as far as things have gone
};

struct Served {
  Answer answer;
  Report report;
};

// What the cache's folder holds, and what happened to it since it was opened. Zeros with kOff.
struct CacheStats {
  uint64_t chunks = 0;
  uint64_t kv_bytes = 0;
  uint64_t fusion_bytes = 0;
  uint64_t logits_bytes = 0;
  uint64_t overhead_bytes = 0;   // headers, padding and checksums of the chunk files
  uint64_t catalogue_bytes = 0;  // once its log is gone
  uint64_t vector_bytes = 0;     // of them: vectors
  uint64_t blocks = 0;           // of 16 tokens
  uint64_t evicted = 0;
  uint64_t quarantined = 0;   // files that failed a check
  uint64_t write_errors = 0;  // chunks dropped because the disk did not take them
};

class Cache {
 public:
  virtual ~Cache() = default;

  // The engine and the clock must outlive the cache. An engine whose state cannot be kept (EngineInfo::cache_refusal)
  // is served without it. Errors: kInvalidArgument (options, or a folder that is not ours), kBusy (another process
  // writes the folder), kIo, kCorrupt (the rates file).
  static Result<std::unique_ptr<Cache>> Open(const CacheOptions& options, Engine& engine,
                                             const Clock& clock = SteadyClock());

  // Errors: what Engine::Prepare and Engine::Start report.
  virtual Result<std::unique_ptr<StartedRequest>> TryReuse(const Query& query) = 0;

  // Keeps what was computed since TryReuse, under the request that was really answered, and what it took, for the
  // planner. REQUIRES: `started` is this cache's, and its Prefill was ok.
  // Errors: kTooLarge, kIo and others: something could not be kept; the answer is as good as it was.
  virtual Status AddObservation(StartedRequest& started) = 0;

  // All steps, with times. Errors: the engine's.
  virtual Result<Served> Serve(const Query& query, const TextCallback& on_text) = 0;

  // Returns when everything observed is durable or dropped. Errors: kIo.
  virtual Status Flush() = 0;

  virtual CacheStats stats() const = 0;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_H_
