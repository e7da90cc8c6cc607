#include "engine/segments.h"

#include <algorithm>

#include "core/sha256.h"

namespace afterimage {
namespace {

Segment TextSegment(std::span<const int32_t> tokens) {
  Segment segment;
  segment.kind = Segment::Kind::kText;
  segment.tokens.assign(tokens.begin(), tokens.end());
  segment.n_tokens = static_cast<int>(tokens.size());
  segment.n_positions = segment.n_tokens;
  segment.content = Sha256().Add("text").Add(tokens).Finish();
  return segment;
}

Segment ImageSegment(const PromptPiece& piece) {
  Segment segment;
  segment.kind = Segment::Kind::kImage;
  segment.n_tokens = piece.n_tokens;
  segment.n_positions = piece.n_positions;
  segment.image = piece.image;
  segment.tile = piece.tile;
  segment.content = piece.content;
  return segment;
}

}  // namespace

Result<std::vector<Segment>> CutIntoSegments(std::span<const PromptPiece> pieces) {
  if (pieces.empty() || pieces.back().tokens.empty()) {
    return Error{Errc::kInvalidArgument, "a prompt must end in text; this one is empty or ends in a picture"};
  }
  std::vector<Segment> segments;
  std::vector<int32_t> run;  // text tokens since the last picture
  const auto flush = [&](size_t n) {
    for (size_t i = 0; i < n; i += kMaxTextSegmentTokens) {
      segments.push_back(TextSegment(std::span(run).subspan(i, std::min<size_t>(kMaxTextSegmentTokens, n - i))));
    }
  };
  for (const PromptPiece& piece : pieces) {
    if (!piece.tokens.empty()) {
      run.insert(run.end(), piece.tokens.begin(), piece.tokens.end());
      continue;
    }
    flush(run.size());
    run.clear();
    segments.push_back(ImageSegment(piece));
  }
  flush(run.size() - 1);
  segments.push_back(TextSegment(std::span(run).last(1)));

  int position = 0;
  for (Segment& segment : segments) {
    segment.first_position = position;
    position += segment.n_positions;
  }
  return segments;
}

}  // namespace afterimage
