#include "eval/answer_replay.h"

#include <chrono>

namespace afterimage {

std::optional<Served> AnswerReplay::Find(const Query& query, const Clock& clock) const {
  const std::chrono::nanoseconds start = clock.Now();
  const auto found = by_question_.find(query.question);
  if (found == by_question_.end()) return std::nullopt;
  const Kept& kept = found->second;
  Served served;
  served.answer = kept.answer;
  Report& report = served.report;
  report.provenance = "answer:replay";
  report.donor = kept.donor;
  report.score = 1;
  const bool same_picture = kept.donor.image_paths == query.image_paths;
  report.reuse_class = same_picture ? ReuseClass::kExact : ReuseClass::kApproximate;
  report.substitution = same_picture ? "" : "picture";
  LayerReport layer;
  layer.key = "answer_replay";
  layer.status = LayerStatus::kHit;
  report.layers.push_back(std::move(layer));
  report.prompt_tokens = kept.prompt_tokens;
  report.stats.tokens_reused = kept.prompt_tokens;
  report.ttft_ms = std::chrono::duration<double, std::milli>(clock.Now() - start).count();
  report.latency_ms = report.ttft_ms;
  report.layers.back().lookup_ms = report.ttft_ms;
  return served;
}

void AnswerReplay::Keep(const Query& query, const Served& served) {
  by_question_.try_emplace(
      query.question, Kept{served.answer, {query.id, query.question, query.image_paths}, served.report.prompt_tokens});
}

}  // namespace afterimage
