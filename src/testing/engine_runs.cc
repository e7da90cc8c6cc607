#include "testing/engine_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace afterimage {
namespace {

bool Failed(const char* what, const Error& error) {
  ADD_FAILURE() << what << ": " << ErrcName(error.code) << ": " << error.message;
  return true;
}

}  // namespace

std::shared_ptr<const Image> NoisePicture(uint32_t seed, uint32_t width, uint32_t height) {
  std::mt19937 random(seed);
  std::vector<uint8_t> rgb(size_t{width} * height * 3);
  for (uint8_t& value : rgb) value = static_cast<uint8_t>(random());
  return Image::FromRgb(width, height, std::move(rgb)).value();
}

Outcome RunRequest(Engine& engine, const Request& request, const Reuse& reuse) {
  Outcome run;
  Result<std::unique_ptr<Prompt>> prompt = engine.Prepare(request);
  if (!prompt.ok() && Failed("Prepare", prompt.error())) return run;
  size_t picture = 0;
  for (size_t i = 0; i < (*prompt)->segments().size() && picture < reuse.fusion.size(); ++i) {
    if ((*prompt)->segments()[i].kind != Segment::Kind::kImage) continue;
    const Status status = engine.fusion().Inject(**prompt, i, reuse.fusion[picture++]);
    if (!status.ok() && Failed("fusion", status.error())) return run;
  }
  Result<std::unique_ptr<Sequence>> sequence = engine.Start(**prompt);
  if (!sequence.ok() && Failed("Start", sequence.error())) return run;
  if (!reuse.rows.empty()) {
    std::vector<SpanKvSource> sources(reuse.rows.begin(), reuse.rows.end());
    std::vector<KvSource*> chunks;
    for (SpanKvSource& source : sources) chunks.push_back(&source);
    const Status status = (*sequence)->Inject(chunks, reuse.logits);
    if (!status.ok() && Failed("Inject", status.error())) return run;
  }
  const Status prefilled = (*sequence)->Prefill();
  if (!prefilled.ok() && Failed("Prefill", prefilled.error())) return run;
  run.logits.assign((*sequence)->logits().begin(), (*sequence)->logits().end());
  Result<Answer> answer = (*sequence)->Generate(request.sampling, nullptr);
  if (!answer.ok() && Failed("Generate", answer.error())) return run;
  run.answer = std::move(*answer);
  Result<std::vector<Rows>> rows = (*sequence)->Capture(0, (*prompt)->segments().size());
  if (!rows.ok() && Failed("Capture", rows.error())) return run;
  run.rows = std::move(*rows);
  run.stats = (*sequence)->stats();
  return run;
}

std::vector<std::vector<NamedTensor>> EncodeAll(Engine& engine, const Request& request) {
  std::vector<std::vector<NamedTensor>> all;
  Result<std::unique_ptr<Prompt>> prompt = engine.Prepare(request);
  if (!prompt.ok() && Failed("Prepare", prompt.error())) return all;
  for (size_t i = 0; i < (*prompt)->segments().size(); ++i) {
    if ((*prompt)->segments()[i].kind != Segment::Kind::kImage) continue;
    Result<std::vector<NamedTensor>> tensors = engine.fusion().Capture(**prompt, i);
    if (!tensors.ok() && Failed("fusion", tensors.error())) return all;
    all.push_back(std::move(*tensors));
  }
  return all;
}

std::vector<Rows> FirstOf(const std::vector<Rows>& rows, size_t n) {
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n)};
}

double MaxDifference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size() || a.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

bool SameBits(std::span<const float> a, std::span<const float> b) {
  return !a.empty() && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace afterimage
