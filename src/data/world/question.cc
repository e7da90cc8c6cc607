#include "data/world/question.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace afterimage::world {
namespace {

using MaybeAnswer = std::optional<Answer>;

// One question put to one scene.
class Evaluation {
 public:
  Evaluation(const Question& question, const Scene& scene, const Vocabulary& words)
      : q_(question.slots), scene_(scene), words_(words) {}

  MaybeAnswer Of(const std::string& type) {
    if (type == "color" || type == "ccolor" || type == "vcolor" || type == "ncolor") return Color(type);
    if (type == "size" || type == "csize" || type == "vsize") return Size(type);
    if (type == "exist" || type == "existo" || type == "nexist") return Exist(type);
    if (type == "and" || type == "or") return Logical(type == "and");
    if (type == "relq_lr" || type == "relq_ab") return RelatedName();
    if (type.find("rel_") != std::string::npos) return Relation(type);
    if (type == "pos_lr" || type == "pos_ab") return Position(type == "pos_lr");
    if (type == "same" || type == "diff") return SameColor(type == "same");
    if (type == "shape" || type == "vshape" || type == "cshape") return Name(type);
    if (type == "count" || type == "count_o" || type == "count_c" || type == "vcount") return Count(type);
    if (type == "cmp" || type == "ccmp") return CompareSize(type == "cmp");
    if (type == "describe") return Describe();
    return std::nullopt;
  }

 private:
  using Test = std::function<bool(const Object&)>;

  static std::string YesNo(bool truth) { return truth ? "yes" : "no"; }
  const Object& at(int index) const { return scene_.objects[static_cast<size_t>(index)]; }
  const std::string& ColorOf(int index) const { return words_.colors[static_cast<size_t>(at(index).color)]; }
  const std::string& KindOf(int index) const { return words_.kinds[static_cast<size_t>(at(index).kind)]; }
  const std::string& SizeOf(int index) const { return words_.sizes[static_cast<size_t>(at(index).size)]; }

  int CountOf(const Test& test) const {
    return static_cast<int>(std::count_if(scene_.objects.begin(), scene_.objects.end(), test));
  }
  // The first that passes, or -1.
  int First(const Test& test) const {
    const auto found = std::find_if(scene_.objects.begin(), scene_.objects.end(), test);
    return found == scene_.objects.end() ? -1 : static_cast<int>(found - scene_.objects.begin());
  }
  int Only(const Test& test) const { return CountOf(test) == 1 ? First(test) : -1; }
  static Test IsKind(int kind) {
    return [kind](const Object& o) { return o.kind == kind; };
  }
  static Test IsColor(int color) {
    return [color](const Object& o) { return o.color == color; };
  }
  static Test Is(int kind, int color) {
    return [=](const Object& o) { return o.kind == kind && o.color == color; };
  }

  MaybeAnswer Color(const std::string& type) const {
    const int o = Only(IsKind(q_.o));
    if (o < 0) return std::nullopt;
    const bool matches = at(o).color == q_.c;
    if (type == "vcolor") return Answer{YesNo(matches), ColorOf(o), o};
    if (type == "ncolor") return Answer{YesNo(!matches), ColorOf(o), o};
    if (type == "ccolor" && (matches == (at(o).color == q_.d))) return std::nullopt;  // one of the two is right
    return Answer{ColorOf(o), ColorOf(o), o};
  }

  MaybeAnswer Size(const std::string& type) const {
    const int o = Only(IsKind(q_.o));
    if (o < 0) return std::nullopt;
    if (type == "vsize") return Answer{YesNo(at(o).size == q_.s), SizeOf(o), o};
    return Answer{SizeOf(o), SizeOf(o), o};
  }

  MaybeAnswer Exist(const std::string& type) const {
    const int found = type == "exist" ? First(Is(q_.o, q_.c)) : First(IsKind(q_.o));
    return Answer{YesNo((found >= 0) != (type == "nexist")), "", found};
  }

  MaybeAnswer Logical(bool both) const {
    if (q_.o == q_.p) return std::nullopt;
    const int o = First(Is(q_.o, q_.c));
    const int p = First(Is(q_.p, q_.d));
    return Answer{YesNo(both ? o >= 0 && p >= 0 : o >= 0 || p >= 0), "", o, p};
  }

  // r: 0 left, 1 right, 2 above, 3 below.
  static int Along(const Object& object, bool sideways) { return sideways ? object.x : object.y; }

