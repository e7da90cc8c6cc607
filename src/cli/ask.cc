// `afterimage ask`: one question about some pictures, the answer, what it cost, and what the cache did for it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "afterimage/cache.h"
#include "afterimage/llama_engine.h"
#include "cli/command.h"
#include "cli/request_flags.h"
#include "core/byte_size.h"
#include "core/json_text.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

struct Asked {
  Answer answer;
  Report report;
  int image_tokens = 0;
};

const char* FinishName(Answer::Finish finish) {
  switch (finish) {
    case Answer::Finish::kStop:
      return "stop";
    case Answer::Finish::kMaxTokens:
      return "max_tokens";
    case Answer::Finish::kContextFull:
      return "context_full";
    case Answer::Finish::kCancelled:
      return "cancelled";
  }
  return "?";
}

Result<Asked> Serve(Cache& cache, const Query& query, bool stream) {
  Result<std::unique_ptr<StartedRequest>> started = cache.TryReuse(query);
  if (!started.ok()) return started.error();
  Asked asked;
  for (const Segment& segment : (*started)->prompt().segments()) {
    if (segment.kind == Segment::Kind::kImage) asked.image_tokens += segment.n_tokens;
  }
  if (Status status = (*started)->Prefill(); !status.ok()) return status.error();
  Result<Answer> answer = (*started)->Generate([&](std::string_view piece) {
    if (stream) {
      fmt::print("{}", piece);
      std::fflush(stdout);
    }
    return true;
  });
  if (!answer.ok()) return answer.error();
  asked.answer = std::move(*answer);
  Status kept = cache.AddObservation(**started);
  if (kept.ok()) kept = cache.Flush();
  if (!kept.ok()) fmt::print(stderr, "afterimage: warning: not everything could be kept: {}\n", kept.error().message);
  asked.report = (*started)->report();
  return asked;
}

void PrintJson(const Asked& asked, const EngineInfo& info) {
  const Report& report = asked.report;
  const SequenceStats& stats = report.stats;
  const nlohmann::ordered_json json = {
      {"answer", asked.answer.text},
      {"finish", FinishName(asked.answer.finish)},
      {"ttft_ms", report.ttft_ms},
      {"latency_ms", report.latency_ms},
      {"stages_ms",
       {{"prepare", report.prepare_ms},
        {"encode", stats.encode_ms},
        {"prefill", stats.prefill_ms},
        {"decode", stats.decode_ms}}},
      {"tokens",
       {{"prompt", report.prompt_tokens},
        {"reused", stats.tokens_reused},
        {"computed", stats.tokens_computed},
        {"generated", stats.tokens_generated}}},
      {"images", {{"encoded", stats.images_encoded}, {"encode_skipped", stats.images_put_back}}},
      {"report", ReportJson(report)},
      {"engine",
       {{"name", info.name},
        {"model", info.model},
        {"compatibility", info.identity.compatibility.digest().Hex()},
        {"numerics", info.identity.numerics.digest().Hex()},
        {"state_bytes_per_token", info.kv.bytes_per_token()},
        {"cache_refusal", info.cache_refusal}}}};
  fmt::print("{}\n", JsonText(json, 2));
}

void PrintCacheReport(const Report& report, CacheMode mode) {
  fmt::print("class    {}{}\n", Name(report.reuse_class),
             report.provenance.empty() ? "" : fmt::format(" ({})", report.provenance));
  fmt::print("layers   {}\n", StatusLine(report));
  for (const LayerReport& layer : report.layers) {
    if (layer.status == LayerStatus::kRefused && !layer.reason.empty()) {
      fmt::print("         {}: {}\n", layer.key, layer.reason);
    }
  }
  if (report.donor.has_value()) {
    fmt::print("donor    {}\"{}\"{}\n", report.substitution.empty() ? "" : "answered instead: ", report.donor->question,
               report.donor->image_paths.empty() ? "" : fmt::format(" about {}", report.donor->image_paths.front()));
  }
  if (mode == CacheMode::kDryRun && !report.plans.empty()) {
    const PlanReport& plan = report.plans.front();
    fmt::print("would    put {} tokens back and compute {}: {}{}\n", plan.tokens_reused, plan.tokens_computed,
               Name(plan.reuse_class),
               plan.predicted_ms.has_value() ? fmt::format(", predicted {:.1f} ms", *plan.predicted_ms) : "");
  }
  const std::string predicted =
      report.predicted_ms.has_value() ? fmt::format("predicted {:.1f} ms, ", *report.predicted_ms) : "";
  fmt::print("plan     {}took {:.1f} ms; {} weighed\n", predicted, report.actual_ms, report.plans.size());
  fmt::print("bytes    {} put back, {} kept\n", FormatByteSize(report.bytes_loaded),
             FormatByteSize(report.bytes_stored));
}

