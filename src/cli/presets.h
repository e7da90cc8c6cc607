// Presets: bundles of options for a model, by name. A flag that is given overrides what the preset says.
#ifndef AFTERIMAGE_CLI_PRESETS_H_
#define AFTERIMAGE_CLI_PRESETS_H_

#include <string>
#include <vector>

#include "cli/option_table.h"

namespace afterimage {

inline constexpr const char* kDefaultPreset = "tiny-internvl";

std::vector<std::string> PresetNames();

// The preset's options under their keys. Errors: kInvalidArgument (no such preset, naming those there are).
Result<OptionTable::Json> PresetOptions(const std::string& preset);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_PRESETS_H_
