// The engine contract on random-weight models of four shapes: *reuse equals recompute*, bit for bit.
#include "afterimage/llama_engine.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/llama/llama_test_models.h"
#include "testing/engine_contract.h"

namespace afterimage {
namespace {

EngineCase ShapeCase(const std::string& name, const std::string& shape, int threads) {
  return {name, shape != "tiny-text", [shape, threads](int max_sequences) {
            LlamaOptions options = TestOptions(shape);
            options.threads = threads;
            options.max_sequences = max_sequences;
            return NewLlamaEngine(options).value();
          }};
}

INSTANTIATE_TEST_SUITE_P(Llama, EngineContract,
                         testing::Values(ShapeCase("InternVl", "tiny-internvl", 1),
                                         ShapeCase("InternVlTwoThreads", "tiny-internvl", 2),
                                         ShapeCase("Qwen3Vl", "tiny-qwen3vl", 1),
                                         ShapeCase("Qwen25Vl", "tiny-qwen2.5vl", 1), ShapeCase("Text", "tiny-text", 1)),
                         EngineCaseName);

}  // namespace
}  // namespace afterimage
