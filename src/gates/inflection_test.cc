#include "gates/inflection.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace afterimage {
namespace {

bool IsFormOf(std::string_view word, std::string_view base) {
  const std::vector<std::string> forms = BaseForms(word);
  return std::ranges::find(forms, base) != forms.end();
}

TEST(InflectionTest, PluralsAndThirdPersonsAreOfTheirWord) {
  for (const auto& [word, base] : {std::pair{"dogs", "dog"},
                                   {"boxes", "box"},
                                   {"houses", "house"},
                                   {"buses", "bus"},
                                   {"benches", "bench"},
                                   {"dishes", "dish"},
                                   {"tomatoes", "tomato"},
                                   {"puppies", "puppy"},
                                   {"cookies", "cookie"},
                                   {"holds", "hold"}}) {
    EXPECT_TRUE(IsFormOf(word, base)) << word;
    EXPECT_TRUE(MayBePlural(word)) << word;
  }
}

TEST(InflectionTest, FormsInIngAreOfTheirVerb) {
  for (const auto& [word, base] : {std::pair{"holding", "hold"},
                                   {"riding", "ride"},
                                   {"sitting", "sit"},
                                   {"falling", "fall"},
                                   {"lying", "lie"},
                                   {"playing", "play"}}) {
    EXPECT_TRUE(IsFormOf(word, base)) << word;
    EXPECT_FALSE(MayBePlural(word)) << word;
  }
}

TEST(InflectionTest, AWordIsAFormOfItself) {
  for (const std::string_view word : {"dog", "dogs", "glass", "string", ""}) EXPECT_EQ(BaseForms(word).front(), word);
}

TEST(InflectionTest, WordsThatOnlyEndAlikeAreNoForms) {
  for (const std::string_view word : {"glass", "bus", "cactus", "tennis", "gas", "is"}) {
    EXPECT_EQ(BaseForms(word).size(), 1u) << word;
    EXPECT_FALSE(MayBePlural(word)) << word;
  }
  for (const std::string_view word : {"string", "thing", "king", "spring"})
    EXPECT_EQ(BaseForms(word).size(), 1u) << word;
  EXPECT_FALSE(IsFormOf("capes", "cap"));
  EXPECT_FALSE(IsFormOf("planes", "plan"));
}

TEST(InflectionTest, APassiveIsAWordOfItsOwn) { EXPECT_EQ(BaseForms("chased").size(), 1u); }

}  // namespace
}  // namespace afterimage
