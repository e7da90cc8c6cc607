// Request: what a client asks: a conversation with pictures, and how to sample the answer.
#ifndef AFTERIMAGE_REQUEST_H_
#define AFTERIMAGE_REQUEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "afterimage/image.h"

namespace afterimage {

// One turn of the conversation: text and pictures in the order the model reads them.
struct Message {
  using Part = std::variant<std::string, std::shared_ptr<const Image>>;
  std::string role = "user";  // "system", "user" or "assistant"
  std::vector<Part> parts;
};

struct Sampling {
  int max_tokens = 64;
  float temperature = 0;  // 0: greedy, and the rest is not used
  int top_k = 40;         // 0: all
  float top_p = 0.95f;
  uint32_t seed = 7;
  std::vector<int32_t> stop_tokens;  // beside the model's own end-of-generation tokens
};

struct Request {
  std::vector<Message> messages;
  Sampling sampling;
};

// The usual request: pictures, a line break each, then the question.
Request Ask(std::vector<std::shared_ptr<const Image>> images, std::string question);

}  // namespace afterimage

#endif  // AFTERIMAGE_REQUEST_H_