  MaybeAnswer Relation(const std::string& type) const {
    const bool sideways = type.ends_with("_lr");
    const int o = Only(IsKind(q_.o));
    const int p = Only(IsKind(q_.p));
    if (o < 0 || p < 0 || o == p) return std::nullopt;
    const int gap = Along(at(o), sideways) - Along(at(p), sideways);
    if (std::abs(gap) < kApart) return std::nullopt;
    const int is = (sideways ? 0 : 2) + (gap > 0 ? 1 : 0);
    const std::string& side = words_.relations[static_cast<size_t>(is)];
    if (type[0] == 'c') return Answer{side, side, o, p};
    return Answer{YesNo((q_.r == is) != (type[0] == 'n')), side, o, p};
  }

  MaybeAnswer RelatedName() const {
    const bool sideways = q_.r < 2;
    const int o = Only(IsKind(q_.o));
    if (o < 0) return std::nullopt;
    const int from = Along(at(o), sideways);
    const bool beyond = q_.r % 2 == 1;
    const int found = Only([&](const Object& other) {
      const int gap = Along(other, sideways) - from;
      return beyond ? gap >= kApart : gap <= -kApart;
    });
    if (found < 0) return std::nullopt;
    return Answer{KindOf(found), KindOf(found), o, -1, found};
  }

  MaybeAnswer Position(bool sideways) const {
    const int o = Only(IsKind(q_.o));
    if (o < 0) return std::nullopt;
    const int third = sideways ? at(o).column() : at(o).row();
    if (third == 1) return std::nullopt;
    const std::string where = sideways ? (third == 0 ? "left" : "right") : (third == 0 ? "top" : "bottom");
    return Answer{where, where, o};
  }

  MaybeAnswer SameColor(bool same) const {
    const int o = Only(IsKind(q_.o));
    const int p = Only(IsKind(q_.p));
    if (o < 0 || p < 0 || o == p) return std::nullopt;
    return Answer{YesNo((at(o).color == at(p).color) == same), ColorOf(o), o, p};
  }

  MaybeAnswer Name(const std::string& type) const {
    const int found = Only(IsColor(q_.c));
    if (found < 0) return std::nullopt;
    const int kind = at(found).kind;
    if (type == "vshape") return Answer{YesNo(kind == q_.o), KindOf(found), kind == q_.o ? found : -1};
    if (type == "cshape" && ((kind == q_.o) == (kind == q_.p))) return std::nullopt;
    return Answer{KindOf(found), KindOf(found), -1, -1, found};
  }

  MaybeAnswer Count(const std::string& type) const {
    const int all = static_cast<int>(scene_.objects.size());
    if (type == "vcount") return Answer{YesNo(q_.n == all), words_.numbers[static_cast<size_t>(all)]};
    const int count = type == "count" ? all : CountOf(type == "count_o" ? IsKind(q_.o) : IsColor(q_.c));
    return Answer{std::to_string(count), std::to_string(count)};
  }

  // r: 4 larger, 5 smaller, 6 bigger.
  MaybeAnswer CompareSize(bool verify) const {
    const int o = Only(IsKind(q_.o));
    const int p = Only(IsKind(q_.p));
    if (o < 0 || p < 0 || o == p || at(o).size == at(p).size) return std::nullopt;
    const bool o_it_is = (at(o).size == 1) == (q_.r != 5);
    if (verify) return Answer{YesNo(o_it_is), at(o).size == 1 ? "larger" : "smaller", o, p};
    const int which = o_it_is ? o : p;
    return Answer{KindOf(which), KindOf(which), o, p, which};
  }

  MaybeAnswer Describe() const {
    const auto place = [](const Object& object) { return object.row() * 3 + object.column(); };
    std::vector<Object> order = scene_.objects;  // in reading order; no two share a place
    std::sort(order.begin(), order.end(), [&](const Object& a, const Object& b) { return place(a) < place(b); });
    std::string text;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0) text += i + 1 == order.size() ? " and " : ", ";
      text += "a " + words_.sizes[static_cast<size_t>(order[i].size)] + " " +
              words_.colors[static_cast<size_t>(order[i].color)] + " " +
              words_.kinds[static_cast<size_t>(order[i].kind)];
    }
    return Answer{text, text};
  }

  const Slots& q_;
  const Scene& scene_;
  const Vocabulary& words_;
};

}  // namespace

std::optional<Answer> Evaluate(const Question& question, const Scene& scene, const Vocabulary& words) {
  return Evaluation(question, scene, words).Of(question.type);
}

}  // namespace afterimage::world
