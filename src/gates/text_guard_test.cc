#include "gates/text_guard.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

const TextGuard& Guard() {
  static const TextGuard guard = TextGuard::Open("").value();
  return guard;
}

std::string Refuse(std::string_view a, std::string_view b) { return Guard().Refuse(a, b); }

// In both directions, since a pair is what it is whoever asks first.
void ExpectSame(std::string_view a, std::string_view b) {
  EXPECT_EQ(Refuse(a, b), "") << a << " | " << b;
  EXPECT_EQ(Refuse(b, a), "") << b << " | " << a;
}

void ExpectRefused(std::string_view a, std::string_view b, std::string_view rule) {
  EXPECT_TRUE(Refuse(a, b).starts_with(rule)) << a << " | " << b << ": " << Refuse(a, b);
  EXPECT_TRUE(Refuse(b, a).starts_with(rule)) << b << " | " << a << ": " << Refuse(b, a);
}

TEST(TextGuardTest, AnotherNegationIsNamed) {
  EXPECT_EQ(Refuse("Is the man not running?", "Is the man running?"), "negation: 'not' against nothing");
  EXPECT_EQ(Refuse("Is there a dog?", "Isn't there a dog?"), "negation: nothing against 'not'");
  EXPECT_EQ(Refuse("Is there no dog?", "Is there a dog?"), "negation: 'no' against nothing");
  for (const auto* negated :
       {"Can't you see a dog?", "Can’t you see a dog?", "Cannot you see a dog?", "Do you never see a dog?"}) {
    ExpectRefused("Can you see a dog?", negated, "negation: ");
  }
  ExpectRefused("Is the man with a hat old?", "Is the man without a hat old?", "negation: ");
  ExpectRefused("Is somebody sitting?", "Is nobody sitting?", "negation: ");
}

TEST(TextGuardTest, AnotherNumberIsNamed) {
  EXPECT_EQ(Refuse("Are there two dogs?", "Are there three dogs?"), "number: 'two' against 'three'");
  EXPECT_EQ(Refuse("Are there 2 dogs?", "Are there dogs?"), "number: '2' against nothing");
  EXPECT_EQ(Refuse("Is the first door open?", "Is the second door open?"), "number: 'first' against 'second'");
  ExpectRefused("Is it 1,000?", "Is it 1000.5?", "number: ");
  ExpectRefused("Is it 3:30?", "Is it 3:45?", "number: ");
  ExpectRefused("Is there a pair of dogs?", "Are there three dogs?", "number: ");
  ExpectRefused("Is it -5 degrees?", "Is it 5 degrees?", "number: ");
}

TEST(TextGuardTest, ANumberIsTheSameInWordsAndDigits) {
  ExpectSame("Are there two dogs?", "Are there 2 dogs?");
  ExpectSame("Is there a pair of dogs?", "Are there two dogs?");
  ExpectSame("Is the 1st door open?", "Is the first door open?");
  ExpectSame("Is it 1,000?", "Is it 1000?");
}

TEST(TextGuardTest, AnotherRelationIsNamed) {
  EXPECT_EQ(Refuse("Is the cup left of the dog?", "Is the cup to the right of the dog?"),
            "relation: 'left' against 'to the right'");
  const std::vector<std::pair<std::string, std::string>> flips = {
      {"above", "below"},     {"on", "under"},      {"in front of", "behind"},
      {"inside", "outside"},  {"near", "far from"}, {"at the top of", "at the bottom of"},
      {"next to", "between"}, {"in", "on"},         {"with", "by"}};
  for (const auto& [a, b] : flips) {
    ExpectRefused("Is the cup " + a + " the box?", "Is the cup " + b + " the box?", "relation: ");
  }
}

TEST(TextGuardTest, ARelationIsTheSameInAllItsWordings) {
  for (const auto* side : {"left of", "to the left of", "on the left side of", "on the left-hand side of"}) {
    ExpectSame("Is the cup left of the dog?", std::string("Is the cup ") + side + " the dog?");
  }
  ExpectSame("Is the cup beside the box?", "Is the cup next to the box?");
  ExpectSame("Is the cup beneath the box?", "Is the cup under the box?");
}

TEST(TextGuardTest, AnotherComparisonIsNamed) {
  EXPECT_EQ(Refuse("Is the dog bigger than the cat?", "Is the dog smaller than the cat?"),
            "comparison: 'bigger' against 'smaller'");
  const std::vector<std::pair<std::string, std::string>> flips = {
      {"more", "fewer"}, {"most", "least"}, {"the same", "different"}, {"older", "younger"}, {"taller", "shorter"}};
  for (const auto& [a, b] : flips)
    ExpectRefused("Which has " + a + " cups?", "Which has " + b + " cups?", "comparison: ");
  ExpectRefused("Is he as tall as her?", "Is he taller than her?", "relation: ");
  ExpectSame("Is the dog bigger than the cat?", "Is the dog larger than the cat?");
}

