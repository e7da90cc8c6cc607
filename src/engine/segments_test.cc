#include "engine/segments.h"

#include <gtest/gtest.h>

#include <numeric>

namespace afterimage {
namespace {

PromptPiece Text(int n, int first_token = 100) {
  PromptPiece piece;
  piece.tokens.resize(n);
  std::iota(piece.tokens.begin(), piece.tokens.end(), first_token);
  return piece;
}

PromptPiece Picture(int n_tokens, int n_positions) {
  PromptPiece piece;
  piece.n_tokens = n_tokens;
  piece.n_positions = n_positions;
  piece.image = 0;
  return piece;
}

std::vector<int> Sizes(const std::vector<Segment>& segments) {
  std::vector<int> sizes;
  for (const Segment& segment : segments) sizes.push_back(segment.n_tokens);
  return sizes;
}

std::vector<Segment> Cut(std::vector<PromptPiece> pieces) { return CutIntoSegments(pieces).value(); }

TEST(SegmentsTest, TextIsCutAtPicturesEvery128TokensAndBeforeTheLastToken) {
  EXPECT_EQ(Sizes(Cut({Text(5), Picture(64, 64), Text(300)})), (std::vector<int>{5, 64, 128, 128, 43, 1}));
  EXPECT_EQ(Sizes(Cut({Text(129)})), (std::vector<int>{128, 1}));
  EXPECT_EQ(Sizes(Cut({Text(128)})), (std::vector<int>{127, 1}));
  EXPECT_EQ(Sizes(Cut({Picture(4, 4), Text(1)})), (std::vector<int>{4, 1}));
}

TEST(SegmentsTest, NeighbouringTextPiecesAreOneRun) {
  EXPECT_EQ(Sizes(Cut({Text(100), Text(100)})), (std::vector<int>{128, 71, 1}));
}

TEST(SegmentsTest, PositionsFollowThePicturesPositionsNotItsTokens) {
  const std::vector<Segment> segments = Cut({Text(3), Picture(12, 4), Text(2)});
  EXPECT_EQ(segments[1].first_position, 3);
  EXPECT_EQ(segments[2].first_position, 7);
  EXPECT_EQ(segments[3].first_position, 8);
}

TEST(SegmentsTest, ARunThatEndsThePromptDiffersFromTheSameRunGoingOn) {
  // 128 tokens, then the end: computed as 127 + 1. The same 128 with more to come: computed as 128.
  const std::vector<Segment> ends = Cut({Text(128)});
  const std::vector<Segment> goes_on = Cut({Text(140)});
  EXPECT_NE(ends[0].content, goes_on[0].content);
}

TEST(SegmentsTest, APromptWithoutTextAtItsEndIsRefused) {
  EXPECT_FALSE(CutIntoSegments({}).ok());
  const std::vector<PromptPiece> pieces = {Text(3), Picture(4, 4)};
  const auto cut = CutIntoSegments(pieces);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, Errc::kInvalidArgument);
}

}  // namespace
}  // namespace afterimage
