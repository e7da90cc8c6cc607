// Small random-weight models for the tests of this room, written once per test program.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_TEST_MODELS_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_TEST_MODELS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "afterimage/llama_engine.h"
#include "engine/llama/random_model.h"

namespace afterimage {

inline LlamaOptions TestOptions(const std::string& shape) {
  const RandomModelFiles files =
      WriteRandomModel(NamedShape(shape).value(),
                       testing::TempDir() + "/afterimage-test-models-" + std::to_string(getuid()))
          .value();
  LlamaOptions options;
  options.model_path = files.model_path;
  options.mmproj_path = files.mmproj_path;
  options.context_tokens = 1024;
  options.threads = 1;
  options.file_digest_cache.clear();
  return options;
}

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_TEST_MODELS_H_
