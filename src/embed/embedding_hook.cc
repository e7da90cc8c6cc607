#include "embed/embedding_hook.h"

#include <fmt/format.h>

#include "embed/plugin_hook.h"
#include "embed/python_hook.h"

namespace afterimage {

Result<std::unique_ptr<EmbeddingHook>> NewEmbeddingHook(const std::string& spec, const HookParts& parts) {
  const size_t colon = spec.rfind(':');
  const bool named = colon != std::string::npos && colon > 0 && colon + 1 < spec.size();
  const bool shared_object = spec.find('/') != std::string::npos || spec.find(".so:") != std::string::npos;
  if (named && shared_object) return NewPluginHook(spec.substr(0, colon), spec.substr(colon + 1));
  if (named) return NewPythonHook(spec, parts.python);
  for (const char* builtin : {"none", "prompt", "vision", "prompt_vision"}) {
    if (spec == builtin) return NewBuiltinHook(spec, parts);
  }
  return Error{Errc::kInvalidArgument,
               fmt::format("There is no embedding hook '{}'. There are none, prompt, vision and prompt_vision; "
                           "./libmine.so:factory out of a shared object; package.module:Factory in Python.",
                           spec)};
}

}  // namespace afterimage
