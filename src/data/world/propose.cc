#include <algorithm>
#include <set>

#include "data/world/question.h"

namespace afterimage::world {
namespace {

// Gathers candidates; Evaluate says later which of them can be asked.
class Proposer {
 public:
  Proposer(const Scene& scene, Rng& rng) : scene_(scene), rng_(rng) {
    for (int kind = 0; kind < 12; ++kind) {
      const auto is_kind = [&](const Object& o) { return o.kind == kind; };
      if (std::none_of(scene.objects.begin(), scene.objects.end(), is_kind)) absent_.push_back(kind);
    }
    rng_.Shuffle(absent_);
  }

  std::vector<Question> All() {
    for (const Object& object : scene_.objects) AboutOne(object);
    for (const Object& a : scene_.objects) {
      for (const Object& b : scene_.objects) {
        if (a.kind != b.kind) AboutTwo(a, b);
      }
    }
    AboutAbsent();
    Add("count", {});
    for (int number = 2; number <= kMaxObjects; ++number) Add("vcount", {.n = number});
    for (int color = 0; color < 8; ++color) Add("count_c", {.c = color});
    rng_.Shuffle(questions_);
    return std::move(questions_);
  }

 private:
  void Add(const char* type, const Slots& slots) {
    Question question{type, slots};
    if (std::find(questions_.begin(), questions_.end(), question) == questions_.end()) {
      questions_.push_back(std::move(question));
    }
  }
  int OtherColor(int color) { return (color + rng_.Between(1, 7)) % 8; }
  int OtherKind(int kind) { return (kind + rng_.Between(1, 11)) % 12; }

  void AboutOne(const Object& object) {
    const int kind = object.kind;
    const int wrong = OtherColor(object.color);
    Add("color", {.o = kind});
    Add("size", {.o = kind});
    Add("csize", {.o = kind});
    Add("pos_lr", {.o = kind});
    Add("pos_ab", {.o = kind});
    for (const int color : {object.color, wrong}) {
      Add("vcolor", {.o = kind, .c = color});
      Add("ncolor", {.o = kind, .c = color});
      Add("exist", {.o = kind, .c = color});
    }
    Add("ccolor", rng_.Chance(50) ? Slots{.o = kind, .c = object.color, .d = wrong}
                                  : Slots{.o = kind, .c = wrong, .d = object.color});
    for (int size = 0; size < 2; ++size) Add("vsize", {.o = kind, .s = size});
    Add("existo", {.o = kind});
    Add("nexist", {.o = kind});
    Add("count_o", {.o = kind});
    for (int relation = 0; relation < 4; ++relation)
      Add(relation < 2 ? "relq_lr" : "relq_ab", {.o = kind, .r = relation});
    const int other = OtherKind(kind);
    Add("shape", {.c = object.color});
    Add("vshape", {.o = kind, .c = object.color});
    Add("vshape", {.o = other, .c = object.color});
    Add("cshape", rng_.Chance(50) ? Slots{.o = kind, .p = other, .c = object.color}
                                  : Slots{.o = other, .p = kind, .c = object.color});
  }

  void AboutTwo(const Object& a, const Object& b) {
    const Slots both{.o = a.kind, .p = b.kind};
    for (const char* type : {"crel_lr", "crel_ab", "same", "diff"}) Add(type, both);
    const auto with = [&](int relation) { return Slots{.o = a.kind, .p = b.kind, .r = relation}; };
    for (int relation = 0; relation < 4; ++relation) {
      Add(relation < 2 ? "rel_lr" : "rel_ab", with(relation));
      Add(relation < 2 ? "nrel_lr" : "nrel_ab", with(relation));
    }
    const int comparison = rng_.Between(4, 6);
    Add("cmp", with(comparison));
    Add("ccmp", with(comparison));
    // Each there as it is, or with one thing about it changed.
    for (int changed = 0; changed < 4; ++changed) {
      const bool kind_of_b_gone = rng_.Chance(40);
      const Slots slots{.o = a.kind,
                        .p = (changed & 2) != 0 && kind_of_b_gone ? absent_[1] : b.kind,
                        .c = (changed & 1) != 0 ? OtherColor(a.color) : a.color,
                        .d = (changed & 2) != 0 && !kind_of_b_gone ? OtherColor(b.color) : b.color};
      Add("and", slots);
      Add("or", slots);
    }
  }

  void AboutAbsent() {
    for (size_t i = 0; i < std::min(absent_.size(), scene_.objects.size()); ++i) {
      Add("existo", {.o = absent_[i]});
      Add("nexist", {.o = absent_[i]});
      Add("count_o", {.o = absent_[i]});
      Add("exist", {.o = absent_[i], .c = scene_.objects[i].color});
    }
  }

  const Scene& scene_;
  Rng& rng_;
  std::vector<int> absent_;  // at least seven: twelve kinds, five objects
  std::vector<Question> questions_;
};

}  // namespace

std::vector<Question> Propose(const Scene& scene, const Vocabulary& words, Rng& rng) {
  std::vector<Question> questions = Proposer(scene, rng).All();
  std::erase_if(questions, [&](const Question& q) { return !Evaluate(q, scene, words).has_value(); });
  return questions;
}

std::vector<Question> Mix(std::vector<Question> questions, Rng& rng) {
  std::set<std::string> types;
  std::erase_if(questions, [&](const Question& question) { return !types.insert(question.type).second; });
  rng.Shuffle(questions);
  return questions;
}

}  // namespace afterimage::world
