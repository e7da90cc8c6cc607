#include "embed/python_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "embed/sources.h"

namespace afterimage {
namespace {

using nlohmann::json;
using Deadline = ChildProcess::Deadline;

constexpr uint32_t kMagic = 0x31484941;  // "AIH1"
constexpr size_t kPrefixBytes = 16;
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

Error NotProtocol(std::string_view what) {
  return Error{Errc::kCorrupt, fmt::format("It sent what is not the protocol of hooks: {}.", what)};
}

int64_t NumberOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : -1;
}

Status SendError(ChildProcess& process, const std::string& message, Deadline deadline) {
  return SendMessage(process, {{"error", message}}, {}, deadline);
}

}  // namespace

Status SendMessage(ChildProcess& process, const json& header, std::span<const std::span<const std::byte>> payload,
                   Deadline deadline) {
  // Of a text that is not UTF-8 the rest is sent: it is the request's, and no reason to fail.
  const std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  uint64_t payload_bytes = 0;
  for (const std::span<const std::byte> part : payload) payload_bytes += part.size();
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.Write(kMagic);
  writer.Write(static_cast<uint32_t>(text.size()));
  writer.Write(payload_bytes);
  writer.Append(std::as_bytes(std::span(text)));
  Status sent = process.Send(bytes, deadline);
  for (const std::span<const std::byte> part : payload) {
    if (!sent.ok()) break;
    sent = process.Send(part, deadline);
  }
  return sent;
}

Result<Message> ReceiveMessage(ChildProcess& process, uint64_t max_payload_bytes, Deadline deadline) {
  std::array<std::byte, kPrefixBytes> prefix;
  Status received = process.Receive(prefix, deadline);
  if (!received.ok()) return received.error();
  ByteReader reader(prefix);
  if (reader.Read<uint32_t>() != kMagic) return NotProtocol("no magic number");
  const uint64_t header_bytes = reader.Read<uint32_t>();
  const uint64_t payload_bytes = reader.Read<uint64_t>();
  if (header_bytes > kMaxHeaderBytes) return NotProtocol(fmt::format("a header of {} bytes", header_bytes));
  if (payload_bytes > max_payload_bytes) return NotProtocol(fmt::format("a payload of {} bytes", payload_bytes));

  std::string text(header_bytes, '\0');
  received = process.Receive(std::as_writable_bytes(std::span(text)), deadline);
  if (!received.ok()) return received.error();
  Message message;
  message.payload.resize(payload_bytes);
  received = process.Receive(message.payload, deadline);
  if (!received.ok()) return received.error();
  message.header = json::parse(text, nullptr, false);
  if (!message.header.is_object()) return NotProtocol("a header that is not a JSON object");
  return message;
}

json RequestHeader(std::span<const std::string> names, const EmbeddingInput& input) {
  return {{"names", std::vector<std::string>(names.begin(), names.end())},
          {"id", input.id},
          {"question", input.question},
          {"chunk_text", input.chunk_text},
          {"image_paths", std::vector<std::string>(input.image_paths.begin(), input.image_paths.end())},
          {"metadata", input.metadata}};
}

Status SendAsked(ChildProcess& process, const std::string& what, const EmbeddingInput& input, Deadline& deadline) {
  json described = json::array();
  std::vector<std::span<const std::byte>> payload;
  if (what == "pictures") {
    for (const std::shared_ptr<const Image>& image : input.images) {
      described.push_back({{"width", image->width()}, {"height", image->height()}});
      payload.push_back(std::as_bytes(image->rgb()));
    }
    return SendMessage(process, {{"pictures", std::move(described)}}, payload, deadline);
  }
  if (what != "encoder_output") return NotProtocol("it asks for what there is not");
  if (!input.encoder_output) {
    return SendError(process, "There is no output of the vision encoder to be had.", deadline);
  }
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::vector<NamedTensor>> tensors = input.encoder_output();
  deadline += std::chrono::steady_clock::now() - begin;  // our time, not the hook's
  if (!tensors.ok()) return SendError(process, tensors.error().message, deadline);
  for (const NamedTensor& tensor : *tensors) {
    described.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    payload.push_back(std::as_bytes(std::span(tensor.values)));
  }
  return SendMessage(process, {{"tensors", std::move(described)}}, payload, deadline);
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Result<std::vector<EmbeddingSource>> SourcesOf(const Message& message) {
  const auto list = message.header.find("sources");
  if (list == message.header.end() || !list->is_array()) return NotProtocol("no sources");
  std::vector<EmbeddingSource> sources;
  for (const json& entry : *list) {
    if (!entry.is_object()) return NotProtocol("a source that is not an object");
    EmbeddingSource source;
    source.name = TextOf(entry, "name");
    source.identity = TextOf(entry, "identity");
    source.dim = static_cast<int>(std::clamp<int64_t>(NumberOf(entry, "dim"), -1, kMaxEmbeddingDim + 1));
    const std::optional<Modality> modality = ModalityFromName(TextOf(entry, "modality"));
    if (!modality) {
      return Error{Errc::kInvalidArgument,
                   fmt::format("The modality of the source '{}' is not text, image or joint.", source.name)};
    }
    source.modality = *modality;
    sources.push_back(std::move(source));
  }
  const Status checked = CheckSources(sources);
  if (!checked.ok()) return checked.error();
  return sources;
}

Result<std::vector<std::vector<float>>> VectorsOf(const Message& message, std::span<const std::string> names,
                                                  std::span<const EmbeddingSource> sources) {
  if (message.header.contains("nothing")) return Error{Errc::kNotFound, TextOf(message.header, "nothing")};
  if (message.header.contains("error")) return Error{Errc::kInternal, TextOf(message.header, "error")};
  const auto list = message.header.find("vectors");
  if (list == message.header.end() || !list->is_array() || list->size() != names.size()) {
    return NotProtocol("no vectors");
  }
  ByteReader reader(message.payload);
  std::vector<std::vector<float>> vectors;
  for (size_t i = 0; i < names.size(); ++i) {
    const json& entry = (*list)[i];
    if (!entry.is_object() || TextOf(entry, "name") != names[i]) return NotProtocol("vectors of other sources");
    const int64_t dim = NumberOf(entry, "dim");
    const std::span<const std::byte> bytes = reader.Take(static_cast<uint64_t>(std::max<int64_t>(dim, 0)) * 4);
    if (dim < 0 || !reader.ok()) return NotProtocol("fewer values than announced");
    std::vector<float> vector(bytes.size() / 4);
    if (!bytes.empty()) std::memcpy(vector.data(), bytes.data(), bytes.size());
    const Status checked = CheckVector(SourceOf(sources, names[i]), vector);
    if (!checked.ok()) return checked.error();
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace afterimage
