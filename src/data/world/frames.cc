// The streams about pictures made to resemble each other: clips, twins, lookalikes.
#include <fmt/format.h>

#include <algorithm>

#include "data/world/sample.h"
#include "data/world/split_builder.h"

namespace afterimage::world {
namespace {

constexpr int kFrames = 24;
constexpr double kFramesPerSecond = 8;
constexpr int kMaxDrift = 4 * kSubpixels;
constexpr size_t kQuestionsPerClip = 4;

// What happens in a clip, in turn.
constexpr const char* kEvents[] = {"vanishes", "recolored", "crosses", "motion"};

// Applies an event to one object. False when the scene does not allow it.
bool Happen(const std::string& event, Scene& scene, Rng& rng) {
  const auto object = static_cast<size_t>(rng.Below(static_cast<int>(scene.objects.size())));
  if (event == "vanishes") {
    if (scene.objects.size() < 3) return false;
    scene.objects.erase(scene.objects.begin() + static_cast<std::ptrdiff_t>(object));
    return true;
  }
  if (event == "recolored") {
    scene.objects[object].color = (scene.objects[object].color + rng.Between(1, 7)) % 8;
    return true;
  }
  return event != "crosses" || MoveAcross(scene, object, rng);
}

// A frame of the scene: small motion, flicker, fresh noise.
struct Drift {
  std::vector<std::pair<int, int>> by;  // 1/16 pixel, per object

  Scene Apply(const Scene& scene, Rng& rng) {
    by.resize(std::max(by.size(), scene.objects.size()));
    Scene frame = scene;
    frame.seed = static_cast<uint32_t>(rng.Next() >> 33);
    if (scene.pattern == Scene::Pattern::kBlotches) frame.seed = scene.seed;  // the wall does not move
    frame.gain = scene.gain + rng.Between(-5, 5);
    for (size_t i = 0; i < frame.objects.size(); ++i) {
      by[i].first = std::clamp(by[i].first + rng.Between(-10, 10), -kMaxDrift, kMaxDrift);
      by[i].second = std::clamp(by[i].second + rng.Between(-10, 10), -kMaxDrift, kMaxDrift);
      frame.objects[i].x += by[i].first;
      frame.objects[i].y += by[i].second;
    }
    return frame;
  }
};

}  // namespace

void SplitBuilder::MakeClip(size_t clip, Rng& rng) {
  Stream& stream = split_.streams["clips"];
  std::string event = kEvents[clip % std::size(kEvents)];
  const Scene before = SampleScene(rng);
  Scene after = before;
  if (!Happen(event, after, rng)) event = "motion";
  const int happens_at = rng.Between(8, 16);

  // Questions that can be asked all along: half of them, where possible, notice what happens.
  std::vector<Question> changing;
  std::vector<Question> steady;
  for (const Question& question : Propose(before, words_, rng)) {
    if (!CanAsk(question, after)) continue;
    (AnswerOf(question, before) == AnswerOf(question, after) ? steady : changing).push_back(question);
  }
  changing = Mix(std::move(changing), rng);
  steady = Mix(std::move(steady), rng);
  std::vector<Question> questions(changing.begin(),
                                  changing.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(changing.size(), 2)));
  for (size_t i = 0; i < steady.size() && questions.size() < kQuestionsPerClip; ++i) questions.push_back(steady[i]);

  const std::string video = fmt::format("{}-clip{:03}", split_.name, clip);
  Drift drift;
  std::vector<std::string> last(questions.size());
  std::vector<std::string> last_answer(questions.size());
  for (int number = 0; number < kFrames; ++number) {
    const bool happened = event != "motion" && number >= happens_at;
    const Scene frame = drift.Apply(happened ? after : before, rng);
    const Edit edit = number == 0 ? Edit{} : Edit{Edit::Kind::kJpeg, rng.Between(80, 95)};
    const size_t picture = AddPicture(kClips, frame, edit);
    for (size_t i = 0; i < questions.size(); ++i) {
      if (!CanAsk(questions[i], frame)) continue;  // drifted between left and right
      Entry entry =
          MakeEntry(kClips, stream.entries.size(), picture, questions[i], (clip + i) % Wordings(questions[i]));
      entry.frame = Frame{video, number, number / kFramesPerSecond, fmt::format("{}-{}", video, happened ? 1 : 0)};
      if (!last[i].empty()) {
        const bool now = event != "motion" && number == happens_at;
        stream.pairs.push_back(Pair{last[i], entry.id, now ? event : "motion", last_answer[i] == entry.answer.text});
      }
      last[i] = entry.id;
      last_answer[i] = entry.answer.text;
      stream.entries.push_back(std::move(entry));
    }
  }
}