void PrintText(const Asked& asked, const EngineInfo& info, CacheMode mode) {
  const Report& report = asked.report;
  const SequenceStats& stats = report.stats;
  double lookup_ms = report.plan_ms;
  for (const LayerReport& layer : report.layers) lookup_ms += layer.lookup_ms;
  fmt::print("\n\n");
  if (mode == CacheMode::kOff) {
    fmt::print("cache    off; give --cache-dir to keep what was computed\n");
  } else if (info.cache_refusal.empty()) {
    PrintCacheReport(report, mode);
  }
  fmt::print("tokens   prompt {} (pictures {}, text {}): {} put back, {} computed; answer {}\n", report.prompt_tokens,
             asked.image_tokens, report.prompt_tokens - asked.image_tokens, stats.tokens_reused, stats.tokens_computed,
             stats.tokens_generated);
  fmt::print("time     prepare {:.1f} ms, look up and plan {:.1f} ms, load {:.1f} ms, inject {:.1f} ms,\n",
             report.prepare_ms, lookup_ms, stats.load_ms, stats.inject_ms);
  fmt::print("         encode {:.1f} ms, prefill {:.1f} ms, decode {:.1f} ms\n", stats.encode_ms, stats.prefill_ms,
             stats.decode_ms);
  fmt::print("         first token after {:.1f} ms, answer after {:.1f} ms\n", report.ttft_ms, report.latency_ms);
  fmt::print("engine   {}, {}\n", info.name, info.model);
  if (info.cache_refusal.empty()) {
    fmt::print("state    {} bytes a token, {} for this prompt\n", info.kv.bytes_per_token(),
               FormatByteSize(info.kv.bytes_per_token() * static_cast<uint64_t>(report.prompt_tokens)));
  } else {
    fmt::print("state    not cached: {}\n", info.cache_refusal);
  }
}

int RunAsk(const RequestFlags& flags) {
  const Result<CacheOptions> cache_options = flags.cache.Resolve();
  if (!cache_options.ok()) return Fail(cache_options.error());
  const Result<Query> query = flags.MakeQuery();
  if (!query.ok()) return Fail(query.error());
  const Result<LlamaOptions> options = flags.engine.Resolve();
  if (!options.ok()) return Fail(options.error());
  const Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(*options);
  if (!engine.ok()) return Fail(engine.error());
  const Result<std::unique_ptr<Cache>> cache = flags.cache.Open(*cache_options, **engine);
  if (!cache.ok()) return Fail(cache.error());
  const Result<Asked> asked = Serve(**cache, *query, !flags.json);
  if (!asked.ok()) return Fail(asked.error());
  if (flags.json) {
    PrintJson(*asked, (*engine)->info());
  } else {
    PrintText(*asked, (*engine)->info(), cache_options->mode);
  }
  return kExitOk;
}

}  // namespace

void AddAsk(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<RequestFlags>();
  CLI::App* command = app.add_subcommand("ask", "Ask one question about pictures; prints the answer and its cost");
  command->add_option("question", flags->question, "The question")->required();
  OptionTable table;
  AddRequestOptions(table, *flags);
  table.AddTo(*command);
  command->callback([flags, table, &exit_code]() mutable {
    Status status = ApplyCompat(table, flags->cache);
    if (status.ok()) status = ApplyPreset(table, flags->engine);
    exit_code = status.ok() ? RunAsk(*flags) : Fail(status.error());
  });
}

}  // namespace afterimage
