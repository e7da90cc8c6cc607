// The messages between us and the process of a Python hook; python_hook.h lists them.
#ifndef AFTERIMAGE_EMBED_PYTHON_MESSAGES_H_
#define AFTERIMAGE_EMBED_PYTHON_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "afterimage/embedding.h"
#include "embed/child_process.h"

namespace afterimage {

struct Message {
  nlohmann::json header;  // an object
  std::vector<std::byte> payload;
};

// Errors: as ChildProcess::Send.
Status SendMessage(ChildProcess& process, const nlohmann::json& header,
                   std::span<const std::span<const std::byte>> payload, ChildProcess::Deadline deadline);

// Nothing is allocated for a size over the limits. Errors: kCorrupt (not such a message), as ChildProcess::Receive.
Result<Message> ReceiveMessage(ChildProcess& process, uint64_t max_payload_bytes, ChildProcess::Deadline deadline);

nlohmann::json RequestHeader(std::span<const std::string> names, const EmbeddingInput& input);

// Answers {"ask": what} with what there is, or with an error. Errors: as SendMessage.
Status SendAsked(ChildProcess& process, const std::string& what, const EmbeddingInput& input,
                 ChildProcess::Deadline& deadline);

// The text under that key, or "" if there is none.
std::string TextOf(const nlohmann::json& object, const char* key);

// Errors: kCorrupt, and those of CheckSources.
Result<std::vector<EmbeddingSource>> SourcesOf(const Message& message);

// The vectors of these sources, in that order. Errors: kNotFound (the hook has nothing for the request), kInternal (it
// raised an exception; dimensions other than declared; values that are not finite), kCorrupt.
Result<std::vector<std::vector<float>>> VectorsOf(const Message& message, std::span<const std::string> names,
                                                  std::span<const EmbeddingSource> sources);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_PYTHON_MESSAGES_H_
