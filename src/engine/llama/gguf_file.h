// What is looked at in a GGUF file before llama.cpp is given it.
#ifndef AFTERIMAGE_ENGINE_LLAMA_GGUF_FILE_H_
#define AFTERIMAGE_ENGINE_LLAMA_GGUF_FILE_H_

#include <string>

#include "afterimage/result.h"

namespace afterimage {

// That the file is there, is a GGUF file, and holds all the tensors it says: libmtmd reads on where one is cut short.
// `what` begins the message: "--model". Errors: kNotFound, kInvalidArgument.
Status CheckGgufFile(const char* what, const std::string& path);

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_GGUF_FILE_H_