TEST(TextGuardTest, AnotherQuantifierIsNamed) {
  EXPECT_EQ(Refuse("Are all of the dogs black?", "Are some of the dogs black?"),
            "quantifier: 'all of' against 'some of'");
  const std::vector<std::string> quantifiers = {"all", "some", "any", "each", "both", "only", "most of", "few", ""};
  for (const std::string& a : quantifiers) {
    for (const std::string& b : quantifiers) {
      if (a == b) continue;
      EXPECT_NE(Refuse("Are " + a + " dogs black?", "Are " + b + " dogs black?"), "") << a << " | " << b;
    }
  }
  ExpectSame("Are there any dogs?", "Are there dogs?");
}

TEST(TextGuardTest, AnotherKindOfQuestionIsNamed) {
  EXPECT_EQ(Refuse("Who is on the bench?", "What is on the bench?"), "question: 'who' against 'what'");
  const std::vector<std::string> kinds = {"Who", "What",     "Where",    "When",  "Why",
                                          "How", "How many", "How much", "Whose", ""};
  for (const std::string& a : kinds) {
    for (const std::string& b : kinds) {
      if (a == b) continue;
      EXPECT_TRUE(Refuse(a + " is sold?", b + " is sold?").starts_with("question: ")) << a << " | " << b;
    }
  }
  EXPECT_EQ(Refuse("Is it red or blue?", "Is it red?"), "question: 'choice' against 'yes/no'");
  ExpectRefused("Which dogs are black?", "Are dogs black?", "question: ");
  ExpectRefused("Describe the dog.", "Is it a dog?", "question: ");
  ExpectRefused("Has the bus left?", "What has the bus left?", "question: ");
}

TEST(TextGuardTest, AKindOfQuestionIsTheSameInAllItsWordings) {
  for (const auto* count : {"What is the number of dogs?", "Count the dogs.", "Tell me how many dogs there are.",
                            "Number of dogs?", "Can you count the dogs?", "How many dogs do you see?"}) {
    ExpectSame("How many dogs are there?", count);
  }
  ExpectSame("What animal is it?", "Which animal is it?");
  ExpectSame("Where is the dog?", "What is the location of the dog?");
  ExpectSame("Is the dog old?", "Please tell me whether the dog is old.");
  ExpectSame("Describe the dog.", "Could you please describe the dog?");
  ExpectSame("Is the dog big?", "Would you call the dog big?");
  ExpectSame("Is the dog big?", "Do you think that the dog is big?");
}

TEST(TextGuardTest, AnotherWordIsNamed) {
  EXPECT_EQ(Refuse("Is there a dog?", "Is there a cat?"), "word: 'dog' against 'cat'");
  EXPECT_EQ(Refuse("Is there a dog?", "Is there a brown dog?"), "word: nothing against 'brown'");
  EXPECT_EQ(Refuse("Is the big dog old?", "Is the cat?"), "word: 'big', 'dog', 'old' against 'cat'");
  EXPECT_EQ(Refuse("Is the dog near the dog?", "Is the dog near?"), "word: 'dog' against nothing");
  EXPECT_EQ(Refuse("Is he old?", "Is she old?"), "word: 'he' against 'she'");
  ExpectRefused("Is that a cap?", "Is that a cape?", "word: ");
  ExpectRefused("Is the man wearing glasses?", "Is the man wearing glass?", "word: ");
  ExpectRefused("Is the dog chased?", "Is the dog chasing?", "word: ");
  ExpectRefused("是狗吗", "是猫吗", "word: ");
}

TEST(TextGuardTest, SynonymsAndInflectionsAreTheSameWord) {
  ExpectSame("Is the sofa wet?", "Is the couch wet?");
  ExpectSame("Is the man holding his cell phones?", "Does the man hold his phones?");
  ExpectSame("Is the kid riding a bike?", "Is the child riding a bicycle?");
}

TEST(TextGuardTest, FramingAndPolitenessAreOfNoAccount) {
  for (const auto* framed :
       {"is there a dog", "IS THERE A DOG?!", "Is there a dog in the picture?", "Does the image show a dog?",
        "Do you see a dog?", "In this photo, is there a dog?", "Can you see any dog, please?",
        "Could you tell me if there is a dog?", "Is a dog visible in the scene?"}) {
    ExpectSame("Is there a dog?", framed);
  }
  ExpectSame("What colour is the car?", "Please tell me what's the color of the car.");
}

