// `afterimage bench`: the measured claims of the README, on this machine.
#include <CLI/CLI.hpp>

#include "cli/bench_cache.h"
#include "cli/bench_layers.h"
#include "cli/bench_reuse.h"
#include "cli/bench_store.h"
#include "cli/command.h"

namespace afterimage {
namespace {

void AddReuseBench(CLI::App& bench, int& exit_code) {
  auto flags = std::make_shared<ReuseBenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "reuse",
      "Time to first token: plain llama.cpp, cold canonical run, encoder output put back, stored picture with a new "
      "question, full hit; on random-weight models made here");
  command->add_option("--shape", flags->shapes, "Model shapes: demo, 0.5b, 2b")->delimiter(',')->capture_default_str();
  command->add_option("--pairs", flags->pairs, "Interleaved repeats")->capture_default_str();
  command
      ->add_option("--prefill-pairs", flags->prefill_pairs, "Pairs of canonical steps and plain, without the encoder")
      ->capture_default_str();
  command->add_option("--threads", flags->threads, "Threads; 0: as many as the machine has, at most 8")
      ->capture_default_str();
  command->add_option("--text-tokens", flags->text_tokens, "Tokens of the prompt beside the picture")
      ->capture_default_str();
  command->add_option("--models-dir", flags->models_dir, "Where the models are made (0.5b and 2b: 3.6 GB)")
      ->capture_default_str();
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  command->callback([flags, &exit_code] { exit_code = RunReuseBench(*flags); });
}

void AddCacheBench(CLI::App& bench, int& exit_code) {
  auto flags = std::make_shared<CacheBenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "cache",
      "Requests through the cache and without it, side by side: time to first token by class, what a miss costs, "
      "whether answers are identical; on a random-weight model made here");
  const auto add = [&](const char* name, auto& value, const char* help) {
    command->add_option(name, value, help)->capture_default_str();
  };
  add("--shape", flags->shape, "Model shape: demo, 0.5b, 2b");
  add("--pictures", flags->pictures, "Pictures");
  add("--questions", flags->questions, "Questions about each, every one asked twice");
  add("--misses", flags->misses, "Pairs that measure the cost of a miss");
  add("--threads", flags->threads, "Threads; 0: as many as the machine has, at most 8");
  add("--text-tokens", flags->text_tokens, "Tokens of the prompt beside the picture");
  add("--models-dir", flags->models_dir, "Where the model is made");
  add("--cache-dir", flags->cache_dir, "The cache's folder; empty: a temporary one");
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  command->callback([flags, &exit_code] { exit_code = RunCacheBench(*flags); });
}

void AddStoreBench(CLI::App& bench, int& exit_code) {
  auto flags = std::make_shared<StoreBenchFlags>();
  CLI::App* command = bench.add_subcommand(
      "store",
      "Loads from memory, page cache and disk beside memcpy, plain reads and fio; what the checksum costs; lookups, "
      "writes");
  const auto add = [&](const char* name, auto& value, const char* help) {
    command->add_option(name, value, help)->capture_default_str();
  };
  add("--dir", flags->dir, "Where to make its folder, on the disk to be measured; empty: with temporary files");
  add("--chunk-mb", flags->chunk_mb, "Size of the chunk that is loaded");
  add("--repeats", flags->repeats, "Interleaved repeats");
  add("--chunks", flags->chunks, "Chunks held while lookups are measured");
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  command->callback([flags, &exit_code] { exit_code = RunStoreBench(*flags); });
}

void AddLayersBench(CLI::App& bench, int& exit_code) {
  auto flags = std::make_shared<LayersBenchFlags>();
  CLI::App* command =
      bench.add_subcommand("layers", "What asking each layer costs, by entries, and what making its vector costs");
  command->add_option("--entries", flags->entries, "How many entries")->delimiter(',')->capture_default_str();
  command->add_option("--lookups", flags->lookups, "Look-ups")->capture_default_str();
  command->add_option("--index-encoder", flags->encoder, "Sentence encoder")->capture_default_str();
  command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
  command->callback([flags, &exit_code] { exit_code = RunLayersBench(*flags); });
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "Measure what reuse is worth on this machine");
  command->require_subcommand(1);
  AddReuseBench(*command, exit_code);
  AddCacheBench(*command, exit_code);
  AddStoreBench(*command, exit_code);
  AddLayersBench(*command, exit_code);
}

}  // namespace afterimage
