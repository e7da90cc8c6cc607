#include "eval/report_json.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "core/json_text.h"
#include "eval/score.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

Json DonorJson(const Donor& donor) {
  return {{"id", donor.id},
          {"question", donor.question},
          {"image_path", donor.image_paths.empty() ? Json() : Json(donor.image_paths.front())}};
}

Json CandidateJson(const CandidateReport& candidate) {
  return {{"donor", DonorJson(candidate.donor)},  {"score", candidate.score},
          {"class", Name(candidate.reuse_class)}, {"substitution", OrNull(candidate.substitution)},
          {"passed", candidate.passed},           {"refused", OrNull(candidate.refused)}};
}

Json LayerJson(const LayerReport& layer) {
  Json candidates = Json::array();
  for (const CandidateReport& candidate : layer.candidates) candidates.push_back(CandidateJson(candidate));
  return {{"layer", layer.key},
          {"status", Name(layer.status)},
          {"reason", OrNull(layer.reason)},
          {"lookup_ms", layer.lookup_ms},
          {"embed_ms", layer.embed_ms},
          {"threshold", layer.threshold},
          {"candidates", std::move(candidates)}};
}

Json LayersJson(const Report& report) {
  Json layers = Json::array();
  for (const LayerReport& layer : report.layers) layers.push_back(LayerJson(layer));
  return layers;
}

Json PlanJson(const PlanReport& plan) {
  return {{"class", Name(plan.reuse_class)},           {"substitution", OrNull(plan.substitution)},
          {"segments_reused", plan.segments_reused},   {"tokens_reused", plan.tokens_reused},
          {"tokens_computed", plan.tokens_computed},   {"images_encoded", plan.images_encoded},
          {"images_put_back", plan.images_put_back},   {"bytes", plan.bytes},
          {"predicted_ms", OrNull(plan.predicted_ms)}, {"outcome", plan.outcome}};
}

Json PlansJson(const Report& report) {
  Json weighed = Json::array();
  for (const PlanReport& plan : report.plans) weighed.push_back(PlanJson(plan));
  return {
      {"predicted_ms", OrNull(report.predicted_ms)}, {"actual_ms", report.actual_ms}, {"weighed", std::move(weighed)}};
}

Json StatusesJson(const Report& report) {
  Json statuses = Json::object();
  for (const LayerReport& layer : report.layers) statuses[layer.key] = Name(layer.status);
  return statuses;
}

Json TokensJson(const Report& report) {
  return {{"prompt", report.prompt_tokens},
          {"reused", report.stats.tokens_reused},
          {"computed", report.stats.tokens_computed},
          {"generated", report.stats.tokens_generated}};
}

Json ImagesJson(const Report& report) {
  return {{"encoded", report.stats.images_encoded}, {"encode_skipped", report.stats.images_put_back}};
}

Json BytesJson(const Report& report) { return {{"loaded", report.bytes_loaded}, {"stored", report.bytes_stored}}; }

Json StagesJson(const Report& report) {
  Json lookup = Json::object();
  for (const LayerReport& layer : report.layers) lookup[layer.key] = layer.lookup_ms;
  return {{"prepare", report.prepare_ms},       {"lookup", std::move(lookup)},      {"plan", report.plan_ms},
          {"load", report.stats.load_ms},       {"inject", report.stats.inject_ms}, {"encode", report.stats.encode_ms},
          {"prefill", report.stats.prefill_ms}, {"decode", report.stats.decode_ms}, {"observe", report.observe_ms}};
}

// What every gate said, candidate by candidate.
Json GatesJson(const Report& report) {
  Json gates = Json::array();
  for (const LayerReport& layer : report.layers) {
    for (const CandidateReport& candidate : layer.candidates) {
      gates.push_back({{"layer", layer.key},
                       {"donor", candidate.donor.id},
                       {"admitted", candidate.refused.empty()},
                       {"reason", OrNull(candidate.refused)}});
    }
    if (layer.candidates.empty() && layer.status == LayerStatus::kRefused) {
      gates.push_back({{"layer", layer.key}, {"donor", Json()}, {"admitted", false}, {"reason", layer.reason}});
    }
  }
  return gates;
}

Json CandidatesJson(const Report& report) {
  Json candidates = Json::array();
  for (const LayerReport& layer : report.layers) {
    for (const CandidateReport& candidate : layer.candidates) {
      Json json = {{"layer", layer.key}};
      json.update(CandidateJson(candidate));
      candidates.push_back(std::move(json));
    }
  }
  return candidates;
}

