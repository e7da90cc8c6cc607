// Resolve: the layers are asked, and every candidate that is admitted becomes a request that may be answered.
//
// Hashes first: the state of the request itself, then equal text. Vectors are looked for only where something is left
// to save: not when the whole request is stored, and for pictures not when this very picture is.
#include <fmt/format.h>

#include <algorithm>

#include "cache/cache_impl.h"
#include "core/sha256.h"
#include "gates/picture_signature.h"

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
  Asked asked;
  struct Found {
    size_t slot = 0;
    size_t report = 0;  // which of the layer's candidates
    size_t rank = 0;    // in the order they were found
    Candidate candidate;
  };
  std::vector<Found> questions;  // admitted matches of text
  std::vector<Found> pictures;   // of pictures
  std::vector<Found> both;       // of both at once
  size_t n_found = 0;
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

  const Choice& first = resolved.choices[0];
  Findings findings;
  findings.asked = {&query, first.record.text, first.record.donor.question, first.pictures,
                    resolved.options[0].state.leaf()};
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].layer != nullptr) AskLayer(i, started, resolved, findings);
  }
  Substitute(findings, started, resolved);
  return resolved;
}

Judge CacheImpl::JudgeOf(const Choice& own, StartedRequestImpl& started) {
  return {options_, guard_.has_value() ? &*guard_ : nullptr,
          [this, &own, &started](size_t picture, const Digest& other) -> std::optional<double> {
            const Result<std::optional<VectorRow>> kept = disk_->FindVector(SignatureRef(other));
            if (!kept.ok() || !kept->has_value() || (*kept)->values.size() != kSignatureSize) return std::nullopt;
            std::vector<float>& signature = started.signatures_[picture];
            if (signature.empty()) signature = SignatureOf(*own.images[picture]);
            return Compare(signature, (*kept)->values).largest;
          }};
}

VectorRef CacheImpl::SignatureRef(const Digest& picture) const {
  return {Sha256().Add("signature").Add(std::string_view(kSignatureIdentity)).Add(options_.tenant).Finish(), picture};
}

// The most that a substitution could still save: what the best plan without one takes.
double CacheImpl::LeftToSaveMs(const Resolved& resolved) {
  const std::scoped_lock lock(mutex_);
  return Decide({resolved.options.data(), 1}, rates_, policy()).front().predicted.ms;
}

