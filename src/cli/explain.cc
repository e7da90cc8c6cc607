// `afterimage explain`: why a request hits or misses, or why a sample of a finished run did.
#include "eval/explain.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/request_flags.h"
#include "core/json_text.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

struct ExplainFlags {
  RequestFlags request;
  std::string samples_file;
};

Result<CacheOptions> DryRun(CacheFlags flags) {
  if (flags.mode.has_value() && flags.mode != CacheMode::kDryRun) {
    return Error{Errc::kInvalidArgument, "explain only looks: leave --cache-mode out, or give dry-run."};
  }
  if (flags.options.folder.empty()) {
    return Error{Errc::kInvalidArgument, "Say which cache the request would go to: give --cache-dir."};
  }
  flags.mode = CacheMode::kDryRun;
  return flags.Resolve();
}

Result<nlohmann::ordered_json> LookUp(const RequestFlags& flags) {
  const Result<CacheOptions> cache_options = DryRun(flags.cache);
  if (!cache_options.ok()) return cache_options.error();
  const Result<Query> query = flags.MakeQuery();
  if (!query.ok()) return query.error();
  const Result<LlamaOptions> options = flags.engine.Resolve();
  if (!options.ok()) return options.error();
  const Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(*options);
  if (!engine.ok()) return engine.error();
  const Result<std::unique_ptr<Cache>> cache = flags.cache.Open(*cache_options, **engine);
  if (!cache.ok()) return cache.error();
  const Result<std::unique_ptr<StartedRequest>> started = (*cache)->TryReuse(*query);
  if (!started.ok()) return started.error();
  return RequestJson(*query, (*started)->report());
}

int RunExplain(const ExplainFlags& flags) {
  const Result<nlohmann::ordered_json> json =
      flags.samples_file.empty() ? LookUp(flags.request) : FindSample(flags.samples_file, flags.request.question);
  if (!json.ok()) return Fail(json.error());
  fmt::print("{}", flags.request.json ? JsonText(*json, 2) + "\n" : Story(*json));
  return kExitOk;
}

}  // namespace

void AddExplain(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = app.add_subcommand(
      "explain", "Say why a request hits or misses, without answering it; or why a sample of a run did");
  command->add_option("question", flags->request.question, "The question; with --samples-file, the id of a sample")
      ->required();
  OptionTable table;
  table.Add("--samples-file", flags->samples_file,
            "Explain a sample of this file, which `run` wrote; no model and no cache is needed");
  AddRequestOptions(table, flags->request);
  table.AddTo(*command);
  command->callback([flags, table, &exit_code]() mutable {
    Status status = ApplyCompat(table, flags->request.cache);
    if (status.ok()) status = ApplyPreset(table, flags->request.engine);
    exit_code = status.ok() ? RunExplain(*flags) : Fail(status.error());
  });
}

}  // namespace afterimage
