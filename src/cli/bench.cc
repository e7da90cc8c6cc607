// `afterimage bench`: the measured claims of the README, on this machine.
#include "cli/bench_reuse.h"
#include "cli/command.h"

namespace afterimage {

void AddBench(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "Measure what reuse is worth on this machine");
  command->require_subcommand(1);
  auto reuse = std::make_shared<ReuseBenchFlags>();
  CLI::App* reuse_command = command->add_subcommand(
      "reuse",
      "Time to first token: plain llama.cpp, cold canonical run, encoder output put back, stored picture with a new "
      "question, full hit; on random-weight models made here");
  reuse_command->add_option("--shape", reuse->shapes, "Model shapes: demo, 0.5b, 2b")
      ->delimiter(',')
      ->capture_default_str();
  reuse_command->add_option("--pairs", reuse->pairs, "Interleaved repeats")->capture_default_str();
  reuse_command
      ->add_option("--prefill-pairs", reuse->prefill_pairs, "Pairs of canonical steps and plain, without the encoder")
      ->capture_default_str();
  reuse_command->add_option("--threads", reuse->threads, "Threads; 0: as many as the machine has, at most 8")
      ->capture_default_str();
  reuse_command->add_option("--text-tokens", reuse->text_tokens, "Tokens of the prompt beside the picture")
      ->capture_default_str();
  reuse_command->add_option("--models-dir", reuse->models_dir, "Where the models are made (0.5b and 2b: 3.6 GB)")
      ->capture_default_str();
  reuse_command->add_flag("--json", reuse->json, "Print one JSON object and nothing else");
  reuse_command->callback([reuse, &exit_code] { exit_code = RunReuseBench(*reuse); });
}

}  // namespace afterimage
