#include "afterimage/request.h"

#include <utility>

namespace afterimage {

Request Ask(std::vector<std::shared_ptr<const Image>> images, std::string question) {
  Message message;
  for (std::shared_ptr<const Image>& image : images) {
    message.parts.emplace_back(std::move(image));
    message.parts.emplace_back("\n");
  }
  message.parts.emplace_back(std::move(question));
  Request request;
  request.messages.push_back(std::move(message));
  return request;
}

}  // namespace afterimage
