#include "data/world/split.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data/world/gqa_format.h"
#include "data/world/oracle_for_test.h"
#include "data/world/wording.h"

namespace afterimage::world {
namespace {

constexpr int kScenes = 48;

class SplitTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<Vocabulary> loaded = LoadVocabulary();
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    words_ = new Vocabulary(std::move(*loaded));
    split_ = new Split(MakeSplit("val", 2, 11, kScenes, *words_));
  }
  static void TearDownTestSuite() {
    delete split_;
    delete words_;
  }

  static const Stream& stream(const std::string& name) { return split_->streams.at(name); }
  static std::map<std::string, const Entry*> ById(const Stream& stream) {
    std::map<std::string, const Entry*> entries;
    for (const Entry& entry : stream.entries) entries[entry.id] = &entry;
    return entries;
  }
  static std::string TextOf(const Entry& entry) {
    return Fill(entry.wording, entry.question.slots, entry.answer, *words_).text;
  }

  static const Vocabulary* words_;
  static const Split* split_;
};

const Vocabulary* SplitTest::words_ = nullptr;
const Split* SplitTest::split_ = nullptr;

TEST_F(SplitTest, EveryAnswerIsWhatTheSceneGraphSays) {
  const Oracle oracle(*words_);
  std::map<std::string, nlohmann::json> graphs;
  size_t checked = 0;
  for (const auto& [name, stream] : split_->streams) {
    for (const Entry& entry : stream.entries) {
      const Picture& picture = split_->pictures[entry.picture];
      if (graphs.count(picture.id) == 0)
        graphs[picture.id] = nlohmann::json::parse(SceneGraphJson(picture, *words_).dump());
      const std::set<std::string> answers = oracle.Answers(TextOf(entry), graphs[picture.id]);
      ASSERT_EQ(answers, std::set<std::string>{entry.answer.text}) << name << ": " << TextOf(entry) << "\n"
                                                                   << graphs[picture.id].dump(1);
      ++checked;
    }
  }
  EXPECT_GT(checked, 2000u);
}

TEST_F(SplitTest, TheOracleNoticesAWrongGraph) {
  const Oracle oracle(*words_);
  size_t differ = 0;
  const std::vector<Entry>& entries = stream("balanced").entries;
  for (const Entry& entry : entries) {
    const Picture& other = split_->pictures[(entry.picture + 1) % kScenes];
    const nlohmann::json graph = nlohmann::json::parse(SceneGraphJson(other, *words_).dump());
    differ += oracle.Answers(TextOf(entry), graph) != std::set<std::string>{entry.answer.text} ? 1 : 0;
  }
  EXPECT_GT(differ, entries.size() / 3);
}

TEST_F(SplitTest, YesAndNoAreBalancedInEveryType) {
  std::map<std::string, std::map<std::string, int>> count;
  for (const Entry& entry : stream("balanced").entries) ++count[entry.question.type][entry.answer.text];
  for (const QuestionType& type : words_->types) {
    EXPECT_GT(count.count(type.id), 0u) << type.id;
    if (type.full.count("yes") == 0) continue;
    EXPECT_LE(std::abs(count[type.id]["yes"] - count[type.id]["no"]), 1) << type.id;
    EXPECT_GE(count[type.id]["yes"], 4) << type.id;
  }
}

TEST_F(SplitTest, EverySceneIsAskedTwelveQuestionsAndDescribedOnce) {
  std::map<size_t, int> asked;
  std::map<size_t, int> described;
  for (const Entry& entry : stream("balanced").entries) ++(entry.is_balanced ? asked : described)[entry.picture];
  EXPECT_EQ(asked.size(), static_cast<size_t>(kScenes));
  for (const auto& [picture, count] : asked) {
    EXPECT_GE(count, 12) << picture;
    EXPECT_EQ(described[picture], 1);
  }
}

TEST_F(SplitTest, HeldOutWordingsAreOnlyInHeldout) {
  for (const auto& [name, stream] : split_->streams) {
    for (const Entry& entry : stream.entries) {
      const QuestionType& type = words_->type(entry.question.type);
      const bool trained = std::find(type.wordings.begin(), type.wordings.end(), entry.wording) != type.wordings.end();
      ASSERT_EQ(trained, name != "heldout") << entry.wording;
    }
  }
  EXPECT_FALSE(stream("heldout").entries.empty());
}

TEST_F(SplitTest, EveryTypeHasFourWordingsAndOneHeldOut) {
  std::set<std::string> all;
  size_t count = 0;
  for (const QuestionType& type : words_->types) {
    EXPECT_GE(type.wordings.size(), 4u) << type.id;
    EXPECT_GE(type.heldout.size(), 1u) << type.id;
    all.insert(type.wordings.begin(), type.wordings.end());
    all.insert(type.heldout.begin(), type.heldout.end());
    count += type.wordings.size() + type.heldout.size();
  }
  EXPECT_EQ(all.size(), count) << "a wording is used twice";
}

TEST_F(SplitTest, PairsSayWhetherAnswersAgree) {
  for (const auto& [name, stream] : split_->streams) {
    const std::map<std::string, const Entry*> entries = ById(stream);
    EXPECT_EQ(entries.size(), stream.entries.size()) << "an id is used twice in " << name;
    for (const Pair& pair : stream.pairs) {
      ASSERT_EQ(entries.count(pair.a), 1u) << name;
      ASSERT_EQ(entries.count(pair.b), 1u) << name;
      ASSERT_EQ(entries.at(pair.a)->answer.text == entries.at(pair.b)->answer.text, pair.must_agree)
          << name << " " << TextOf(*entries.at(pair.a)) << " / " << TextOf(*entries.at(pair.b));
    }
  }
}

