// Oracle: answers a question from its text and a scene graph alone, as a reader of the files would. It shares nothing
// with question.cc but the vocabulary: it finds the wording by matching the text, and the truth by looking through the
// graph's names, attributes and relations.
#ifndef AFTERIMAGE_DATA_WORLD_ORACLE_FOR_TEST_H_
#define AFTERIMAGE_DATA_WORLD_ORACLE_FOR_TEST_H_

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "data/world/vocabulary.h"

namespace afterimage::world {

class Oracle {
 public:
  explicit Oracle(const Vocabulary& words) : words_(words) {
    for (const QuestionType& type : words.types) {
      for (const auto* list : {&type.wordings, &type.heldout}) {
        for (const std::string& wording : *list) patterns_.push_back(MakePattern(type.id, wording));
      }
    }
  }

  // All answers the text can mean; more than one is a question that two wordings claim.
  std::set<std::string> Answers(const std::string& text, const nlohmann::json& graph) const {
    std::set<std::string> answers;
    for (const Pattern& pattern : patterns_) {
      std::smatch match;
      if (!std::regex_match(text, match, pattern.regex)) continue;
      std::map<std::string, std::string> slots;
      for (size_t i = 0; i < pattern.slots.size(); ++i) slots[pattern.slots[i]] = match[i + 1];
      if (slots.count("os") > 0) slots["o"] = Singular(slots["os"]);
      answers.insert(Answer(pattern.type, slots, Things(graph)));
    }
    return answers;
  }

 private:
  struct Pattern {
    std::string type;
    std::regex regex;
    std::vector<std::string> slots;
  };
  struct Thing {
    std::string name, color, size;
    double x = 0, y = 0;                                // centre, share of the picture
    std::multimap<std::string, std::string> relations;  // name -> id
  };
  using Graph = std::map<std::string, Thing>;
  using Slots = std::map<std::string, std::string>;

  static std::string AnyOf(const std::vector<std::string>& values) {
    std::string out;
    for (const std::string& value : values) out += (out.empty() ? "(" : "|") + value;
    return out + ")";
  }

  Pattern MakePattern(const std::string& type, const std::string& wording) const {
    const std::vector<std::string> sides(words_.relations.begin(), words_.relations.begin() + 2);
    const std::vector<std::string> heights(words_.relations.begin() + 2, words_.relations.begin() + 4);
    const std::vector<std::string> sizes(words_.relations.begin() + 4, words_.relations.end());
    const std::map<std::string, std::string> values = {{"o", AnyOf(words_.kinds)},
                                                       {"p", AnyOf(words_.kinds)},
                                                       {"os", AnyOf(words_.plurals)},
                                                       {"c", AnyOf(words_.colors)},
                                                       {"d", AnyOf(words_.colors)},
                                                       {"a", "(an?)"},
                                                       {"b", "(an?)"},
                                                       {"s", AnyOf(words_.sizes)},
                                                       {"n", AnyOf(words_.numbers)},
                                                       {"r", AnyOf(type.ends_with("_lr")   ? sides
                                                                   : type.ends_with("_ab") ? heights
                                                                                           : sizes)}};
    Pattern pattern{type, {}, {}};
    std::string regex;
    for (size_t at = 0; at < wording.size(); ++at) {
      if (wording[at] == '{') {
        const size_t end = wording.find('}', at);
        const std::string slot = wording.substr(at + 1, end - at - 1);
        pattern.slots.push_back(slot);
        regex += values.at(slot);
        at = end;
      } else {
        if (wording[at] == '?' || wording[at] == '.') regex += '\\';
        regex += wording[at];
      }
    }
    pattern.regex = std::regex(regex);
    return pattern;
  }

  std::string Singular(const std::string& plural) const {
    const auto at = std::find(words_.plurals.begin(), words_.plurals.end(), plural) - words_.plurals.begin();
    return words_.kinds[static_cast<size_t>(at)];
  }

  static Graph Things(const nlohmann::json& graph) {
    Graph things;
    for (const auto& [id, object] : graph.at("objects").items()) {
      Thing& thing = things[id];
      thing.name = object.at("name");
      thing.color = object.at("attributes").at(0);
      thing.size = object.at("attributes").at(1);
      thing.x = (object.at("x").get<double>() + object.at("w").get<double>() / 2) / graph.at("width").get<double>();
      thing.y = (object.at("y").get<double>() + object.at("h").get<double>() / 2) / graph.at("height").get<double>();
      for (const nlohmann::json& relation : object.at("relations")) {
        thing.relations.emplace(relation.at("name").get<std::string>(), relation.at("object").get<std::string>());
      }
    }
    return things;
  }

