// Runs of an engine for tests: a request computed cold, or on top of stored state, with everything worth comparing.
#ifndef AFTERIMAGE_TESTING_ENGINE_RUNS_H_
#define AFTERIMAGE_TESTING_ENGINE_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/engine.h"

namespace afterimage {

using Rows = std::vector<std::byte>;

// A picture of noise; other seeds give other pictures.
std::shared_ptr<const Image> NoisePicture(uint32_t seed, uint32_t width = 56, uint32_t height = 56);

struct Outcome {
  std::vector<float> logits;  // after the prompt
  Answer answer;
  std::vector<Rows> rows;  // of every segment, captured after the answer
  SequenceStats stats;
};

struct Reuse {
  std::vector<Rows> rows;     // of the first segments
  std::vector<float> logits;  // with all segments
  // Encoder output for the image segments, in order; empty: the encoder runs.
  std::vector<std::vector<NamedTensor>> fusion;
};

// Adds a test failure and returns an empty run if the engine reports an error.
Outcome RunRequest(Engine& engine, const Request& request, const Reuse& reuse = {});

// The encoder output of every image segment of the request.
std::vector<std::vector<NamedTensor>> EncodeAll(Engine& engine, const Request& request);

std::vector<Rows> FirstOf(const std::vector<Rows>& rows, size_t n);

// Largest difference of two logit vectors; infinite if their sizes differ or one is not finite.
double MaxDifference(std::span<const float> a, std::span<const float> b);
bool SameBits(std::span<const float> a, std::span<const float> b);

}  // namespace afterimage

#endif  // AFTERIMAGE_TESTING_ENGINE_RUNS_H_
