// A hook out of a shared object: "./libmine.so:my_factory". afterimage/embedding_plugin.h is what its author reads.
//
// The object is code of the user's choice and runs in our process: nothing guards against what it does, but its vectors
// are checked like everybody's. It stays loaded while a hook from it lives.
#ifndef AFTERIMAGE_EMBED_PLUGIN_HOOK_H_
#define AFTERIMAGE_EMBED_PLUGIN_HOOK_H_

#include <memory>
#include <string>

#include "afterimage/embedding.h"

namespace afterimage {

// The file is the one named; folders of the system are not searched for it.
// Errors: kNotFound (no such file, no such symbol), kInvalidArgument (not a shared object; sources that cannot be),
// kUnsupported (written for another version of the header), kInternal (the factory returned none, and why).
Result<std::unique_ptr<EmbeddingHook>> NewPluginHook(const std::string& path, const std::string& factory);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_PLUGIN_HOOK_H_
