// `afterimage store`: looks after a cache folder.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/store_commands.h"

namespace afterimage {
namespace {

struct StoreFlags {
  std::string cache_dir;
  std::vector<std::string> words;
  std::string out;
  uint64_t max_bytes = 0;
  uint64_t max_blocks = 0;
  bool requests = false;
  bool json = false;
};

// The folder comes first among the words, or by its flag.
int WithFolder(StoreFlags& flags, size_t n_words, const char* usage, const auto& run) {
  if (flags.cache_dir.empty() && !flags.words.empty()) {
    flags.cache_dir = flags.words.front();
    flags.words.erase(flags.words.begin());
  }
  if (flags.cache_dir.empty() || flags.words.size() != n_words) {
    return Fail({Errc::kInvalidArgument, std::string("give the cache folder: afterimage store ") + usage});
  }
  while (flags.cache_dir.size() > 1 && flags.cache_dir.ends_with('/')) flags.cache_dir.pop_back();
  return run();
}

}  // namespace

void AddStore(CLI::App& app, int& exit_code) {
  CLI::App* store = app.add_subcommand("store", "Look at a cache folder, check it, shrink it, take it elsewhere");
  store->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, size_t n_words, const char* usage, auto run) {
    auto flags = std::make_shared<StoreFlags>();
    CLI::App* command = store->add_subcommand(name, help);
    command->add_option("DIR", flags->words, n_words == 0 ? "The cache folder" : "The cache folder, and what to show")
        ->expected(0, static_cast<int>(n_words) + 1);
    command->add_option("--cache-dir", flags->cache_dir, "The cache folder, as in other commands");
    command->add_flag("--json", flags->json, "Print one JSON object and nothing else");
    command->callback([flags, n_words, usage, run, &exit_code] {
      exit_code = WithFolder(*flags, n_words, usage, [&] { return run(*flags); });
    });
    return std::pair(command, flags);
  };

  const auto [ls, ls_flags] =
      add("ls", "List chunks, each under the one it follows, and what they take; works beside a running process", 0,
          "ls DIR", [](const StoreFlags& f) { return StoreLs(f.cache_dir, f.requests, f.json); });
  ls->add_flag("--requests", ls_flags->requests, "List answered requests instead");

  add("show", "Everything about one chunk (the first digits of its id) or one request (request:N)", 1, "show DIR ID",
      [](const StoreFlags& f) { return StoreShow(f.cache_dir, f.words.front(), f.json); });

  add("verify",
      "Read every file through its checksum and hold it against the catalogue; changes nothing, exit code 1 "
      "if anything is damaged",
      0, "verify DIR", [](const StoreFlags& f) { return StoreVerify(f.cache_dir, f.json); });

  const auto [gc, gc_flags] =
      add("gc", "Drop what no prompt can reach and what exceeds the limits", 0, "gc DIR",
          [](const StoreFlags& f) { return StoreGc(f.cache_dir, f.max_bytes, f.max_blocks, f.json); });
  gc->add_option("--max-bytes", gc_flags->max_bytes, "Most bytes of chunk files, also 500MB, 2GB; 0: no limit")
      ->transform(CLI::AsSizeValue(true));
  gc->add_option("--max-cached-blocks", gc_flags->max_blocks, "Most blocks of 16 tokens; 0: no limit");

  add("purge", "Remove everything the cache has put into the folder, and nothing else", 0, "purge DIR",
      [](const StoreFlags& f) { return StorePurge(f.cache_dir, f.json); });

  const auto [exported, export_flags] =
      add("export", "Write text_index.json, chunks.jsonl, requests.jsonl and rates.json (for --planner-rates)", 0,
          "export DIR --out FOLDER", [](const StoreFlags& f) { return StoreExport(f.cache_dir, f.out, f.json); });
  exported->add_option("--out", export_flags->out, "Where to write them")->required();
}

}  // namespace afterimage
