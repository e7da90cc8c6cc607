#include "cli/bench_tools.h"

#include <fmt/core.h>

#include <filesystem>
#include <random>

#include "afterimage/llama_engine.h"
#include "engine/llama/random_model.h"

namespace afterimage {

Result<BenchModel> LoadBenchModel(const std::string& shape_name, const std::string& models_dir, int threads) {
  const std::optional<RandomModelShape> shape = NamedShape(shape_name);
  if (!shape.has_value() || shape->family == RandomModelShape::Family::kText) {
    return Error{Errc::kInvalidArgument, fmt::format("--shape {}: give demo, 0.5b or 2b", shape_name)};
  }
  const Result<RandomModelFiles> files = WriteRandomModel(*shape, models_dir);
  if (!files.ok()) return files.error();
  LlamaOptions options;
  options.model_path = files->model_path;
  options.mmproj_path = files->mmproj_path;
  options.context_tokens = 1024;
  options.threads = threads;
  Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(options);
  if (!engine.ok()) return engine.error();
  BenchModel model = {std::move(*engine), shape->image_size, 0};
  for (const auto& [field, value] : model.engine->info().identity.numerics.fields()) {
    if (field == "threads") model.threads = std::stoi(value);
  }
  return model;
}

std::string DefaultModelsDir() {
  const std::filesystem::path digests = LlamaOptions::DefaultFileDigestCache();
  return digests.empty() ? "models-cache" : (digests.parent_path() / "models").string();
}

std::shared_ptr<const Image> BenchPicture(int size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> rgb(static_cast<size_t>(size) * static_cast<size_t>(size) * 3);
  for (uint8_t& value : rgb) value = static_cast<uint8_t>(random());
  return Image::FromRgb(static_cast<uint32_t>(size), static_cast<uint32_t>(size), std::move(rgb)).value();
}

int TextTokens(const Prompt& prompt) {
  int n = 0;
  for (const Segment& segment : prompt.segments()) n += segment.kind == Segment::Kind::kText ? segment.n_tokens : 0;
  return n;
}

Result<Request> QuestionOfLength(Engine& engine, const std::shared_ptr<const Image>& picture, int tokens, int number) {
  std::string text = fmt::format("{}", number % 10);
  for (;;) {
    Request request = Ask({picture}, text);
    request.sampling.max_tokens = 1;
    const Result<std::unique_ptr<Prompt>> prompt = engine.Prepare(request);
    if (!prompt.ok()) return prompt.error();
    const int n = TextTokens(**prompt);
    if (n == tokens) return request;
    if (n > tokens) return Error{Errc::kInvalidArgument, fmt::format("--text-tokens {}: give {} or more", tokens, n)};
    text += static_cast<char>('a' + (number * 7 + n * 5) % 26);
  }
}

Summary Ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return Summarize(std::move(ratios));
}

std::string Short(double value) {
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string Short(const Summary& summary, const char* unit) {
  return fmt::format("{}{} [{}, {}]", Short(summary.median), unit, Short(summary.low), Short(summary.high));
}

nlohmann::ordered_json ToJson(const Summary& summary) {
  return {{"median", summary.median}, {"low", summary.low}, {"high", summary.high}};
}

}  // namespace afterimage