// Empty: there is something to ask this layer for.
std::string CacheImpl::WhyNotAsk(const Layer& layer, const Resolved& resolved) {
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
  // Staged: a layer that takes longer than could be saved is not asked. What it takes is known once it was.
  if (options_.greedy || options_.oracle || layer.threshold() == 0) return "";
  const Prediction lookup = [&] {
    const std::scoped_lock lock(mutex_);
    return rates_.Predict("lookup." + std::string(layer.key()), 1);
  }();
  const double left_ms = LeftToSaveMs(resolved);
  if (lookup.measured && left_ms * (1 - options_.min_gain) - options_.min_gain_ms < lookup.ms) {
    return fmt::format("not worth it: looking takes {:.1f} ms, and {:.1f} ms are left to save", lookup.ms, left_ms);
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
  LayerQuery query = LayerQueryOf(own, started);
  query.any_donor = options_.image_gate == ImageGate::kOff;
  Result<std::vector<Candidate>> candidates = layer.Lookup(query);
  report.embed_ms = started.memo_.ms(layer.key());
  if (!candidates.ok()) {
    report.status = candidates.error().code == Errc::kNotFound ? LayerStatus::kSkip : LayerStatus::kMiss;
    report.reason = candidates.error().message;
    return;
  }
  report.status = LayerStatus::kMiss;
  const Judge judge = JudgeOf(own, started);
  for (Candidate& candidate : *candidates) {
    const CandidateReport judged = judge.Report(candidate, findings.asked, layer);
    report.candidates.push_back(judged);
    if (judged.reuse_class == ReuseClass::kExact) {
      if (resolved.options[0].equal_donor) continue;
      resolved.choices[0].sources = {{slot, judged}};
      resolved.options[0].equal_donor = true;
      resolved.options[0].score = judged.score;
      resolved.options[0].rank = findings.n_found++;
    } else if (judged.refused.empty()) {
      const License license = judge.LicenseOf(candidate, findings.asked, layer);
      (license.question ? license.picture ? findings.both : findings.questions : findings.pictures)
          .push_back({slot, report.candidates.size() - 1, findings.n_found++, std::move(candidate)});
    }
  }
}

void CacheImpl::Substitute(Findings& findings, StartedRequestImpl& started, Resolved& resolved) {
  const StoredState& state = resolved.options[0].state;
  if (!options_.greedy && resolved.options[0].equal_donor && state.held() == state.segments.size()) return;
  const auto add = [&](const std::vector<Findings::Found>& all, License license) {
    const size_t limit = resolved.options.size() + kMaxSubstitutes;
    for (size_t i = 0; i < all.size() && resolved.options.size() < limit; ++i) {
      const CandidateReport& judged = started.report_.layers[all[i].slot].candidates[all[i].report];
      AddChoice(all[i].candidate, {{all[i].slot, judged}}, license, all[i].rank, started, resolved);
    }
  };
  add(findings.questions, {.question = true, .picture = false});
  add(findings.pictures, {.question = false, .picture = true});
  add(findings.both, {.question = true, .picture = true});
  for (const Findings::Found& picture : findings.pictures) {
    AddJoined(picture.candidate, picture.slot, picture.report, findings, started, resolved);
  }
}

// Donors of like text about a picture that was admitted.
void CacheImpl::AddJoined(const Candidate& picture, size_t picture_slot, size_t picture_report, Findings& findings,
                          StartedRequestImpl& started, Resolved& resolved) {
  const Choice& own = resolved.choices[0];
  const Judge judge = JudgeOf(own, started);
  Asked asked = findings.asked;
  asked.pictures = picture.pictures;
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    LayerReport& report = started.report_.layers[slot];
    // A layer that was not asked about this picture has no vector yet, and one more substitution is worth less.
    if (slots_[slot].layer == nullptr || slots_[slot].layer->modality() != Modality::kText ||
        report.status == LayerStatus::kSkip) {
      continue;
    }
    const StageTimer timer(surroundings_.clock, report.lookup_ms);
    LayerQuery query = LayerQueryOf(own, started);
    query.pictures = picture.pictures;
    const Result<std::vector<Candidate>> candidates = slots_[slot].layer->Lookup(query);
    if (!candidates.ok()) continue;
    size_t n_added = 0;
    for (const Candidate& candidate : *candidates) {
      CandidateReport judged = judge.Report(candidate, asked, *slots_[slot].layer);
      if (!judged.refused.empty() || n_added == kMaxSubstitutes || candidate.record.text == asked.text) continue;
      judged.reuse_class = ReuseClass::kApproximate;
      judged.substitution = Name(License{true, true});
      report.candidates.push_back(judged);
      const CandidateReport seen = started.report_.layers[picture_slot].candidates[picture_report];
      AddChoice(candidate, {{slot, judged}, {picture_slot, seen}}, {.question = true, .picture = true},
                findings.n_found++, started, resolved);
      ++n_added;
    }
  }
}

void CacheImpl::AddChoice(const Candidate& candidate, std::vector<Source> sources, License license, size_t rank,
                          StartedRequestImpl& started, Resolved& resolved) {
  const Choice& own = resolved.choices[0];
  Choice choice;
  choice.record = license.question ? candidate.record : own.record;
  choice.pictures = own.pictures;
  choice.images = own.images;
  Request request = license.question ? WithQuestion(*resolved.request, candidate.record.text) : *resolved.request;
  if (license.picture) {
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
  option.n_substituted = (license.question ? 1 : 0) + (license.picture ? 1 : 0);
  option.other_picture = license.picture;
  option.score = sources[0].candidate.score;
  option.rank = rank;
  choice.prompt = std::move(*prompt);
  choice.sources = std::move(sources);
  choice.substitution = Name(license);
  resolved.options.push_back(std::move(option));
  resolved.choices.push_back(std::move(choice));
}

}  // namespace afterimage
