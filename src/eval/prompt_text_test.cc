#include "eval/prompt_text.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

Sample Labelled() {
  Sample sample;
  sample.id = "0071";
  sample.question = "What is on the  sofa?";
  sample.answer = "dog";
  sample.full_answer = "The dog is on the sofa.";
  sample.image_id = "n91";
  sample.semantic_str = "select: sofa (502)->relate: _,on,s (501) [0]->query:\tname [1]";
  sample.semantic_program = "select:sofa (502) | query:name";
  sample.global_group = "animal";
  sample.local_group = "14-sofa_on,s";
  return sample;
}

TEST(ChunkText, EverySourceHasItsText) {
  const Sample sample = Labelled();
  EXPECT_EQ(ChunkText(sample, ChunkSource::kQuestion), "What is on the  sofa?");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kSemantic), "select: sofa ->relate: _,on,s [0]->query: name [1]");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kAnswer), "The dog is on the sofa.");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kGroup), "animal 14-sofa_on,s");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kImage), "image-n91");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kCombined),
            "select: sofa ->relate: _,on,s [0]->query: name [1] animal 14-sofa_on,s");
}

TEST(ChunkText, SecondChoicesAndWhatIsNotThere) {
  Sample sample = Labelled();
  sample.semantic_str.clear();
  sample.full_answer.clear();
  sample.global_group.clear();
  EXPECT_EQ(ChunkText(sample, ChunkSource::kSemantic), "select:sofa | query:name");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kAnswer), "dog");
  EXPECT_EQ(ChunkText(sample, ChunkSource::kGroup), "14-sofa_on,s");
  sample.semantic_program = "an open ( stays";
  EXPECT_EQ(ChunkText(sample, ChunkSource::kSemantic), "an open ( stays");
}

TEST(ChunkText, TheQuestionStandsInForAnEmptySource) {
  Sample sample;
  sample.question = "What?";
  for (const ChunkSource source : {ChunkSource::kQuestion, ChunkSource::kSemantic, ChunkSource::kAnswer,
                                   ChunkSource::kGroup, ChunkSource::kImage, ChunkSource::kCombined}) {
    EXPECT_EQ(ChunkText(sample, source), "What?") << Name(source);
    EXPECT_EQ(*ParseChunkSource(Name(source)), source);
  }
  sample.semantic_str = " (12) ";
  EXPECT_EQ(ChunkText(sample, ChunkSource::kSemantic), "What?");
}

TEST(ChunkText, AnUnknownSourceIsAnswered) {
  const Result<ChunkSource> source = ParseChunkSource("colour");
  ASSERT_FALSE(source.ok());
  EXPECT_NE(source.error().message.find("combined"), std::string::npos);
}

TEST(FillTemplate, NothingIsTheQuestion) { EXPECT_EQ(FillTemplate("", Labelled()), "What is on the  sofa?"); }

TEST(FillTemplate, EveryPlaceholderIsFilled) {
  EXPECT_EQ(FillTemplate("{question}|{answer}|{full_answer}|{image_id}|{dataset_id}|{global_group}|{local_group}|"
                         "{semantic_str}|{semantic_program}",
                         Labelled()),
            "What is on the  sofa?|dog|The dog is on the sofa.|n91|0071|animal|14-sofa_on,s|"
            "select: sofa (502)->relate: _,on,s (501) [0]->query:\tname [1]|select:sofa (502) | query:name");
}

TEST(FillTemplate, UnknownNamesAreEmptyAndOtherBracesStay) {
  EXPECT_EQ(FillTemplate("a{colour}b", Labelled()), "ab");
  EXPECT_EQ(FillTemplate("{{question}} {} {not a name} {", Labelled()), "{question} {} {not a name} {");
  EXPECT_EQ(FillTemplate("{{{answer}}}", Labelled()), "{dog}");
}

TEST(FillTemplate, WhatIsFilledInIsNotReadAgain) {
  Sample sample;
  sample.question = "{answer}";
  sample.answer = "no";
  EXPECT_EQ(FillTemplate("{question}", sample), "{answer}");
}

}  // namespace
}  // namespace afterimage