TEST(TextGuardTest, APictureThatHangsOnTheWallIsNoFrame) {
  ExpectRefused("Is the picture above the sofa?", "Is the lamp above the sofa?", "word: ");
  EXPECT_NE(Refuse("What is in the picture on the wall?", "What is on the wall?"), "");
  EXPECT_NE(Refuse("Is there a picture in the frame?", "Is there a picture?"), "");
}

TEST(TextGuardTest, TheSameWordsInOtherRolesAreRefused) {
  EXPECT_EQ(Refuse("Is the cup left of the dog?", "Is the dog left of the cup?"),
            "order: 'cup left dog' against 'dog left cup'");
  ExpectRefused("Is the dog chasing the cat?", "Is the cat chasing the dog?", "order: ");
  ExpectRefused("What is behind the dog?", "What is the dog behind?", "order: ");
  ExpectRefused("What is holding the object?", "What is the object holding?", "word: ");
  ExpectRefused("Is the red cup on the blue plate?", "Is the blue cup on the red plate?", "order: ");
  ExpectRefused("Is the red cup big?", "Is the big cup red?", "order: ");
  ExpectRefused("Is there a big red cup?", "Is the red cup big?", "order: ");
  ExpectRefused("Is the score 2-1?", "Is the score 1-2?", "order: ");
  ExpectRefused("Is bus 2 red?", "Are 2 buses red?", "order: ");
  ExpectRefused("Are only two dogs black?", "Are two dogs only black?", "order: ");
  ExpectRefused("Are there more dogs than cats?", "Are there more cats than dogs?", "order: ");
  ExpectRefused("Is the man red or the dog blue?", "Is the man blue or the dog red?", "order: ");
}

TEST(TextGuardTest, APropertyMayStandOnEitherSideOfItsThing) {
  ExpectSame("Is there a red cup?", "Is a cup red?");
  ExpectSame("Is there a big red cup?", "Is there a red big cup?");
  ExpectSame("What color is the cup?", "What is the cup's colour?");
  ExpectSame("Are there two black dogs?", "Are two dogs black?");
}

TEST(TextGuardTest, APropertyThatIsImpliedIsOfNoAccount) {
  ExpectSame("Is the cup red?", "Is the color of the cup red?");
  ExpectSame("Is the cup red?", "Does the cup look red?");
  ExpectSame("What color does the cup have?", "What color is the cup?");
  ExpectSame("Which color is it, red or blue?", "Is it red or blue?");
  ExpectSame("How big is the cup?", "What size is the cup?");
  ExpectRefused("What color is the red cup?", "What is the red cup?", "word: ");
  ExpectRefused("Does the man look at red cups?", "Is the man at red cups?", "word: ");
  ExpectRefused("What does the cup look like?", "What is the cup?", "word: ");
}

TEST(TextGuardTest, AlternativesMayChangePlaces) {
  ExpectSame("Is it red or blue?", "Is it blue or red?");
  ExpectSame("Is the cup left of the dog or above the cat?", "Is the cup above the cat or left of the dog?");
  ExpectSame("Is there a cup and a dog?", "Is there a dog and a cup?");
  ExpectSame("Is the cup left or right of the dog?", "Is the cup right or left of the dog?");
  ExpectRefused("Is the cup on or under the dog?", "Is the dog under or on the cup?", "order: ");
  ExpectRefused("Is the cup or the dog red?", "Is the red cup or the dog?", "order: ");
}

TEST(TextGuardTest, KnownThingsMustAgreeInNumber) {
  EXPECT_EQ(Refuse("Is the dog black?", "Are the dogs black?"), "plural: 'the dog' against 'the dogs'");
  EXPECT_EQ(Refuse("Are the cups on the box?", "Are there cups on the box?"), "plural: 'the cups' against 'cups'");
  ExpectRefused("What is the man doing?", "What are the men doing?", "plural: ");
  ExpectSame("Is there a dog?", "Are there dogs?");
  ExpectSame("Is there a man?", "Are there men?");
  ExpectSame("How many of the dogs are black?", "How many dogs are black?");
  ExpectSame("Is the dog that carries a ball black?", "Is the dog carrying a ball black?");
}

TEST(TextGuardTest, WhatIsSaidOfAKnownThingIsNotThatThereIsSuchAThing) {
  EXPECT_EQ(Refuse("Is the cup red?", "Is there a red cup?"), "known: 'the cup' against 'cup'");
  ExpectRefused("Are the cups red?", "Are there red cups?", "known: ");
  ExpectRefused("Is the cup red?", "Is a cup red?", "known: ");
  EXPECT_EQ(Refuse("Does the picture show a purple cross?", "Is the cross in the picture purple?"),
            "known: 'cross' against 'the cross'");
  ExpectSame("Is the cup red?", "Is this cup red?");
  ExpectSame("Is the cup above the dog?", "Is there a cup above the dog?");
  ExpectSame("Is the red cup above the dog?", "Is there a red cup above the dog?");
}

