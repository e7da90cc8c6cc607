#include "cli/run_flags.h"

#include <fmt/core.h>

#include "cli/chunk_source_flag.h"

namespace afterimage {
namespace {

void AddDatasetOptions(OptionTable& table, DatasetChoice& choice) {
  table.Add("--dataset", choice.name, fmt::format("{}, or a .jsonl file of questions", kDatasetNames));
  table.Add("--data-dir", choice.data_dir, "Folder of the data set's files, or its file; empty: what is shipped");
  table.Add("--split", choice.split, "Which part of the data set: train, val, testdev");
  table
      .Add(
          "--dataset-config", choice.config,
          "Which questions of it; of the world: balanced, or the streams paraphrases, flips, clips, twins, lookalikes, "
          "traffic, mixed, heldout; default: balanced, for gqa val_balanced_instructions")
      .get = [&choice]() -> OptionTable::Json { return WithDefaults(choice).config; };
  table.Add("--max-samples", choice.max_samples, "How many samples; -1: all");
  table.AddParsed(
      "--shuffle-seed", "INT",
      [&choice](const std::string& text) -> Status {
        int64_t seed = 0;
        if (Status status = option_table_internal::ParseText(text, seed); !status.ok()) return status;
        choice.shuffle_seed = seed;
        return {};
      },
      [&choice]() -> OptionTable::Json { return *WithDefaults(choice).shuffle_seed; },
      "Seed of the order they are drawn in; -1: as they come, the default for streams, frames and pairs; else 7");
}

}  // namespace

OptionTable RunOptionTable(RunFlags& flags) {
  OptionTable table;
  AddModelOptions(table, flags.engine);
  AddDatasetOptions(table, flags.dataset);
  AddChunkSource(table, flags.run.chunk_source);
  table.Add("--prompt-template", flags.run.prompt_template,
            fmt::format("What the model is asked: a text with {{question}}, {{image_id}} and the like, or one of {}",
                        kTemplateNames));
  table.AddFlag("--baseline", flags.baseline, "Also run every sample without the cache, and compare");
  table.AddFlag("--oracle", flags.oracle,
                "The labels decide which substitutions are made: what a perfect judge would save");
  table.AddFlag("--answer-replay", flags.run.answer_replay,
                "A question that was asked before gets the answer it got then, whatever its picture: what a cache of "
                "responses would give");
  table.Add("--name", flags.name, "What the log of experiments calls this run");
  table.Add("--notes", flags.notes, "For people; goes into the log");
  table.Add("--samples-file", flags.samples_file, "Write one JSON line a sample to this file");
  table.AddFlag("--metrics", flags.run.metrics,
                "Also GQA's own report: accuracy by kind of question, consistency, distribution");
  AddCacheOptions(table, flags.cache);
  AddSamplingOptions(table, flags.run.sampling);
  AddEngineOptions(table, flags.engine);
  return table;
}

Status ApplyDefaults(OptionTable& table, RunFlags& flags) {
  if (Status status = ApplyCompat(table, flags.cache); !status.ok()) return status;
  return ApplyPreset(table, flags.engine);
}

}  // namespace afterimage
