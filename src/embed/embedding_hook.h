// One way to every hook, by a short text:
//
//   none, prompt, vision, prompt_vision   built in (builtin_hook.h)
//   ./libmine.so:my_factory               out of a shared object (plugin_hook.h): a '/' or ".so:" tells it
//   package.module:Factory                written in Python (python_hook.h)
#ifndef AFTERIMAGE_EMBED_EMBEDDING_HOOK_H_
#define AFTERIMAGE_EMBED_EMBEDDING_HOOK_H_

#include <memory>
#include <string>

#include "afterimage/embedding.h"
#include "embed/builtin_hook.h"

namespace afterimage {

// Errors: kInvalidArgument (none of these, naming them), and those of the hook's kind.
Result<std::unique_ptr<EmbeddingHook>> NewEmbeddingHook(const std::string& spec, const HookParts& parts);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_EMBEDDING_HOOK_H_
