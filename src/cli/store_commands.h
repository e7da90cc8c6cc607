// The commands of `afterimage store`, each a function of a folder; store.cc gives them their flags.
#ifndef AFTERIMAGE_CLI_STORE_COMMANDS_H_
#define AFTERIMAGE_CLI_STORE_COMMANDS_H_

#include <cstdint>
#include <string>

namespace afterimage {

// Each runs, prints and returns the exit code. `folder` is a cache folder; `json`: one object on stdout, nothing else.
int StoreLs(const std::string& folder, bool requests, bool json);
int StoreShow(const std::string& folder, const std::string& what, bool json);
int StoreVerify(const std::string& folder, bool json);
int StoreGc(const std::string& folder, uint64_t max_bytes, uint64_t max_blocks, bool json);
int StorePurge(const std::string& folder, bool json);
int StoreExport(const std::string& folder, const std::string& out, bool json);

// "8.4 MB"
std::string HumanBytes(uint64_t bytes);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_STORE_COMMANDS_H_
