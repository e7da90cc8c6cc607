// The engine contract on random-weight models of four shapes: *reuse equals recompute*, bit for bit.
//
// To run it on a model of your own: AFTERIMAGE_TEST_MODEL=x.gguf [AFTERIMAGE_TEST_MMPROJ=y.gguf] engine_llama_tests
#include "afterimage/llama_engine.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/llama/llama_test_models.h"
#include "testing/engine_contract.h"

namespace afterimage {
namespace {

EngineCase CaseOf(const std::string& name, const std::function<LlamaOptions()>& options, bool vision, int threads) {
  return {name, vision, [options, threads](int max_sequences) {
            LlamaOptions own = options();
            own.context_tokens = 1024;
            own.threads = threads;
            own.max_sequences = max_sequences;
            return NewLlamaEngine(own).value();
          }};
}

EngineCase ShapeCase(const std::string& name, const std::string& shape, int threads) {
  return CaseOf(name, [shape] { return TestOptions(shape); }, shape != "tiny-text", threads);
}

std::vector<EngineCase> Cases() {
  std::vector<EngineCase> cases = {ShapeCase("InternVl", "tiny-internvl", 1),
                                   ShapeCase("InternVlTwoThreads", "tiny-internvl", 2),
                                   ShapeCase("Qwen3Vl", "tiny-qwen3vl", 1), ShapeCase("Qwen25Vl", "tiny-qwen2.5vl", 1),
                                   ShapeCase("Text", "tiny-text", 1)};
  if (const char* model = std::getenv("AFTERIMAGE_TEST_MODEL"); model != nullptr) {
    const char* mmproj = std::getenv("AFTERIMAGE_TEST_MMPROJ");
    LlamaOptions options;
    options.model_path = model;
    options.mmproj_path = mmproj == nullptr ? "" : mmproj;
    cases.push_back(CaseOf("YourModel", [options] { return options; }, mmproj != nullptr, 1));
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Llama, EngineContract, testing::ValuesIn(Cases()), EngineCaseName);

}  // namespace
}  // namespace afterimage
