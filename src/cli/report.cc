// `afterimage report`: logs of experiments as one page to look at.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "core/byte_size.h"
#include "page/page.h"
#include "store/file_system.h"

namespace afterimage {
namespace {

struct ReportFlags {
  std::vector<std::string> logs;
  std::string output = "report.html";
  std::string title = "afterimage: experiments";
};

int RunReport(const ReportFlags& flags) {
  const Result<std::string> page = MakePage(flags.logs, flags.title);
  if (!page.ok()) return Fail(page.error());
  const std::span<const std::byte> bytes = std::as_bytes(std::span(*page));
  if (Status status = PosixFileSystem().WriteFile(flags.output, {&bytes, 1}, /*sync=*/false); !status.ok()) {
    return Fail(status.error());
  }
  fmt::print("{} ({})\n", flags.output, FormatByteSize(page->size()));
  return kExitOk;
}

}  // namespace

void AddReport(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command =
      app.add_subcommand("report", "Make one HTML page out of logs of experiments; it needs nothing but a browser");
  command->add_option("log", flags->logs, "Logs that run, sweep and ablate wrote: CSV, or .jsonl")->required();
  command->add_option("-o,--output", flags->output, "The page to write")->capture_default_str();
  command->add_option("--title", flags->title, "Its title")->capture_default_str();
  command->callback([flags, &exit_code] { exit_code = RunReport(*flags); });
}

}  // namespace afterimage
