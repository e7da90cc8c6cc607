// `afterimage ask`: one question about some pictures, the answer, and what it cost.
#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "afterimage/clock.h"
#include "afterimage/llama_engine.h"
#include "cli/command.h"
#include "cli/engine_flags.h"

namespace afterimage {
namespace {

struct AskFlags {
  LlamaOptions engine;
  Sampling sampling;
  std::vector<std::string> images;
  std::string system;
  std::string question;
  bool json = false;
};

struct Asked {
  Answer answer;
  SequenceStats stats;
  int prompt_tokens = 0;
  int image_tokens = 0;
  double prepare_ms = 0;
  double ttft_ms = 0;  // time to first token
  double latency_ms = 0;
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

Result<Request> MakeRequest(const AskFlags& flags) {
  std::vector<std::shared_ptr<const Image>> images;
  for (const std::string& path : flags.images) {
    Result<std::shared_ptr<const Image>> image = ReadImage(path);
    if (!image.ok()) return image.error();
    images.push_back(*image);
  }
  Request request = Ask(std::move(images), flags.question);
  if (!flags.system.empty()) request.messages.insert(request.messages.begin(), Message{"system", {flags.system}});
  request.sampling = flags.sampling;
  return request;
}

Result<Asked> Run(Engine& engine, const Request& request, bool stream) {
  const Clock& clock = SteadyClock();
  const auto start = clock.Now();
  const auto since_start = [&] { return Milliseconds(clock.Now() - start); };
  Asked asked;
  Result<std::unique_ptr<Prompt>> prompt = engine.Prepare(request);
  if (!prompt.ok()) return prompt.error();
  asked.prepare_ms = since_start();
  asked.prompt_tokens = (*prompt)->n_tokens();
  for (const Segment& segment : (*prompt)->segments()) {
    if (segment.kind == Segment::Kind::kImage) asked.image_tokens += segment.n_tokens;
  }
  Result<std::unique_ptr<Sequence>> sequence = engine.Start(**prompt);
  if (!sequence.ok()) return sequence.error();
  if (Status status = (*sequence)->Prefill(); !status.ok()) return status.error();
  asked.ttft_ms = since_start();  // the first token is picked from the logits Prefill left
  Result<Answer> answer = (*sequence)->Generate(request.sampling, [&](std::string_view piece) {
    if (stream) {
      fmt::print("{}", piece);
      std::fflush(stdout);
    }
    return true;
  });
  if (!answer.ok()) return answer.error();
  asked.latency_ms = since_start();
  asked.answer = std::move(*answer);
  asked.stats = (*sequence)->stats();
  return asked;
}

void PrintJson(const Asked& asked, const EngineInfo& info) {
  const SequenceStats& stats = asked.stats;
  const nlohmann::ordered_json json = {
      {"answer", asked.answer.text},
      {"finish", FinishName(asked.answer.finish)},
      {"ttft_ms", asked.ttft_ms},
      {"latency_ms", asked.latency_ms},
      {"stages_ms",
       {{"prepare", asked.prepare_ms},
        {"encode", stats.encode_ms},
        {"prefill", stats.prefill_ms},
        {"decode", stats.decode_ms}}},
      {"tokens",
       {{"prompt", asked.prompt_tokens},
        {"reused", stats.tokens_reused},
        {"computed", stats.tokens_computed},
        {"generated", stats.tokens_generated}}},
      {"images", {{"encoded", stats.images_encoded}, {"encode_skipped", stats.images_put_back}}},
      {"engine",
       {{"name", info.name},
        {"model", info.model},
        {"compatibility", info.identity.compatibility.digest().Hex()},
        {"numerics", info.identity.numerics.digest().Hex()},
        {"state_bytes_per_token", info.kv.bytes_per_token()},
        {"cache_refusal", info.cache_refusal}}}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void PrintText(const Asked& asked, const EngineInfo& info) {
  const SequenceStats& stats = asked.stats;
  fmt::print("\n\ntokens   prompt {} (pictures {}, text {}), answer {}\n", asked.prompt_tokens, asked.image_tokens,
             asked.prompt_tokens - asked.image_tokens, stats.tokens_generated);
  fmt::print("time     prepare {:.1f} ms, encode {:.1f} ms, prefill {:.1f} ms, decode {:.1f} ms\n", asked.prepare_ms,
             stats.encode_ms, stats.prefill_ms, stats.decode_ms);
  fmt::print("         first token after {:.1f} ms, answer after {:.1f} ms\n", asked.ttft_ms, asked.latency_ms);
  fmt::print("engine   {}, {}\n", info.name, info.model);
  if (info.cache_refusal.empty()) {
    fmt::print("state    {} bytes a token, {:.1f} MB for this prompt\n", info.kv.bytes_per_token(),
               static_cast<double>(info.kv.bytes_per_token()) * asked.prompt_tokens / 1e6);
  } else {
    fmt::print("state    not cached: {}\n", info.cache_refusal);
  }
}

int RunAsk(const AskFlags& flags) {
  const Result<Request> request = MakeRequest(flags);
  if (!request.ok()) return Fail(request.error());
  const Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(flags.engine);
  if (!engine.ok()) return Fail(engine.error());
  const Result<Asked> asked = Run(**engine, *request, !flags.json);
  if (!asked.ok()) return Fail(asked.error());
  if (flags.json) {
    PrintJson(*asked, (*engine)->info());
  } else {
    PrintText(*asked, (*engine)->info());
  }
  return kExitOk;
}

}  // namespace

void AddAsk(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<AskFlags>();
  CLI::App* command = app.add_subcommand("ask", "Ask one question about pictures; prints the answer and its cost");
  command->add_option("question", flags->question, "The question")->required();
  command->add_option("--model", flags->engine.model_path, "GGUF of the language model")->required();
  command->add_option("--mmproj", flags->engine.mmproj_path, "GGUF of its vision projector");
  command->add_option("--image", flags->images, "A picture (PNG, JPEG, WebP); may be given again")
      ->allow_extra_args(false);
  command->add_option("--system", flags->system, "A system message");
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  AddEngineFlags(*command, flags->engine);
  AddSamplingFlags(*command, flags->sampling);
  command->callback([flags, &exit_code] { exit_code = RunAsk(*flags); });
}

}  // namespace afterimage
