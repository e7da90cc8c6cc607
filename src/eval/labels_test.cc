#include "eval/labels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "data/gqa_dataset.h"
#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

Sample Asking(const std::string& id, const std::string& question, const std::string& picture = "",
              std::vector<std::string> equivalent = {}) {
  Sample sample;
  sample.id = id;
  sample.question = question;
  sample.image_path = picture;
  sample.equivalent = std::move(equivalent);
  return sample;
}

// One line of a pairs file.
std::string Agree(const std::string& a, const std::string& b, bool must_agree = true) {
  return R"({"a": ")" + a + R"(", "b": ")" + b + R"(", "must_agree": )" + (must_agree ? "true" : "false") + "}\n";
}
std::string Differ(const std::string& a, const std::string& b) { return Agree(a, b, false); }

class LabelsTest : public ::testing::Test {
 protected:
  void Add(const Sample& sample) {
    samples_[sample.id] = sample;
    labels_.Add(sample);
  }
  Status AddPairs(const std::string& lines) {
    std::ofstream(folder_ / "p.jsonl") << lines;
    Result<PairsFile> pairs = PairsFile::Open(folder_ / "p.jsonl");
    return labels_.AddPairs(*pairs);
  }
  // The sample `asked`, with what is substituted taken from the sample `donor`.
  std::optional<bool> Same(const std::string& asked, const std::string& donor, bool question, bool picture) {
    const Sample& from = samples_[donor];
    Donor known = {donor, from.question, {}};
    if (!from.image_path.empty()) known.image_paths = {from.image_path};
    const Sample& to = samples_[asked];
    return labels_.Same({asked, to.question, to.image_path}, known, question, picture);
  }
  std::optional<bool> Question(const std::string& asked, const std::string& donor) {
    return Same(asked, donor, true, false);
  }
  std::optional<bool> Picture(const std::string& asked, const std::string& donor) {
    return Same(asked, donor, false, true);
  }

  Labels labels_;
  std::map<std::string, Sample> samples_;
  TemporaryFolder folder_;
};

TEST_F(LabelsTest, EquivalentQuestionsAreTheSameOverAnyNumberOfSteps) {
  Add(Asking("1", "a", "p", {"1", "2"}));
  Add(Asking("2", "b", "p", {"2"}));
  Add(Asking("3", "c", "p", {"2", "9"}));
  Add(Asking("4", "d", "p", {"4"}));
  EXPECT_EQ(Question("1", "2"), true);
  EXPECT_EQ(Question("2", "1"), true);
  EXPECT_EQ(Question("1", "3"), true);
  EXPECT_EQ(Question("1", "9"), true) << "a list may name samples of another part of the data set";
  EXPECT_EQ(Question("1", "4"), false);
  EXPECT_EQ(Same("1", "2", true, true), true);
  EXPECT_EQ(Same("1", "4", true, true), false);
}

TEST_F(LabelsTest, WithoutALabelNothingIsSaid) {
  Add(Asking("1", "a", "p"));
  Add(Asking("2", "b", "p", {"2"}));
  Add(Asking("3", "a", "p"));
  EXPECT_EQ(Question("1", "2"), std::nullopt);
  EXPECT_EQ(Picture("1", "2"), std::nullopt);
  EXPECT_EQ(Question("1", "3"), std::nullopt) << "asking the same is no label";
  EXPECT_FALSE(labels_.Knows("1"));
}

TEST_F(LabelsTest, AListOfOneSaysThatThereIsNoOther) {
  Add(Asking("1", "a", "p", {"1"}));
  Add(Asking("2", "b", "p"));
  EXPECT_TRUE(labels_.Knows("1"));
  EXPECT_EQ(Question("1", "2"), false);
  EXPECT_EQ(Question("1", "never heard of"), false);
  EXPECT_EQ(Question("1", "1"), true);
}

TEST_F(LabelsTest, ToBeNamedIsToBeLabelled) {
  Add(Asking("1", "a", "p", {"2"}));
  Add(Asking("2", "b", "p"));
  ASSERT_TRUE(AddPairs(Differ("3", "4")).ok());
  EXPECT_TRUE(labels_.Knows("1")) << "a list need not hold the sample itself";
  EXPECT_TRUE(labels_.Knows("2"));
  EXPECT_TRUE(labels_.Knows("3"));
  EXPECT_TRUE(labels_.Knows("4"));
  EXPECT_EQ(Question("2", "1"), true);
}

TEST_F(LabelsTest, SamplesThatAskTheSameAboutTheSamePictureAreOne) {
  Add(Asking("1", "Is it red?", "p", {"1", "5"}));
  Add(Asking("2", " is it  RED?", "p"));
  Add(Asking("3", "Is it red?", "q"));
  Sample lost = Asking("4", "Is it red?");
  lost.image_id = "n4";
  Add(lost);
  lost.id = "6";
  lost.equivalent = {"6"};
  Add(lost);
  EXPECT_EQ(Question("1", "2"), true);
  EXPECT_EQ(Question("1", "3"), false);
  EXPECT_EQ(Question("6", "4"), false) << "two pictures that were not found may be two pictures";
}

