// Resolve: the layers are asked, and every candidate that is admitted becomes a request that may be answered.
//
// Hashes first: the state of the request itself, then equal text. Vectors are looked for only where something is left
// to save: not when the whole request is stored, and for pictures not when this very picture is.
#include <algorithm>

#include "cache/cache_impl.h"

namespace afterimage {
namespace {

constexpr size_t kMaxSubstitutes = 2;  // of one kind (question, picture, both) prepared for one request

bool CoversAllPictures(const StoredState& state, size_t n) {
  for (size_t i = n; i < state.segments.size(); ++i) {
    if (state.segments[i].kind == Segment::Kind::kImage) return false;
  }
  return true;
}

}  // namespace

// What the layers found for one request.
struct CacheImpl::Findings {
  struct Found {
    size_t slot = 0;
    size_t report = 0;  // which of the layer's candidates
    Candidate candidate;
  };
  std::vector<Found> questions;  // admitted matches of text
  std::vector<Found> pictures;   // of pictures
  std::vector<Found> both;       // of both at once
};

CacheImpl::Resolved CacheImpl::Resolve(const Query& query, StartedRequestImpl& started) {
  Report& report = started.report_;
  for (const LayerSlot& slot : slots_) report.layers.push_back({.key = slot.key, .reason = slot.off});
  for (const char* key : {"prefix", "fusion", "kv_cache"}) report.layers.push_back({.key = key});
  Resolved resolved;
  resolved.request = &query.request;
  {
    const StageTimer timer(surroundings_.clock, report.layers[slots_.size()].lookup_ms);
    resolved.options.push_back({.state = finder_->Find(*started.prompt_, {})});
  }
  Choice own;
  own.record.text = QuestionOf(query.request);
  own.record.donor = {query.id, query.question.empty() ? own.record.text : query.question, query.image_paths};
  own.record.chunk_text = query.chunk_text.empty() ? own.record.donor.question : query.chunk_text;
  own.images = ImagesOf(query.request);
  for (const std::shared_ptr<const Image>& image : own.images) {
    own.pictures.push_back(image->digest());
    own.record.sizes.push_back({image->width(), image->height()});
  }
  own.prompt = std::move(started.prompt_);
  resolved.choices.push_back(std::move(own));
  started.metadata_ = query.metadata;

  Findings findings;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].layer != nullptr) AskLayer(i, started, resolved, findings);
  }
  Substitute(findings, started, resolved);
  return resolved;
}

// Empty: there is something to ask this layer for.
std::string CacheImpl::WhyNotAsk(const Layer& layer, const Resolved& resolved) const {
  const Choice& own = resolved.choices[0];
  const StoredState& state = resolved.options[0].state;
  if (layer.modality() != Modality::kImage && own.record.text.empty()) return "the request has no question";
  if (layer.modality() == Modality::kImage && own.pictures.empty()) return "the request has no picture";
  // Exact first: where the whole prompt is stored there is nothing left to gain.
  if (resolved.options[0].equal_donor && state.held() == state.segments.size()) return "not needed";
  if (layer.modality() == Modality::kImage &&
      CoversAllPictures(state, AllowedSegments(resolved.options[0], policy()))) {
    return "not needed";
  }
  return "";
}

LayerQuery CacheImpl::LayerQueryOf(const Choice& choice, StartedRequestImpl& started) {
  LayerQuery query = MakeLayerQuery(choice.record, choice.images, choice.pictures, started.metadata_, started.memo_);
  query.input.encoder_output = [this, &started, prompt = choice.prompt.get()] {
    return EncoderOutput(*prompt, started);
  };
  return query;
}

Result<std::vector<NamedTensor>> CacheImpl::EncoderOutput(Prompt& prompt, StartedRequestImpl& started) {
  std::vector<NamedTensor> all;
  for (size_t i = 0; i < prompt.segments().size(); ++i) {
    if (prompt.segments()[i].kind != Segment::Kind::kImage) continue;
    double ms = 0;
    Result<std::vector<NamedTensor>> tensors = [&] {
      const StageTimer timer(surroundings_.clock, ms);
      return engine_.fusion().Capture(prompt, i);
    }();
    if (!tensors.ok()) return tensors.error();
    started.encoded_ms_.try_emplace(i, ms);
    for (NamedTensor& tensor : *tensors) all.push_back(std::move(tensor));
  }
  return all;
}

void CacheImpl::AskLayer(size_t slot, StartedRequestImpl& started, Resolved& resolved, Findings& findings) {
  Layer& layer = *slots_[slot].layer;
  LayerReport& report = started.report_.layers[slot];
  report.threshold = layer.threshold();
  report.reason = WhyNotAsk(layer, resolved);
  if (!report.reason.empty()) return;
  const StageTimer timer(surroundings_.clock, report.lookup_ms);
  const Choice& own = resolved.choices[0];
  Result<std::vector<Candidate>> candidates = layer.Lookup(LayerQueryOf(own, started));
  report.embed_ms = started.memo_.ms(layer.key());
  if (!candidates.ok()) {
    report.status = candidates.error().code == Errc::kNotFound ? LayerStatus::kSkip : LayerStatus::kMiss;
    report.reason = candidates.error().message;
    return;
  }
  report.status = LayerStatus::kMiss;
  const Asked asked = {own.record.text, own.pictures, resolved.options[0].state.leaf()};
  for (Candidate& candidate : *candidates) {
    const CandidateReport judged = Judge(candidate, asked, layer, options_.loosest);
    report.candidates.push_back(judged);
    if (judged.reuse_class == ReuseClass::kExact) {
      if (!resolved.options[0].equal_donor) resolved.choices[0].sources = {{slot, judged}};
      resolved.options[0].equal_donor = true;
    } else if (judged.refused.empty()) {
      const Modality modality = layer.modality();
      (modality == Modality::kText    ? findings.questions
       : modality == Modality::kImage ? findings.pictures
                                      : findings.both)
          .push_back({slot, report.candidates.size() - 1, std::move(candidate)});
    }
  }
}

