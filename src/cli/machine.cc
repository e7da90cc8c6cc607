#include "cli/machine.h"

#include <fmt/core.h>

#include <fstream>
#include <thread>

#include "commit.h"  // made by every build (cmake/commit.cmake)

namespace afterimage {

std::string MachineName() {
  std::string name = "unknown processor";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    name = line.substr(line.find(':') + 2);
    break;
  }
  return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

std::string ProgramCommit() { return AFTERIMAGE_COMMIT; }

}  // namespace afterimage
