// Command: one word of the command line (`afterimage ask`), in one file each.
#ifndef AFTERIMAGE_CLI_COMMAND_H_
#define AFTERIMAGE_CLI_COMMAND_H_

#include "afterimage/result.h"

namespace CLI {
class App;
}

namespace afterimage {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitBadUsage = 2;

// Each adds its flags to `app` and, when chosen, leaves its exit code in `exit_code`.
void AddAblate(CLI::App& app, int& exit_code);
void AddAsk(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);
void AddCalibrate(CLI::App& app, int& exit_code);
void AddExplain(CLI::App& app, int& exit_code);
void AddReport(CLI::App& app, int& exit_code);
void AddRun(CLI::App& app, int& exit_code);
void AddStore(CLI::App& app, int& exit_code);
void AddSweep(CLI::App& app, int& exit_code);
void AddWorld(CLI::App& app, int& exit_code);

// Prints "afterimage: <message>" on stderr. kExitBadUsage for an invalid argument, else kExitFailed.
int Fail(const Error& error);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_COMMAND_H_