TEST(TextGuardTest, AlternativesThatAreListedSayWhatIsAskedFor) {
  ExpectSame("Where is the cup, left or right of the dog?", "Is the cup left or right of the dog?");
  ExpectSame("What is the man holding, a cup or a glass?", "Is the man holding a cup or a glass?");
  ExpectSame("Which thing is smaller, the cup or the dog?", "Which is smaller, the cup or the dog?");
  for (const auto* side :
       {"Which side of the photo is the dog on, left or right?",
        "On which side of the image is the dog, left or right?", "Where is the dog, left or right?"}) {
    ExpectSame("Is the dog on the left or on the right?", side);
  }
  ExpectSame("Which side of the photo is the dog on?", "On what side of the picture is the dog?");
  ExpectRefused("Which side of the photo is the dog on?", "Which part of the photo is the dog in?", "question: ");
  ExpectRefused("Which side of the photo is the dog on?", "Where is the dog?", "question: ");
  ExpectRefused("Which side of the photo is the dog on?", "Which side of the photo is the dog behind?", "relation: ");
  ExpectRefused("Which cup is red, the left or the right?", "Is the red cup left or right?", "question: ");
  ExpectRefused("Where is the cup, left or right?", "Where is the cup, above or below?", "relation: ");
  ExpectRefused("What is left or right of the dog?", "Is it left or right of the dog?", "question: ");
  ExpectRefused("In the photo, what is red or blue?", "Is it red or blue?", "question: ");
}

TEST(TextGuardTest, ThingsThatShareAPropertyAreTheSameInIt) {
  ExpectSame("Do the cup and the plate share a color?", "Are the cup and the plate the same color?");
  ExpectSame("Is the cup the same color as the plate?", "Do the cup and the plate have the same colour?");
  ExpectRefused("Do the man and the dog share a bed?", "Do the man and the dog have the same bed?", "comparison: ");
  ExpectRefused("Do the cup and the plate share a color?", "Do the cup and the plate share a shape?", "word: ");
  ExpectRefused("Is the cup the same color as the plate?", "Is the cup the same size as the plate?", "word: ");
  ExpectRefused("Is the cup on the plate the same color as the dog?",
                "Is the cup on the plate and the dog the same color?", "relation: ");
  ExpectRefused("Is the red cup the same size as the dog?", "Is the cup the same size as the red dog?", "order: ");
}

TEST(TextGuardTest, AnyBytesAreCompared) {
  ExpectSame("", "");
  ExpectSame("?!", "??");
  EXPECT_NE(Refuse("", "Is there a dog?"), "");
  EXPECT_NE(Refuse("\xff\xfe", "\xff\xfd"), "");
  EXPECT_EQ(Refuse(std::string(100000, 'a'), std::string(100000, 'a')), "");
}

TEST(TextGuardTest, AUsersFileAddsWords) {
  const TemporaryFolder folder;
  std::ofstream(folder / "words.txt") << "[synonyms]\nsofa, davenport\n";
  const Result<TextGuard> guard = TextGuard::Open(folder / "words.txt");
  ASSERT_TRUE(guard.ok()) << guard.error().message;
  EXPECT_NE(Refuse("Is the couch wet?", "Is the davenport wet?"), "");
  EXPECT_EQ(guard->Refuse("Is the couch wet?", "Is the davenport wet?"), "");
}

TEST(TextGuardTest, AUsersFileThatIsWrongIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(TextGuard::Open(folder / "none.txt").error().code, Errc::kNotFound);
  EXPECT_EQ(TextGuard::Open(folder.path()).error().code, Errc::kIo);
  std::ofstream(folder / "words.txt") << "[fillers]\nleft\n";
  const Result<TextGuard> guard = TextGuard::Open(folder / "words.txt");
  ASSERT_FALSE(guard.ok());
  EXPECT_EQ(guard.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(guard.error().message, folder / "words.txt" + ", line 2: 'left' already has a meaning of its own.");
}

TEST(TextGuardTest, ThreadsMayShareOne) {
  std::vector<std::thread> threads;
  std::vector<std::string> reasons(4);
  for (std::string& reason : reasons) {
    threads.emplace_back([&reason] {
      for (int i = 0; i < 200; ++i) reason = Refuse("Are there two dogs?", "Are there three dogs?");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& reason : reasons) EXPECT_EQ(reason, "number: 'two' against 'three'");
}

}  // namespace
}  // namespace afterimage
