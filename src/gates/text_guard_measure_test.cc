// How good the text guard is, in numbers: printed, and held to bounds.

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "gates/text_guard.h"

namespace afterimage {
namespace {

using Json = nlohmann::json;

const TextGuard& Guard() {
  static const TextGuard guard = TextGuard::Open("").value();
  return guard;
}

bool Keeps(const std::string& a, const std::string& b) { return Guard().Refuse(a, b).empty(); }

struct Share {
  int part = 0;
  int all = 0;
  void Count(bool in) {
    ++all;
    part += in ? 1 : 0;
  }
  double value() const { return all == 0 ? 0 : static_cast<double>(part) / all; }
};

std::ostream& operator<<(std::ostream& out, const Share& share) {
  return out << share.part << " of " << share.all << " (" << 100 * share.value() << " %)";
}

// The rows of a file of tab-separated fields; '#' begins a comment.
std::vector<std::vector<std::string>> Rows(const std::string& name) {
  std::ifstream file(std::string(TESTDATA) + "/" + name);
  EXPECT_TRUE(file) << name;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
    EXPECT_EQ(row.size(), 4u) << line;
    if (row.size() == 4) rows.push_back(std::move(row));
  }
  return rows;
}

Json Questions(const std::string& stream) {
  std::ifstream file(std::string(WORLD) + "/questions/val_" + stream + "_questions.json");
  return Json::parse(file);
}

// Of the pairs of a hand-written file: how many of each label are judged so, and how many judged so are of that label.
struct Judged {
  Share same_recall;
  Share same_precision;
  Share different_recall;
  Share different_precision;
};

Judged Judge(const std::string& name) {
  Judged judged;
  std::cout << name << "\n";
  for (const std::vector<std::string>& row : Rows(name)) {
    const std::string refusal = Guard().Refuse(row[1], row[2]);
    const bool same = row[0] == "same";
    const bool kept = refusal.empty();
    EXPECT_TRUE(same || row[0] == "different") << row[0];
    (same ? judged.same_recall : judged.different_recall).Count(same == kept);
    (kept ? judged.same_precision : judged.different_precision).Count(same == kept);
    if (same != kept) std::cout << "  " << row[0] << ": " << row[1] << " | " << row[2] << " | " << refusal << "\n";
  }
  std::cout << "  same: precision " << judged.same_precision << ", recall " << judged.same_recall << "\n"
            << "  different: precision " << judged.different_precision << ", recall " << judged.different_recall
            << "\n";
  return judged;
}

TEST(TextGuardMeasureTest, FlipsOfTheWorldAreRefusedAndMostParaphrasesThatAnEncoderFindsAreKept) {
  std::map<std::string, Share> kept;
  std::map<std::string, Share> kept_alike;
  const std::map<std::string, Json> questions = {{"flips", Questions("flips")},
                                                 {"paraphrases", Questions("paraphrases")}};
  for (const std::vector<std::string>& row : Rows("world_cosines.tsv")) {
    const Json& stream = questions.at(row[0]);
    const bool keeps = Keeps(stream.at(row[1]).at("question"), stream.at(row[2]).at("question"));
    kept[row[0]].Count(keeps);
    if (std::stod(row[3]) > 0.85) kept_alike[row[0]].Count(keeps);
  }
  for (const auto& [stream, share] : kept) {
    std::cout << stream << " kept: " << share << "; of those over 0.85: " << kept_alike[stream] << "\n";
  }
  ASSERT_GT(kept_alike["flips"].all, 40);
  ASSERT_GT(kept_alike["paraphrases"].all, 200);
  EXPECT_LE(kept["flips"].value(), 0.01);
  EXPECT_GE(kept_alike["paraphrases"].value(), 0.8);
}

// Wordings that no model was trained on, against the other wordings of the same question about the same picture.
TEST(TextGuardMeasureTest, MostHeldOutWordingsOfTheWorldThatAnEncoderFindsAreKept) {
  const Json held_out = Questions("heldout");
  const std::map<std::string, Json> others = {{"balanced", Questions("balanced")},
                                              {"paraphrases", Questions("paraphrases")}};
  Share kept;
  Share kept_alike;
  for (const std::vector<std::string>& row : Rows("heldout_cosines.tsv")) {
    const Json& a = held_out.at(row[1]);
    const Json& b = others.at(row[0]).at(row[2]);
    ASSERT_EQ(a.at("imageId"), b.at("imageId"));
    ASSERT_EQ(a.at("semantic"), b.at("semantic"));
    const bool keeps = Keeps(a.at("question"), b.at("question"));
    kept.Count(keeps);
    if (std::stod(row[3]) > 0.85) kept_alike.Count(keeps);
  }
  std::cout << "held-out wordings kept: " << kept << "; of those over 0.85: " << kept_alike << "\n";
  ASSERT_GT(kept_alike.all, 150);
  EXPECT_GE(kept_alike.value(), 0.8);
}

// The harm a wrong "same" does: another answer.
TEST(TextGuardMeasureTest, QuestionsAboutOnePictureWithDifferentAnswersAreRefused) {
  std::map<std::string, std::map<std::string, std::string>> answers;  // by picture and question
  for (const char* stream : {"balanced", "paraphrases", "flips", "heldout", "traffic"}) {
    for (const Json& question : Questions(stream)) {
      answers[question.at("imageId")][question.at("question")] = question.at("answer");
    }
  }
  Share kept;
  Share wrong;
  for (const auto& [picture, asked] : answers) {
    for (auto a = asked.begin(); a != asked.end(); ++a) {
      for (auto b = std::next(a); b != asked.end(); ++b) {
        kept.Count(Keeps(a->first, b->first));
        if (!Keeps(a->first, b->first)) continue;
        wrong.Count(a->second != b->second);
        EXPECT_EQ(a->second, b->second) << a->first << " | " << b->first;
      }
    }
  }
  std::cout << "pairs about one picture kept: " << kept << "; of these with different answers: " << wrong << "\n";
  ASSERT_GT(wrong.all, 200);
}

// pairs.tsv was looked at while the lexicon was made; heldout_pairs.tsv was not, and later_pairs.tsv, whose wordings
// are freer, never: that is why so many of its paraphrases are lost.
TEST(TextGuardMeasureTest, QuestionsAboutPhotographsAreToldApart) {
  const std::map<std::string, double> least_kept = {
      {"pairs.tsv", 0.8}, {"heldout_pairs.tsv", 0.8}, {"later_pairs.tsv", 0.5}};
  for (const auto& [name, share] : least_kept) {
    const Judged judged = Judge(name);
    EXPECT_EQ(judged.different_recall.value(), 1) << name;
    EXPECT_GE(judged.same_recall.value(), share) << name;
  }
}

}  // namespace
}  // namespace afterimage