void SplitBuilder::MakeClips() {
  Rng rng = rng_.Fork();
  const size_t clips = std::max(2, scenes_ / 16);
  for (size_t clip = 0; clip < clips; ++clip) MakeClip(clip, rng);
}

void SplitBuilder::MakeTwins() {
  Rng rng = rng_.Fork();
  Stream& stream = split_.streams["twins"];
  size_t serial = 0;
  constexpr int kSides[] = {160, 192, 256, 320};
  for (int i = 0; i < std::max(4, scenes_ / 4); ++i) {
    const Scene original = SampleScene(rng);
    std::vector<Question> questions = Mix(Propose(original, words_, rng), rng);
    questions.resize(std::min<size_t>(questions.size(), 2));
    Scene brighter = original;
    brighter.gain += rng.Between(16, 36);
    const size_t base = AddPicture(kTwins, original);
    const std::pair<const char*, size_t> twins[] = {
        {"compressed", AddPicture(kTwins, original, Edit{Edit::Kind::kJpeg, rng.Between(60, 92)})},
        {"resized", AddPicture(kTwins, original, Edit{Edit::Kind::kResized, kSides[i % 4]})},
        {"cropped", AddPicture(kTwins, original, Edit{Edit::Kind::kCropped, rng.Between(2, 6)})},
        {"brighter", AddPicture(kTwins, brighter)}};
    for (const Question& question : questions) {
      const size_t wording = serial % Wordings(question);
      stream.entries.push_back(MakeEntry(kTwins, serial++, base, question, wording));
      const std::string first = stream.entries.back().id;
      for (const auto& [kind, twin] : twins) {
        stream.entries.push_back(MakeEntry(kTwins, serial++, twin, question, wording));
        stream.pairs.push_back(Pair{first, stream.entries.back().id, kind, true});
      }
    }
  }
}

void SplitBuilder::MakeLookalikes() {
  Rng rng = rng_.Fork();
  Stream& stream = split_.streams["lookalikes"];
  size_t serial = 0;
  constexpr const char* kDifferences[] = {"color", "kind", "size", "vanished"};
  const auto wanted = static_cast<size_t>(std::max(4, scenes_ / 4));
  for (size_t made = 0; made < wanted;) {
    const Scene original = SampleScene(rng);
    Scene other = original;
    // A small object: the pictures differ in a few hundred of fifty thousand pixels.
    const auto small =
        std::find_if(other.objects.begin(), other.objects.end(), [](const Object& o) { return o.size == 0; });
    if (small == other.objects.end() || other.objects.size() < 3) continue;
    const std::string difference = kDifferences[made % std::size(kDifferences)];
    if (difference == "color") small->color = (small->color + rng.Between(1, 7)) % 8;
    if (difference == "kind") small->kind = (small->kind + rng.Between(1, 11)) % 12;
    if (difference == "size") {
      small->size = 1;
      small->r = rng.Between(27 * kSubpixels, 33 * kSubpixels);
    }
    if (difference == "vanished") other.objects.erase(small);
    std::vector<Question> questions;
    for (const Question& question : Propose(original, words_, rng)) {
      const std::string answer = AnswerOf(question, other);
      if (!answer.empty() && answer != AnswerOf(question, original)) questions.push_back(question);
    }
    questions = Mix(std::move(questions), rng);
    questions.resize(std::min<size_t>(questions.size(), 2));
    if (questions.empty()) continue;
    const size_t a = AddPicture(kLookalikes, original);
    const size_t b = AddPicture(kLookalikes, other);
    for (const Question& question : questions) {
      const size_t wording = serial % Wordings(question);
      stream.entries.push_back(MakeEntry(kLookalikes, serial++, a, question, wording));
      stream.entries.push_back(MakeEntry(kLookalikes, serial++, b, question, wording));
      stream.pairs.push_back(Pair{stream.entries.end()[-2].id, stream.entries.end()[-1].id, difference, false});
    }
    ++made;
  }
}

}  // namespace afterimage::world