  static std::string Phrase(const std::string& word) {
    return word == "left" || word == "right" ? "to the " + word + " of" : word;
  }
  static bool Related(const Graph& graph, const std::string& a, const std::string& word, const std::string& b) {
    const auto [begin, end] = graph.at(a).relations.equal_range(Phrase(word));
    return std::any_of(begin, end, [&](const auto& entry) { return entry.second == b; });
  }

  // "ambiguous" and "nothing" are answers no question has.
  static std::string Answer(const std::string& type, const Slots& slots, const Graph& graph) {
    const auto slot = [&](const char* name) { return slots.at(name); };
    const auto all = [&](auto&& test) {
      std::vector<std::string> ids;
      for (const auto& [id, thing] : graph) {
        if (test(thing)) ids.push_back(id);
      }
      return ids;
    };
    const auto named = [&](const std::string& name) {
      return all([&](const Thing& thing) { return thing.name == name; });
    };
    const auto colored = [&](const std::string& name, const std::string& color) {
      return all([&](const Thing& thing) { return thing.name == name && thing.color == color; });
    };
    const auto yes_no = [](bool truth) { return std::string(truth ? "yes" : "no"); };
    if (type == "existo") return yes_no(!named(slot("o")).empty());
    if (type == "nexist") return yes_no(named(slot("o")).empty());
    if (type == "exist") return yes_no(!colored(slot("o"), slot("c")).empty());
    if (type == "and" || type == "or") {
      const bool a = !colored(slot("o"), slot("c")).empty();
      const bool b = !colored(slot("p"), slot("d")).empty();
      return yes_no(type == "and" ? a && b : a || b);
    }
    if (type == "count") return std::to_string(graph.size());
    if (type == "count_o") return std::to_string(named(slot("o")).size());
    if (type == "vcount") {
      const std::vector<std::string> numbers = {"zero", "one", "two", "three", "four", "five"};
      return yes_no(numbers.at(graph.size()) == slot("n"));
    }
    if (type == "count_c" || type == "shape" || type == "vshape" || type == "cshape") {
      const auto ids = all([&](const Thing& thing) { return thing.color == slot("c"); });
      if (type == "count_c") return std::to_string(ids.size());
      if (ids.size() != 1) return "ambiguous";
      const std::string& name = graph.at(ids[0]).name;
      return type == "vshape" ? yes_no(name == slot("o")) : name;
    }
    if (type == "describe") return Describe(graph);

    const std::vector<std::string> os = named(slot("o"));
    if (os.size() != 1) return "ambiguous";
    const Thing& o = graph.at(os[0]);
    if (type == "color" || type == "ccolor") return o.color;
    if (type == "vcolor") return yes_no(o.color == slot("c"));
    if (type == "ncolor") return yes_no(o.color != slot("c"));
    if (type == "size" || type == "csize") return o.size;
    if (type == "vsize") return yes_no(o.size == slot("s"));
    if (type == "pos_lr") return o.x < 0.5 ? "left" : "right";
    if (type == "pos_ab") return o.y < 0.5 ? "top" : "bottom";
    if (type == "relq_lr" || type == "relq_ab") {
      std::vector<std::string> found;
      for (const auto& [id, thing] : graph) {
        if (Related(graph, id, slot("r"), os[0])) found.push_back(id);
      }
      return found.size() == 1 ? graph.at(found[0]).name : "ambiguous";
    }
    const std::vector<std::string> ps = named(slot("p"));
    if (ps.size() != 1) return "ambiguous";
    const Thing& p = graph.at(ps[0]);
    if (type == "same") return yes_no(o.color == p.color);
    if (type == "diff") return yes_no(o.color != p.color);
    if (type == "cmp" || type == "ccmp") {
      if (o.size == p.size) return "nothing";
      const bool o_it_is = (o.size == "large") == (slot("r") != "smaller");
      return type == "cmp" ? yes_no(o_it_is) : o_it_is ? o.name : p.name;
    }
    for (const char* word : {"left", "right", "above", "below"}) {
      const bool on_this_axis = type.ends_with("_lr") == (word[0] == 'l' || word[0] == 'r');
      if (!on_this_axis || !Related(graph, os[0], word, ps[0])) continue;
      if (type.starts_with("crel")) return word;
      return yes_no((slot("r") == word) != type.starts_with("n"));
    }
    return "nothing";
  }

  static std::string Describe(const Graph& graph) {
    std::map<std::pair<int, int>, std::string> in_order;
    for (const auto& [id, thing] : graph) {
      in_order[{static_cast<int>(thing.y * 3), static_cast<int>(thing.x * 3)}] =
          "a " + thing.size + " " + thing.color + " " + thing.name;
    }
    std::string text;
    size_t i = 0;
    for (const auto& [place, phrase] : in_order) {
      ++i;
      text += (i == 1 ? "" : i == in_order.size() ? " and " : ", ") + phrase;
    }
    return text;
  }

  const Vocabulary& words_;
  std::vector<Pattern> patterns_;
};

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_ORACLE_FOR_TEST_H_
