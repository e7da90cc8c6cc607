#include "data/world/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

namespace afterimage::world {
namespace {

std::string At(const std::vector<std::string>& values, int index) {
  assert(index >= 0 && index < static_cast<int>(values.size()));
  return values[static_cast<size_t>(index)];
}

std::string Article(const std::string& word) { return word == "orange" ? "an" : "a"; }

std::string SlotText(const std::string& slot, const Slots& slots, const Answer& answer, const Vocabulary& words) {
  if (slot == "o") return At(words.kinds, slots.o);
  if (slot == "p") return At(words.kinds, slots.p);
  if (slot == "os") return At(words.plurals, slots.o);
  if (slot == "c") return At(words.colors, slots.c);
  if (slot == "d") return At(words.colors, slots.d);
  if (slot == "a") return Article(At(words.colors, slots.c));
  if (slot == "b") return Article(At(words.colors, slots.d));
  if (slot == "r") return At(words.relations, slots.r);
  if (slot == "s") return At(words.sizes, slots.s);
  if (slot == "n") return At(words.numbers, slots.n);
  if (slot == "x") return answer.text;
  assert(slot == "t");
  return answer.truth;
}

}  // namespace

Text Fill(const std::string& wording, const Slots& slots, const Answer& answer, const Vocabulary& words) {
  Text out;
  for (size_t at = 0; at < wording.size();) {
    if (wording[at] != '{') {
      out.text += wording[at++];
      continue;
    }
    const size_t end = wording.find('}', at);
    assert(end != std::string::npos);
    const std::string slot = wording.substr(at + 1, end - at - 1);
    out.word_of[slot] = static_cast<int>(std::count(out.text.begin(), out.text.end(), ' '));
    out.text += SlotText(slot, slots, answer, words);
    at = end + 1;
  }
  return out;
}

Text FullAnswer(const QuestionType& type, const Slots& slots, const Answer& answer, const Vocabulary& words) {
  auto found = type.full.find(answer.text);
  if (found == type.full.end()) found = type.full.find("*");
  assert(found != type.full.end());
  return Fill(found->second, slots, answer, words);
}

std::vector<Step> Program(const Question& question, const Answer& answer, const Vocabulary& words,
                          const std::vector<std::string>& object_ids) {
  const std::string& type = question.type;
  const Slots& q = question.slots;
  const auto id = [&](int object) { return object < 0 ? std::string("-") : object_ids[static_cast<size_t>(object)]; };
  const auto select = [&](const std::string& name, int object) {
    return Step{"select", {}, fmt::format("{} ({})", name, id(object))};
  };
  const auto kind = [&](int index) { return At(words.kinds, index); };
  const auto color = [&](int index) { return At(words.colors, index); };
  const auto phrase = [&](int relation) {
    const std::string word = At(words.relations, relation);
    return relation < 2 ? fmt::format("to the {} of", word) : word;
  };
  const auto one = [&](std::string operation, std::string argument) {
    return std::vector<Step>{select(kind(q.o), answer.o), Step{std::move(operation), {0}, std::move(argument)}};
  };
  const auto by_color = [&](std::string operation, std::string argument) {
    return std::vector<Step>{select("object", answer.o >= 0 ? answer.o : answer.answer),
                             Step{"filter color", {0}, color(q.c)},
                             Step{std::move(operation), {1}, std::move(argument)}};
  };
  const auto two = [&](std::string operation, std::string argument) {
    return std::vector<Step>{select(kind(q.o), answer.o), select(kind(q.p), answer.p),
                             Step{std::move(operation), {0, 1}, std::move(argument)}};
  };
  const auto related = [&](std::string operation, const std::string& relation) {
    return std::vector<Step>{
        select(kind(q.p), answer.p),
        Step{std::move(operation), {0}, fmt::format("{},{},s ({})", kind(q.o), relation, id(answer.o))}};
  };

  if (type == "color" || type == "size") return one("query", type);
  if (type == "vcolor") return one("verify color", color(q.c));
  if (type == "ncolor") return one("verify color", "not " + color(q.c));
  if (type == "ccolor") return one("choose color", color(q.c) + "|" + color(q.d));
  if (type == "csize") return one("choose size", "small|large");
  if (type == "vsize") return one("verify size", At(words.sizes, q.s));
  if (type == "existo") return one("exist", "?");
  if (type == "nexist") return one("not exist", "?");
  if (type == "exist") {
    return {select(kind(q.o), answer.o), Step{"filter color", {0}, color(q.c)}, Step{"exist", {1}, "?"}};
  }
  if (type == "pos_lr") return one("choose hposition", "left|right");
  if (type == "pos_ab") return one("choose vposition", "top|bottom");
  if (type == "rel_lr" || type == "rel_ab") return related("verify rel", phrase(q.r));
  if (type == "nrel_lr" || type == "nrel_ab") return related("verify rel", "not " + phrase(q.r));
  if (type == "crel_lr") return related("choose rel", phrase(0) + "|" + phrase(1));
  if (type == "crel_ab") return related("choose rel", phrase(2) + "|" + phrase(3));
  if (type == "relq_lr" || type == "relq_ab") {
    return {select(kind(q.o), answer.o),
            Step{"relate", {0}, fmt::format("_,{},s ({})", phrase(q.r), id(answer.answer))},
            Step{"query", {1}, "name"}};
  }
  if (type == "same") return two("same color", "?");
  if (type == "diff") return two("different color", "?");
  if (type == "cmp") return two("compare size", At(words.relations, q.r));
  if (type == "ccmp") return two("choose size", At(words.relations, q.r));
  if (type == "shape") return by_color("query", "name");
  if (type == "vshape") return by_color("verify name", kind(q.o));
  if (type == "cshape") return by_color("choose name", kind(q.o) + "|" + kind(q.p));
  if (type == "count") return {select("object", -1), Step{"count", {0}, "?"}};
  if (type == "vcount") return {select("object", -1), Step{"verify count", {0}, At(words.numbers, q.n)}};
  if (type == "count_o") return one("count", "?");
  if (type == "count_c") return by_color("count", "?");
  if (type == "describe") return {Step{"select", {}, "scene"}, Step{"describe", {0}, "?"}};
  assert(type == "and" || type == "or");
  return {select(kind(q.o), answer.o), Step{"filter color", {0}, color(q.c)}, Step{"exist", {1}, "?"},
          select(kind(q.p), answer.p), Step{"filter color", {3}, color(q.d)}, Step{"exist", {4}, "?"},
          Step{type, {2, 5}, "?"}};
}

std::string ProgramText(const std::vector<Step>& program) {
  std::string text;
  for (const Step& step : program) {
    if (!text.empty()) text += "->";
    text += step.operation + ": " + step.argument;
    if (!step.dependencies.empty()) text += fmt::format(" [{}]", fmt::join(step.dependencies, ","));
  }
  return text;
}

}  // namespace afterimage::world
