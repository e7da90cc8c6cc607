// `afterimage world`: writes a data set with known truth.
#include "data/world/world.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace afterimage {
namespace {

struct WorldFlags {
  world::WorldOptions options;
  std::string folder;
  bool json = false;
};

int RunWorld(const WorldFlags& flags) {
  const bool show = isatty(STDERR_FILENO) != 0 && !flags.json;
  const Result<world::WorldSummary> written =
      world::WriteWorld(flags.options, flags.folder, [&](size_t done, size_t all) {
        if (show && (done % 16 == 0 || done == all)) fmt::print(stderr, "\rpictures {}/{}", done, all);
      });
  if (show) fmt::print(stderr, "\n");
  if (!written.ok()) return Fail(written.error());
  if (flags.json) {
    const nlohmann::ordered_json json = {{"folder", flags.folder},        {"seed", flags.options.seed},
                                         {"pictures", written->pictures}, {"questions", written->questions},
                                         {"pairs", written->pairs},       {"bytes", written->bytes}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {} pictures, {} questions, {} labelled pairs, {:.1f} MB\n", flags.folder, written->pictures,
               written->questions, written->pairs, static_cast<double>(written->bytes) / 1e6);
  }
  return kExitOk;
}

}  // namespace

void AddWorld(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<WorldFlags>();
  CLI::App* command =
      app.add_subcommand("world", "Write the synthetic data set: pictures, GQA-format questions, labels");
  command->add_option("--out", flags->folder, "Folder to write to")->required();
  command->add_option("--seed", flags->options.seed, "The same seed writes the same bytes")->capture_default_str();
  command->add_option("--scenes", flags->options.scenes, "Scenes in each split")->capture_default_str();
  command->add_option("--split", flags->options.splits, "Only this split; may be given again")
      ->allow_extra_args(false)
      ->default_str("train val testdev");
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  command->callback([flags, &exit_code] { exit_code = RunWorld(*flags); });
}

}  // namespace afterimage