const char* Match(const std::optional<double>& correct) {
  return !correct.has_value() ? "None" : CountsAsRight(*correct) ? "True" : "False";
}

}  // namespace

Json ReportJson(const Report& report) {
  return {{"class", Name(report.reuse_class)},
          {"hit", report.hit()},
          {"hit_source", OrNull(report.provenance)},
          {"statuses", StatusesJson(report)},
          {"layers", LayersJson(report)},
          {"substitution", OrNull(report.substitution)},
          {"donor", report.donor.has_value() ? DonorJson(*report.donor) : Json()},
          {"score", report.donor.has_value() ? Json(report.score) : Json()},
          {"plan", PlansJson(report)},
          {"other_numerics", report.other_numerics},
          {"tokens", TokensJson(report)},
          {"images", ImagesJson(report)},
          {"bytes", BytesJson(report)},
          {"stages_ms", StagesJson(report)},
          {"ttft_ms", report.ttft_ms},
          {"latency_ms", report.latency_ms}};
}

std::string StatusLine(const Report& report) {
  std::string line;
  for (const LayerReport& layer : report.layers) {
    line += fmt::format("{}{}={}", line.empty() ? "" : ", ", layer.key, Name(layer.status));
  }
  return line;
}

std::string LogLine(const SampleOutcome& outcome) {
  if (outcome.error.has_value()) {
    return fmt::format("[{}] error | {}", outcome.sample.id.empty() ? "?" : outcome.sample.id, outcome.error->message);
  }
  const Report& report = outcome.report;
  return fmt::format("[{}] {} | latency={:.3f}s | answer match={} | {}", outcome.sample.id,
                     report.hit() ? fmt::format("hit ({})", report.provenance) : "miss", report.latency_ms / 1000,
                     Match(outcome.correct), StatusLine(report));
}

std::string SampleLine(const SampleOutcome& outcome) {
  const Sample& sample = outcome.sample;
  Json json = {{"dataset_id", OrNull(sample.id)}, {"image_id", OrNull(sample.image_id)}, {"question", sample.question}};
  if (outcome.error.has_value()) {
    json["error"] = outcome.error->message;
    json["image_path"] = OrNull(sample.image_path);
  } else {
    const Report& report = outcome.report;
    json["chunk_text"] = outcome.chunk_text;
    json["prompt"] = outcome.prompt;
    json["hit"] = report.hit();
    json["hit_source"] = OrNull(report.provenance);
    if (!sample.expected_hit.empty()) json["expected_hit"] = sample.expected_hit;
    json["class"] = Name(report.reuse_class);
    json["latency"] = report.latency_ms / 1000;
    json["ttft"] = report.ttft_ms / 1000;
    json["response"] = outcome.answer.text;
    json["response_tokens"] = outcome.answer.tokens;
    json["reference"] = OrNull(sample.answer);
    json["is_correct"] = outcome.correct.has_value() ? Json(CountsAsRight(*outcome.correct)) : Json();
    if (!sample.answers.empty()) json["vqa_score"] = OrNull(outcome.correct);
    json["is_balanced"] = sample.is_balanced;
    json["statuses"] = StatusesJson(report);
    json["layers"] = LayersJson(report);
    json["donor"] = report.donor.has_value() ? DonorJson(*report.donor) : Json();
    json["score"] = report.donor.has_value() ? Json(report.score) : Json();
    json["substitution"] = OrNull(report.substitution);
    if (!report.substitution.empty()) json["label"] = OrNull(outcome.verdict.same);
    json["candidates"] = CandidatesJson(report);
    json["gates"] = GatesJson(report);
    json["plan"] = PlansJson(report);
    json["tokens"] = TokensJson(report);
    json["images"] = ImagesJson(report);
    json["bytes"] = BytesJson(report);
    json["stages_ms"] = StagesJson(report);
    json["image_path"] = OrNull(sample.image_path);
    if (outcome.baseline.has_value()) {
      json["baseline_response"] = outcome.baseline->answer.text;
      json["baseline_latency"] = outcome.baseline->latency_ms / 1000;
      json["baseline_ttft"] = outcome.baseline->ttft_ms / 1000;
      json["baseline_tokens_computed"] = outcome.baseline->tokens_computed;
      json["agrees"] = outcome.agrees();
    }
  }
  json["metadata"] = sample.metadata.empty() ? Json() : Json::parse(sample.metadata, nullptr, false);
  return JsonText(json);
}

}  // namespace afterimage
