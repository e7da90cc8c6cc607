// Presets: models by name, with what is to be known about running them, and where shipped files lie.
#ifndef AFTERIMAGE_CLI_PRESETS_H_
#define AFTERIMAGE_CLI_PRESETS_H_

#include <string>
#include <vector>

#include "afterimage/llama_engine.h"
#include "afterimage/result.h"

namespace afterimage {

inline constexpr const char* kDefaultPreset = "tiny-internvl";

std::vector<std::string> PresetNames();

// Fills in what `options` leaves open: the model's files (models/<preset>/model.gguf and mmproj.gguf), its picture
// limits and threads. Errors: kInvalidArgument (no such preset), kNotFound (naming the files looked for, and where).
Status ApplyPreset(const std::string& preset, LlamaOptions& options);

// A shipped file or folder ("models/tiny-internvl", "data/world"): under $AFTERIMAGE_HOME, the current folder, the
// folder above the program's, or its share/afterimage. Errors: kNotFound, naming all of these.
Result<std::string> FindShipped(const std::string& name);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_PRESETS_H_
