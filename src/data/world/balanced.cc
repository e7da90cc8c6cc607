// The streams about the split's own scenes: balanced, paraphrases, heldout, flips, traffic.
#include <algorithm>
#include <numeric>
#include <set>

#include "data/world/sample.h"
#include "data/world/split_builder.h"

namespace afterimage::world {
namespace {

constexpr int kQuestionsPerScene = 12;

bool IsOneOf(const std::string& type, std::initializer_list<const char*> types) {
  return std::any_of(types.begin(), types.end(), [&](const char* t) { return type == t; });
}

// Whoever can answer `a` can answer `b`: a query or a choice settles what others verify.
bool Entails(const Question& a, const Question& b) {
  const Slots& x = a.slots;
  const Slots& y = b.slots;
  const bool asks_is_there = IsOneOf(b.type, {"existo", "nexist"});
  if (IsOneOf(a.type, {"color", "ccolor"})) {
    return x.o == y.o && (asks_is_there || IsOneOf(b.type, {"color", "ccolor", "vcolor", "ncolor", "exist"}));
  }
  if (IsOneOf(a.type, {"size", "csize"})) {
    return x.o == y.o && (asks_is_there || IsOneOf(b.type, {"size", "csize", "vsize"}));
  }
  if (IsOneOf(a.type, {"crel_lr", "crel_ab"})) {
    const std::string axis = a.type.substr(1);
    return x.o == y.o && x.p == y.p && (b.type == axis || b.type == "n" + axis);
  }
  if (a.type == "count") return b.type == "vcount";
  if (IsOneOf(a.type, {"shape", "cshape"})) return x.c == y.c && IsOneOf(b.type, {"shape", "cshape", "vshape"});
  if (a.type == "ccmp") return x.o == y.o && x.p == y.p && x.r == y.r && b.type == "cmp";
  return false;
}

struct Flip {
  const char* kind;
  Question other;
};

// Questions one word away.
std::vector<Flip> FlipsOf(const Question& question, Rng& rng) {
  std::vector<Flip> flips;
  const auto change = [&](const char* kind, auto&& edit) {
    Question other = question;
    edit(other);
    flips.push_back(Flip{kind, std::move(other)});
  };
  const std::string& type = question.type;
  if (IsOneOf(type, {"vcolor", "exist", "shape", "count_c"})) {
    change("color", [&](Question& q) { q.slots.c = (q.slots.c + rng.Between(1, 7)) % 8; });
  }
  if (type.find("rel") != std::string::npos && question.slots.r >= 0) {
    change("side", [&](Question& q) { q.slots.r ^= 1; });
  }
  if (IsOneOf(type, {"color", "size", "existo", "count_o"})) {
    change("kind", [&](Question& q) { q.slots.o = (q.slots.o + rng.Between(1, 11)) % 12; });
  }
  if (type == "vcount") change("number", [&](Question& q) { q.slots.n = 2 + (q.slots.n - 2 + rng.Between(1, 3)) % 4; });
  if (type == "vsize") change("size", [&](Question& q) { q.slots.s ^= 1; });
  if (type == "vcolor") change("negation", [](Question& q) { q.type = "ncolor"; });
  if (type == "existo") change("negation", [](Question& q) { q.type = "nexist"; });
  if (IsOneOf(type, {"rel_lr", "rel_ab"})) change("negation", [](Question& q) { q.type = "n" + q.type; });
  return flips;
}

// A rank drawn with weight 1 / (rank + 1).
size_t Zipf(size_t n, Rng& rng) {
  constexpr int kScale = 100000;
  int total = 0;
  for (size_t i = 0; i < n; ++i) total += kScale / static_cast<int>(i + 1);
  int left = rng.Below(total);
  for (size_t i = 0; i < n; ++i) {
    left -= kScale / static_cast<int>(i + 1);
    if (left < 0) return i;
  }
  return n - 1;
}

}  // namespace

// Of two-valued types neither answer runs ahead of the other.
bool SplitBuilder::KeepsBalance(const std::string& type, const std::string& answer) const {
  if (answer != "yes" && answer != "no") return true;
  const auto found = asked_.find(type);
  if (found == asked_.end()) return true;
  const auto count = [&](const char* text) {
    const auto at = found->second.find(text);
    return at == found->second.end() ? 0 : at->second;
  };
  return answer == "yes" ? count("yes") <= count("no") : count("no") <= count("yes");
}

// Twelve questions of different types about one scene, the type and the answer asked least so far first.
void SplitBuilder::AskBalanced(size_t picture, Rng& rng) {
  Stream& stream = split_.streams["balanced"];
  std::vector<Question> candidates = Propose(scene(picture), words_, rng);
  const size_t begin = stream.entries.size();
  std::set<std::string> used;
  for (int i = 0; i < kQuestionsPerScene; ++i) {
    const Question* best = nullptr;
    std::pair<int, int> least;
    for (const Question& candidate : candidates) {
      const std::string answer = AnswerOf(candidate, scene(picture));
      if (used.count(candidate.type) > 0 || !KeepsBalance(candidate.type, answer)) continue;
      const std::map<std::string, int>& answers = asked_[candidate.type];
      const int of_type = std::accumulate(answers.begin(), answers.end(), 0,
                                          [](int sum, const auto& entry) { return sum + entry.second; });
      const auto at = answers.find(answer);
      const std::pair<int, int> rank(of_type, at == answers.end() ? 0 : at->second);
      if (best == nullptr || rank < least) {
        best = &candidate;
        least = rank;
      }
    }
    if (best == nullptr) break;
    used.insert(best->type);
    ++asked_[best->type][AnswerOf(*best, scene(picture))];
    const auto wording = static_cast<size_t>(rng.Below(static_cast<int>(Wordings(*best))));
    stream.entries.push_back(MakeEntry(kBase, stream.entries.size(), picture, *best, wording));
  }
  for (size_t a = begin; a < stream.entries.size(); ++a) {
    for (size_t b = begin; b < stream.entries.size(); ++b) {
      if (a != b && Entails(stream.entries[a].question, stream.entries[b].question)) {
        stream.entries[a].entailed.push_back(stream.entries[b].id);
      }
    }
  }
  const Question describe{"describe", {}};
  const auto wording = static_cast<size_t>(rng.Below(static_cast<int>(Wordings(describe))));
  stream.entries.push_back(MakeEntry(kBase, stream.entries.size(), picture, describe, wording));
}

void SplitBuilder::MakeBalanced() {
  Rng rng = rng_.Fork();
  for (int i = 0; i < scenes_; ++i) AskBalanced(AddPicture(kBase, SampleScene(rng)), rng);
}

void SplitBuilder::MakeParaphrases() {
  Rng rng = rng_.Fork();
  Stream& balanced = split_.streams["balanced"];
  Stream& stream = split_.streams["paraphrases"];
  for (size_t serial = 0; serial < balanced.entries.size(); ++serial) {
    Entry& base = balanced.entries[serial];
    if (!base.is_balanced || !rng.Chance(30)) continue;
    std::vector<Entry> all;
    std::vector<std::string> ids;
    for (size_t wording = 0; wording < Wordings(base.question); ++wording) {
      all.push_back(MakeEntry(kBase, serial, base.picture, base.question, wording));
      ids.push_back(all.back().id);
    }
    base.equivalent = ids;
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].equivalent = ids;
      if (i > 0) stream.pairs.push_back(Pair{ids[0], ids[i], "paraphrase", true});
      stream.entries.push_back(std::move(all[i]));
    }
  }
}

