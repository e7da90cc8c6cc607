// What the benches have in common: where they run, what they ask, how they print.
#ifndef AFTERIMAGE_CLI_BENCH_TOOLS_H_
#define AFTERIMAGE_CLI_BENCH_TOOLS_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterimage/engine.h"
#include "core/summary.h"

namespace afterimage {

// A random-weight model, made if it is not there yet, in an engine.
struct BenchModel {
  std::unique_ptr<Engine> engine;
  int image_size = 0;  // pixels
  int threads = 0;
};

// Errors: kInvalidArgument (a shape with no name, or without vision), those of WriteRandomModel and NewLlamaEngine.
Result<BenchModel> LoadBenchModel(const std::string& shape, const std::string& models_dir, int threads);

// afterimage/models in the user's cache folder.
std::string DefaultModelsDir();

// A square of noise; other seeds give other pictures.
std::shared_ptr<const Image> BenchPicture(int size, uint32_t seed);

int TextTokens(const Prompt& prompt);

// A question that makes the prompt's text exactly `tokens` long; other numbers give other questions.
// Errors: kInvalidArgument if it cannot be that short.
Result<Request> QuestionOfLength(Engine& engine, const std::shared_ptr<const Image>& picture, int tokens, int number);

// Pair by pair: how often `b` fits into `a`. REQUIRES: equally many, at least one.
Summary Ratio(const std::vector<double>& a, const std::vector<double>& b);

// Three digits, never an exponent: "0.82", "13.2", "1514".
std::string Short(double value);
std::string Short(const Summary& summary, const char* unit);  // "1.80x [1.06, 2.45]"
nlohmann::ordered_json ToJson(const Summary& summary);        // {"median", "low", "high"}

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_BENCH_TOOLS_H_
