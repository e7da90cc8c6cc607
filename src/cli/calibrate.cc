// `afterimage calibrate`: the threshold of every layer for a wanted share of false hits, from labelled pairs.
#include "eval/calibrate.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/cache_flags.h"
#include "cli/chunk_source_flag.h"
#include "cli/command.h"
#include "cli/model_files.h"
#include "cli/pair_scores.h"
#include "core/json_text.h"
#include "data/image_finder.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

struct CalibrateFlags {
  CalibrateFlags() { cache.options.loosest = ReuseClass::kApproximate; }

  CacheFlags cache;
  std::string data_dir;  // empty: the shipped world
  std::string split = "val";
  std::vector<std::string> streams = {"paraphrases", "flips", "clips", "twins", "lookalikes"};
  double false_hit_rate = 0.01;
  ChunkSource chunk_source = ChunkSource::kSemantic;
  bool json = false;
};

Status ParsePercent(const std::string& text, double& share) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc() || std::string_view(stopped, static_cast<size_t>(end - stopped)) != "%" ||
      !(number >= 0 && number <= 100)) {
    return Error{Errc::kInvalidArgument, fmt::format("'{}' is no share: give one such as 1% or 0.5%", text)};
  }
  share = number / 100;
  return {};
}

Result<std::vector<LabelledPair>> ReadAll(const CalibrateFlags& flags) {
  const Result<std::string> folder = flags.data_dir.empty() ? FindShipped("data/world") : flags.data_dir;
  if (!folder.ok()) return folder.error();
  std::vector<LabelledPair> all;
  for (const std::string& stream : flags.streams) {
    Result<std::vector<LabelledPair>> pairs =
        ReadLabelledPairs(*folder, flags.split, stream, ImageFinder::RootsFromEnvironment());
    if (!pairs.ok()) return pairs.error();
    all.insert(all.end(), std::make_move_iterator(pairs->begin()), std::make_move_iterator(pairs->end()));
  }
  return all;
}

int RunCalibrate(const CalibrateFlags& flags) {
  Result<CacheOptions> options = flags.cache.Resolve();
  if (!options.ok()) return Fail(options.error());
  const Result<std::vector<LabelledPair>> pairs = ReadAll(flags);
  if (!pairs.ok()) return Fail(pairs.error());
  // There is no engine: a hook that looks at the model's own encoder says that it has none.
  if (Status status = flags.cache.AddEncoders({}, *options); !status.ok()) return Fail(status.error());
  const Result<std::vector<CalibrationInput>> inputs = ScorePairs(*pairs, *options, flags.chunk_source);
  if (!inputs.ok()) return Fail(inputs.error());
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  if (!flags.json) fmt::print("false hits wanted: at most {:g} %\n", 100 * flags.false_hit_rate);
  for (const CalibrationInput& input : *inputs) {
    const Calibration calibration = Calibrate(input, flags.false_hit_rate);
    if (!flags.json) fmt::print("\n{}", CalibrationText(calibration));
    layers.push_back(CalibrationJson(calibration));
  }
  if (flags.json) {
    fmt::print("{}\n", JsonText({{"pairs", pairs->size()},
                                 {"chunk_source", Name(flags.chunk_source)},
                                 {"false_hit_rate", flags.false_hit_rate},
                                 {"layers", std::move(layers)}},
                                2));
  }
  return kExitOk;
}

}  // namespace

void AddCalibrate(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Find the threshold of every layer for a wanted share of false hits, from labelled pairs");
  OptionTable table;
  table.Add("--data-dir", flags->data_dir, "Folder of questions and pairs, as `world` writes them; empty: the shipped");
  table.Add("--split", flags->split, "Which part of the data set: train, val, testdev");
  table.AddList("--pairs", flags->streams, "Streams whose labelled pairs are taken").separator = ',';
  table.AddParsed(
      "--false-hit-rate", "PERCENT",
      [rate = &flags->false_hit_rate](const std::string& text) { return ParsePercent(text, *rate); },
      [rate = &flags->false_hit_rate]() -> OptionTable::Json { return fmt::format("{:g}%", *rate * 100); },
      "Largest share of pairs that must not be confused and yet are, such as 1%");
  AddChunkSource(table, flags->chunk_source);
  table.AddFlag("--json", flags->json, "Print one JSON object and nothing else");
  table.SetGroup("Layers");
  AddVectorOptions(table, flags->cache);
  table.SetGroup("Gates");
  AddGateOptions(table, flags->cache);
  table.AddTo(*command);
  command->callback([flags, &exit_code] { exit_code = RunCalibrate(*flags); });
}

}  // namespace afterimage
