#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/command.h"

int main(int argc, char** argv) {
  using namespace afterimage;
  CLI::App app("afterimage: a cache that keeps what a vision-language model has already computed.", "afterimage");
  app.set_version_flag("--version", AFTERIMAGE_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  int exit_code = kExitOk;
  AddAsk(app, exit_code);
  AddRun(app, exit_code);
  AddSweep(app, exit_code);
  AddAblate(app, exit_code);
  AddReport(app, exit_code);
  AddExplain(app, exit_code);
  AddCalibrate(app, exit_code);
  AddBench(app, exit_code);
  AddStore(app, exit_code);
  AddWorld(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kExitOk : kExitBadUsage;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "afterimage: %s\n", e.what());
    return kExitFailed;
  }
  return exit_code;
}