TEST_F(SplitTest, StreamsHoldWhatTheyAreNamedFor) {
  const auto kinds = [&](const std::string& name) {
    std::set<std::string> found;
    for (const Pair& pair : stream(name).pairs) found.insert(pair.kind);
    return found;
  };
  const auto share = [&](const std::string& name) {
    size_t agree = 0;
    for (const Pair& pair : stream(name).pairs) agree += pair.must_agree ? 1 : 0;
    return static_cast<double>(agree) / static_cast<double>(stream(name).pairs.size());
  };
  using Set = std::set<std::string>;
  EXPECT_EQ(kinds("flips"), (Set{"color", "side", "negation", "kind", "number", "size"}));
  EXPECT_EQ(kinds("twins"), (Set{"compressed", "resized", "cropped", "brighter"}));
  EXPECT_EQ(kinds("lookalikes"), (Set{"color", "kind", "size", "vanished"}));
  EXPECT_EQ(kinds("paraphrases"), Set{"paraphrase"});
  EXPECT_EQ(kinds("traffic"), (Set{"repeat", "paraphrase"}));
  for (const std::string kind : {"vanishes", "recolored", "motion"}) EXPECT_EQ(kinds("clips").count(kind), 1u) << kind;
  const Set mixed = kinds("mixed");
  for (const std::string kind : {"paraphrase", "repeat", "negation", "motion", "cropped", "vanished"}) {
    EXPECT_EQ(mixed.count(kind), 1u) << kind;
  }
  EXPECT_EQ(share("flips"), 0);
  EXPECT_EQ(share("lookalikes"), 0);
  EXPECT_EQ(share("twins"), 1);
  EXPECT_EQ(share("paraphrases"), 1);
  EXPECT_GT(share("clips"), 0.9);
  EXPECT_LT(share("clips"), 1);
}

TEST_F(SplitTest, AFlipIsAboutOnePictureAndChangesOneWord) {
  const std::map<std::string, const Entry*> entries = ById(stream("flips"));
  for (const Pair& pair : stream("flips").pairs) {
    const Entry& a = *entries.at(pair.a);
    const Entry& b = *entries.at(pair.b);
    EXPECT_EQ(a.picture, b.picture);
    const auto words_in = [&](const Entry& entry) {
      std::vector<std::string> out(1);
      for (const char c : TextOf(entry)) {
        if (c == ' ') out.emplace_back();
        if (c != ' ') out.back() += c;
      }
      return out;
    };
    const std::vector<std::string> x = words_in(a);
    const std::vector<std::string> y = words_in(b);
    size_t begin = 0;
    size_t end = 0;
    while (begin < std::min(x.size(), y.size()) && x[begin] == y[begin]) ++begin;
    while (end < std::min(x.size(), y.size()) - begin && x[x.size() - 1 - end] == y[y.size() - 1 - end]) ++end;
    // One word for another, or one word more; "a red" becomes "an orange".
    EXPECT_LE(std::max(x.size(), y.size()) - begin - end, 2u) << TextOf(a) << " / " << TextOf(b);
  }
}

TEST_F(SplitTest, EquivalentQuestionsContainThemselvesAndMeanTheSame) {
  const std::map<std::string, const Entry*> entries = ById(stream("paraphrases"));
  for (const auto& [id, entry] : entries) {
    EXPECT_GE(entry->equivalent.size(), 4u);
    bool self = false;
    for (const std::string& other : entry->equivalent) {
      self = self || other == id;
      ASSERT_EQ(entries.count(other), 1u);
      EXPECT_EQ(entries.at(other)->question, entry->question);
      EXPECT_EQ(entries.at(other)->picture, entry->picture);
    }
    EXPECT_TRUE(self);
  }
}

TEST_F(SplitTest, TheSameSeedMakesTheSameSplitAndAnotherDoesNot) {
  const auto ids_and_scenes = [](const Split& split) {
    std::string all;
    for (const Picture& picture : split.pictures) all += picture.id + ToJson(picture.scene).dump();
    for (const auto& [name, stream] : split.streams) {
      for (const Entry& entry : stream.entries) all += entry.id + entry.wording + entry.answer.text;
      for (const Pair& pair : stream.pairs) all += pair.a + pair.b + pair.kind;
    }
    return all;
  };
  const std::string first = ids_and_scenes(MakeSplit("val", 2, 5, 6, *words_));
  EXPECT_EQ(first, ids_and_scenes(MakeSplit("val", 2, 5, 6, *words_)));
  EXPECT_NE(first, ids_and_scenes(MakeSplit("val", 2, 6, 6, *words_)));
}

TEST_F(SplitTest, NoSceneIsInTwoSplits) {
  std::set<std::string> seen;
  std::set<std::string> ids;
  for (int number = 1; number <= 3; ++number) {
    const Split split = MakeSplit("s", number, 11, kScenes, *words_);
    std::set<std::string> here;
    for (const Picture& picture : split.pictures) {
      here.insert(ToJson(picture.scene).dump());
      EXPECT_TRUE(ids.insert(picture.id).second) << picture.id;
    }
    for (const std::string& scene : here) EXPECT_TRUE(seen.insert(scene).second) << scene;
  }
}

}  // namespace
}  // namespace afterimage::world