TEST_F(LabelsTest, PairsThatMustAgreeAreTheSameAndOthersNotJoined) {
  Add(Asking("1", "a", "p"));
  Add(Asking("2", "a", "q"));
  Add(Asking("3", "a", "r"));
  ASSERT_TRUE(AddPairs(Agree("1", "2") + Differ("2", "3")).ok());
  EXPECT_EQ(Picture("1", "2"), true);
  EXPECT_EQ(Picture("2", "3"), false);
  EXPECT_EQ(Picture("1", "3"), false);
  EXPECT_EQ(Same("1", "2", true, true), true);
  EXPECT_EQ(Same("2", "3", true, true), false);
}

TEST_F(LabelsTest, WithThePictureOnlyItIsTheQuestionAskedThatCounts) {
  Add(Asking("1", "Is it red?", "p"));
  Add(Asking("2", "is it red?", "q"));
  Add(Asking("3", "Is it large?", "p"));
  Add(Asking("4", "Is it large?", "q"));
  ASSERT_TRUE(AddPairs(Agree("1", "2") + Differ("3", "4")).ok());
  EXPECT_EQ(Picture("1", "4"), true) << "whatever the donor had asked about its picture";
  EXPECT_EQ(Picture("3", "2"), false);
}

TEST_F(LabelsTest, WhereNobodyAsksThatThePicturesDecide) {
  Add(Asking("1", "a", "p", {"1"}));
  Add(Asking("2", "a", "q"));
  Add(Asking("3", "a", "r"));
  Add(Asking("4", "b", "p", {"4"}));
  Add(Asking("5", "c", "s", {"5"}));
  ASSERT_TRUE(AddPairs(Agree("1", "2") + Agree("2", "3")).ok());
  EXPECT_EQ(Picture("4", "2"), true);
  EXPECT_EQ(Picture("4", "3"), true) << "over any number of steps";
  EXPECT_EQ(Picture("4", "5"), false);
  EXPECT_EQ(Picture("5", "4"), false);
}

TEST_F(LabelsTest, AcrossAPairThatMustNotAgreePicturesAreNotJoined) {
  // Frames p q r s; between q and r something changes that only the question b is about.
  for (const std::string question : {"a", "b"}) {
    for (const std::string frame : {"p", "q", "r", "s"}) Add(Asking(question + frame, question, frame));
  }
  for (const std::string frame : {"p", "q", "r", "s"}) Add(Asking("c" + frame, "c" + frame, frame, {"c" + frame}));
  ASSERT_TRUE(
      AddPairs(Agree("ap", "aq") + Agree("aq", "ar") + Agree("ar", "as") + Differ("br", "bq") + Agree("br", "bs"))
          .ok());
  EXPECT_EQ(Picture("ap", "as"), true);
  EXPECT_EQ(Picture("cp", "cq"), true);
  EXPECT_EQ(Picture("cs", "cr"), true);
  EXPECT_EQ(Picture("cq", "cr"), false);
  EXPECT_EQ(Picture("cp", "cs"), false);
}

TEST_F(LabelsTest, PicturesJoinedOverADetourAreTornByAPairThatMustNotAgree) {
  for (const std::string question : {"a", "b"}) {
    for (const std::string picture : {"p", "q", "r"}) Add(Asking(question + picture, question, picture));
  }
  Add(Asking("c", "c", "q", {"c"}));
  ASSERT_TRUE(AddPairs(Agree("ap", "aq") + Agree("aq", "ar") + Differ("bp", "br")).ok());
  EXPECT_EQ(Picture("c", "ap"), false);
  EXPECT_EQ(Picture("ap", "ar"), true) << "what was asked is known";
}

TEST_F(LabelsTest, APairAboutOnePictureSaysNothingAboutPictures) {
  Add(Asking("1", "a", "p"));
  Add(Asking("2", "b", "p"));
  Add(Asking("3", "a", "q"));
  Add(Asking("4", "c", "q", {"4"}));
  ASSERT_TRUE(AddPairs(Differ("1", "2") + Agree("1", "3")).ok());
  EXPECT_EQ(Picture("4", "1"), true);
}

TEST_F(LabelsTest, ADonorWithoutOnePictureHasNoneToPutIn) {
  Add(Asking("1", "a", "p", {"1"}));
  EXPECT_EQ(labels_.Same({"1", "a", "p"}, {"2", "a", {}}, false, true), false);
  EXPECT_EQ(labels_.Same({"1", "a", "p"}, {"2", "a", {"p", "p"}}, false, true), false);
  EXPECT_EQ(labels_.Same({"1", "a", "p"}, {"2", "a", {"p"}}, false, true), true);
  EXPECT_EQ(labels_.Same({"1", "a", ""}, {"2", "b", {"x"}}, false, true), false) << "two unknown pictures";
  EXPECT_EQ(labels_.Same({"1", "a", "p"}, {"2", "a", {"q"}}, false, false), true) << "nothing is put in";
}