void SplitBuilder::MakeHeldout() {
  Rng rng = rng_.Fork();
  const Stream& balanced = split_.streams["balanced"];
  Stream& stream = split_.streams["heldout"];
  for (size_t serial = 0; serial < balanced.entries.size(); ++serial) {
    const Entry& base = balanced.entries[serial];
    if (!rng.Chance(40)) continue;
    const QuestionType& type = words_.type(base.question.type);
    const size_t wording = type.wordings.size() + static_cast<size_t>(rng.Below(static_cast<int>(type.heldout.size())));
    stream.entries.push_back(MakeEntry(kBase, serial, base.picture, base.question, wording));
  }
}

void SplitBuilder::MakeFlips() {
  Rng rng = rng_.Fork();
  Stream& stream = split_.streams["flips"];
  std::map<std::string, int> made;  // of each kind, so that none is rare
  size_t serial = 0;
  for (size_t picture = 0; picture < static_cast<size_t>(scenes_); ++picture) {
    for (int i = 0; i < 3; ++i) {
      std::optional<std::pair<Question, Flip>> best;
      for (const Question& question : Propose(scene(picture), words_, rng)) {
        const std::string answer = AnswerOf(question, scene(picture));
        for (const Flip& flip : FlipsOf(question, rng)) {
          const std::string other = AnswerOf(flip.other, scene(picture));
          if (other.empty() || other == answer) continue;
          if (!best || made[flip.kind] < made[best->second.kind]) best = {question, flip};
        }
      }
      if (!best) break;
      ++made[best->second.kind];
      // The first wording is the one in which a negated form differs by one word.
      Entry a = MakeEntry(kFlips, serial++, picture, best->first, 0);
      Entry b = MakeEntry(kFlips, serial++, picture, best->second.other, 0);
      stream.pairs.push_back(Pair{a.id, b.id, best->second.kind, false});
      stream.entries.push_back(std::move(a));
      stream.entries.push_back(std::move(b));
    }
  }
}

void SplitBuilder::MakeTraffic() {
  Rng rng = rng_.Fork();
  std::map<size_t, std::vector<Question>> asked_of;  // by picture
  std::vector<size_t> popularity;
  for (const Entry& entry : split_.streams["balanced"].entries) {
    if (asked_of.count(entry.picture) == 0) popularity.push_back(entry.picture);
    if (entry.is_balanced) asked_of[entry.picture].push_back(entry.question);
  }
  rng.Shuffle(popularity);
  Stream& stream = split_.streams["traffic"];
  struct First {
    std::string id;
    size_t wording = 0;
  };
  std::map<std::pair<size_t, size_t>, First> first;  // by picture and question
  for (size_t serial = 0; serial < static_cast<size_t>(scenes_) * 8; ++serial) {
    const size_t picture = popularity[Zipf(popularity.size(), rng)];
    const std::vector<Question>& questions = asked_of[picture];
    const size_t which = Zipf(questions.size(), rng);
    const auto other = static_cast<size_t>(rng.Below(static_cast<int>(Wordings(questions[which]))));
    const size_t wording = rng.Chance(70) ? 0 : other;
    Entry entry = MakeEntry(kTraffic, serial, picture, questions[which], wording);
    const auto [seen, is_new] = first.try_emplace({picture, which}, First{entry.id, wording});
    if (!is_new) {
      entry.equivalent.push_back(seen->second.id);
      stream.pairs.push_back(
          Pair{seen->second.id, entry.id, wording == seen->second.wording ? "repeat" : "paraphrase", true});
    }
    stream.entries.push_back(std::move(entry));
  }
}

}  // namespace afterimage::world