void CacheImpl::Substitute(const Findings& findings, StartedRequestImpl& started, Resolved& resolved) {
  const StoredState& state = resolved.options[0].state;
  if (resolved.options[0].equal_donor && state.held() == state.segments.size()) return;
  const auto add = [&](const std::vector<Findings::Found>& found, bool question, bool picture) {
    const size_t limit = resolved.options.size() + kMaxSubstitutes;
    for (size_t i = 0; i < found.size() && resolved.options.size() < limit; ++i) {
      AddChoice(found[i].candidate,
                {{found[i].slot, started.report_.layers[found[i].slot].candidates[found[i].report]}}, question, picture,
                started, resolved);
    }
  };
  add(findings.questions, true, false);
  add(findings.pictures, false, true);
  add(findings.both, true, true);
  for (const Findings::Found& found : findings.pictures)
    AddJoined(found.candidate, found.slot, found.report, started, resolved);
}

// Donors of like text about a picture that was admitted.
void CacheImpl::AddJoined(const Candidate& picture, size_t picture_slot, size_t picture_report,
                          StartedRequestImpl& started, Resolved& resolved) {
  const Choice& own = resolved.choices[0];
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    LayerReport& report = started.report_.layers[slot];
    if (slots_[slot].layer == nullptr || slots_[slot].layer->modality() != Modality::kText) continue;
    const StageTimer timer(surroundings_.clock, report.lookup_ms);
    LayerQuery query = LayerQueryOf(own, started);
    query.pictures = picture.pictures;
    const Result<std::vector<Candidate>> candidates = slots_[slot].layer->Lookup(query);
    if (!candidates.ok()) continue;
    const Asked asked = {own.record.text, picture.pictures, {}};
    size_t n_added = 0;
    for (const Candidate& candidate : *candidates) {
      CandidateReport judged = Judge(candidate, asked, *slots_[slot].layer, options_.loosest);
      judged.reuse_class = ReuseClass::kApproximate;
      if (!judged.refused.empty() || n_added == kMaxSubstitutes) continue;
      report.candidates.push_back(judged);
      const CandidateReport seen = started.report_.layers[picture_slot].candidates[picture_report];
      AddChoice(candidate, {{slot, judged}, {picture_slot, seen}}, true, true, started, resolved);
      ++n_added;
    }
  }
}

void CacheImpl::AddChoice(const Candidate& candidate, std::vector<Source> sources, bool question, bool picture,
                          StartedRequestImpl& started, Resolved& resolved) {
  const Choice& own = resolved.choices[0];
  Choice choice;
  choice.record = question ? candidate.record : own.record;
  choice.pictures = own.pictures;
  choice.images = own.images;
  Request request = question ? WithQuestion(*resolved.request, candidate.record.text) : *resolved.request;
  if (picture) {
    request = WithPictures(request, candidate.pictures, candidate.record.sizes);
    choice.record.donor.image_paths = candidate.record.donor.image_paths;
    choice.record.sizes = candidate.record.sizes;
    choice.pictures = candidate.pictures;
    choice.images = ImagesOf(request);
  }
  const auto same = [&](const Choice& other) {
    return other.record.text == choice.record.text && other.pictures == choice.pictures;
  };
  if (const auto known = std::ranges::find_if(resolved.choices, same); known != resolved.choices.end()) {
    // Found by another layer too. The request asked is nobody's find.
    if (known != resolved.choices.begin()) known->sources.insert(known->sources.end(), sources.begin(), sources.end());
    return;
  }
  Result<std::unique_ptr<Prompt>> prompt = engine_.Prepare(request);
  if (!prompt.ok()) {
    for (CandidateReport& report : started.report_.layers[sources[0].slot].candidates) {
      if (report.donor == sources[0].candidate.donor) report.refused = prompt.error().message;
    }
    return;
  }
  Option option = {.reuse_class = sources[0].candidate.reuse_class, .state = finder_->Find(**prompt, {})};
  option.equal_donor = option.state.leaf() == candidate.leaf;
  option.n_substituted = (question ? 1 : 0) + (picture ? 1 : 0);
  option.other_picture = picture;
  choice.prompt = std::move(*prompt);
  choice.sources = std::move(sources);
  choice.substitution = question && picture ? "question and picture" : picture ? "picture" : "question";
  resolved.options.push_back(std::move(option));
  resolved.choices.push_back(std::move(choice));
}

}  // namespace afterimage