TEST_F(LabelsTest, LabelsThatContradictEachOtherAreDamaged) {
  Add(Asking("1", "a", "p", {"1", "2"}));
  Add(Asking("3", "c", "q"));
  const Status status = AddPairs(Agree("2", "3") + Differ("3", "1"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::kCorrupt);
  EXPECT_EQ(status.error().message,
            (folder_ / "p.jsonl") + ":2: '3' and '1' must not agree, yet other labels say that they are the same.");
  // Wherever in the file the other labels stand.
  EXPECT_FALSE(AddPairs(Differ("7", "8") + Agree("8", "9") + Agree("9", "7")).ok());
  EXPECT_FALSE(AddPairs(Differ("6", "6")).ok());
}

TEST_F(LabelsTest, ALineThatIsNoPairIsAnError) {
  const Status status = AddPairs(Agree("2", "3") + "{}\n");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::kInvalidArgument);
  EXPECT_NE(status.error().message.find("p.jsonl:2: "), std::string::npos);
}

TEST(LabelQueryOf, IsWhatTheQueryIsKnownBy) {
  Query query;
  query.id = "7";
  query.question = "Is it red?";
  EXPECT_EQ(LabelQueryOf(query).image_path, "");
  query.image_paths = {"p", "q"};
  EXPECT_EQ(LabelQueryOf(query).id, "7");
  EXPECT_EQ(LabelQueryOf(query).question, "Is it red?");
  EXPECT_EQ(LabelQueryOf(query).image_path, "p");
}

class ShippedLabelsTest : public ::testing::Test {
 protected:
  void Read(const std::string& stream) {
    const Result<std::unique_ptr<RecordDataset>> samples = NewGqaDataset(WORLD, "val", stream, {});
    const Result<std::unique_ptr<RecordDataset>> whole = NewGqaDataset(WORLD, "val", stream, {});
    ASSERT_TRUE(samples.ok() && whole.ok());
    for (auto next = (*samples)->Next(); next.ok() && next->has_value(); next = (*samples)->Next()) {
      samples_[(*next)->id] = **next;
    }
    Result<PairsFile> pairs = PairsFile::Open(FindGqaPairs(WORLD, "val", stream));
    ASSERT_TRUE(pairs.ok()) << pairs.error().message;
    Result<Labels> labels = ReadLabels(**whole, *pairs);
    ASSERT_TRUE(labels.ok()) << labels.error().message;
    labels_ = std::move(*labels);
  }
  LabelQuery Asked(const std::string& id) { return {id, samples_.at(id).question, samples_.at(id).image_path}; }
  Donor DonorOf(const std::string& id) { return {id, samples_.at(id).question, {samples_.at(id).image_path}}; }

  std::map<std::string, Sample> samples_;
  Labels labels_;
};

TEST_F(ShippedLabelsTest, OfEveryStreamContradictNothingAndLeaveNothingOut) {
  for (const char* stream : {"paraphrases", "flips", "clips", "twins", "lookalikes", "traffic"}) {
    samples_.clear();
    Read(stream);
    EXPECT_FALSE(samples_.empty());
    for (const auto& [id, sample] : samples_) EXPECT_TRUE(labels_.Knows(id)) << stream << " " << id;
    Result<PairsFile> pairs = PairsFile::Open(FindGqaPairs(WORLD, "val", stream));
    for (auto next = pairs->Next(); next.ok() && next->has_value(); next = pairs->Next()) {
      const Pair& pair = **next;
      const bool picture = samples_.at(pair.a).image_path != samples_.at(pair.b).image_path;
      EXPECT_EQ(labels_.Same(Asked(pair.a), DonorOf(pair.b), true, picture), pair.must_agree) << pair.where;
      if (!picture) continue;
      // These pairs ask the same about two pictures.
      EXPECT_EQ(labels_.Same(Asked(pair.b), DonorOf(pair.a), false, true), pair.must_agree) << pair.where;
    }
  }
}

TEST_F(ShippedLabelsTest, FramesOfAClipAreTheSameUntilAnObjectVanishes) {
  Read("clips");
  // Four questions a frame; the object vanishes between frames 9 and 10, and only the first two questions notice.
  const auto frame = [&](int number, int question) {
    return std::next(samples_.begin(), 4 * number + question)->first;
  };
  const auto same = [&](int asked, int donor, int question) {
    return labels_.Same(Asked(frame(asked, question)), DonorOf(frame(donor, question)), false, true);
  };
  for (int question = 0; question < 4; ++question) {
    EXPECT_EQ(same(1, 0, question), true);
    EXPECT_EQ(same(9, 0, question), true);
    EXPECT_EQ(same(23, 10, question), true);
    EXPECT_EQ(same(10, 9, question), question >= 2) << question;
    EXPECT_EQ(same(23, 0, question), question >= 2) << question;
    EXPECT_EQ(same(24, 23, question), false) << "another clip";
  }
  // A question nobody asks of the donor's frame.
  LabelQuery other = Asked(frame(9, 2));
  other.question = "Describe the picture.";
  EXPECT_EQ(labels_.Same(other, DonorOf(frame(0, 0)), false, true), true);
  EXPECT_EQ(labels_.Same(other, DonorOf(frame(10, 0)), false, true), false);
}

}  // namespace
}  // namespace afterimage
