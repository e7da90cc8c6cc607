// A hook written in Python, run in a process of its own: "package.module:Factory".
//
// The module is imported from the current folder or PYTHONPATH, and Factory() called once (docs/hooks.md says what it
// returns). Requests go to the process one at a time. The process cannot harm ours: an answer that is late, damaged, of
// another dimension or not finite is an error, and so a miss. Where the process has died, hung or written what is not
// the protocol it is killed, and the next request starts it anew, three times at most in the life of the hook; after
// that the hook is out of service and says so.
//
// The protocol. Both sides send messages over a socket:
//   magic      u32, "AIH1"
//   n_header   u32, at most 1 MiB
//   n_payload  u64
//   header     JSON
//   payload    raw values, little-endian
//
//   the process         {"sources": [{"name", "dim", "modality", "identity"}]}, once, at the start
//   we                  {"names", "id", "question", "chunk_text", "image_paths", "metadata"}: a request
//   the process         {"ask": "encoder_output"} or {"ask": "pictures"}, any number of times
//   we                  {"tensors": [{"name", "shape"}]}, 32-bit floats, or {"pictures": [{"width", "height"}]}, RGB
//                       bytes; or {"error"}
//   the process         {"vectors": [{"name", "dim"}]}, 32-bit floats; or {"nothing": why}; or {"error": traceback}
#ifndef AFTERIMAGE_EMBED_PYTHON_HOOK_H_
#define AFTERIMAGE_EMBED_PYTHON_HOOK_H_

#include <chrono>
#include <memory>
#include <string>

#include "afterimage/embedding.h"

namespace afterimage {

struct PythonHookOptions {
  std::string python = "python3";  // looked for along PATH
  std::chrono::milliseconds start_limit{30'000};
  std::chrono::milliseconds call_limit{10'000};  // not counting the time we take to answer what it asks
};

// Starts the process and waits until it has named its sources.
// Errors: kInvalidArgument (not of the form above; sources that cannot be), kNotFound (no Python), kInternal (it did
// not start; the message has the cause and what it printed last).
Result<std::unique_ptr<EmbeddingHook>> NewPythonHook(const std::string& spec, const PythonHookOptions& options = {});

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_PYTHON_HOOK_H_
