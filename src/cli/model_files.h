// Where models lie: a file, a folder, or a name looked up in the local model folders. Nothing is downloaded here.
#ifndef AFTERIMAGE_CLI_MODEL_FILES_H_
#define AFTERIMAGE_CLI_MODEL_FILES_H_

#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

struct ModelFiles {
  std::string model;
  std::string mmproj;  // empty: none lies beside it
};

// `name`:
//   a .gguf file
//   a folder with model.gguf (or the only GGUF file that is no projector) and, for pictures, mmproj*.gguf
//   a hub name ("OpenGVLab/InternVL3_5-2B-Instruct") or a preset's ("tiny-internvl"): such a folder under one of the
//   local model folders: $AFTERIMAGE_MODELS (several, ':' between), the shipped models/, ~/.cache/huggingface/hub,
//   ~/.cache/llama.cpp, ~/.lmstudio/models
// A projector is taken only for a folder; with several files to choose from the error names them.
// Errors: kNotFound (naming every place looked at), kInvalidArgument, kUnsupported (a model no engine here runs).
Result<ModelFiles> FindModel(const std::string& name);

// A shipped file or folder ("models/tiny-internvl", "data/world"): under $AFTERIMAGE_HOME, the current folder, the
// folder above the program's, or its share/afterimage. Errors: kNotFound, naming all of these.
Result<std::string> FindShipped(const std::string& name);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_MODEL_FILES_H_
