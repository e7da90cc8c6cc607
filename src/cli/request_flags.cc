#include "cli/request_flags.h"

#include <memory>
#include <utility>

namespace afterimage {

Result<Query> RequestFlags::MakeQuery() const {
  std::vector<std::shared_ptr<const Image>> pictures;
  for (const std::string& path : images) {
    Result<std::shared_ptr<const Image>> image = ReadImage(path);
    if (!image.ok()) return image.error();
    pictures.push_back(*image);
  }
  Query query;
  query.request = Ask(std::move(pictures), question);
  if (!system.empty()) {
    query.request.messages.insert(query.request.messages.begin(), Message{"system", {system}});
  }
  query.request.sampling = sampling;
  query.id = "ask";
  query.question = question;
  query.image_paths = images;
  return query;
}

void AddRequestOptions(OptionTable& table, RequestFlags& flags) {
  AddModelOptions(table, flags.engine);
  table.AddList("--image", flags.images, "A picture (PNG, JPEG, WebP); may be given again");
  table.Add("--system", flags.system, "A system message");
  table.AddFlag("--json", flags.json, "Print one JSON object and nothing else");
  AddCacheOptions(table, flags.cache);
  AddSamplingOptions(table, flags.sampling);
  AddEngineOptions(table, flags.engine);
}

}  // namespace afterimage
