// The hooks that are built in: none, prompt, vision, prompt_vision.
//
//   prompt   of the question, by a sentence encoder; modality text
//   vision   of the pictures; modality image, from one of two things:
//              pixels   a description of the pixels (pixel_descriptor.h): a millisecond, no model
//              encoder  the mean of what the model's own vision encoder made of them: knows what is to be seen, and
//                       costs running the encoder, whose output the engine then uses
//
// A request without a picture has nothing for vision (kNotFound, a skip), nor has one flat grey picture; an empty
// question has nothing for prompt. A skip is of the whole call: ask for the sources one by one where that matters.
#ifndef AFTERIMAGE_EMBED_BUILTIN_HOOK_H_
#define AFTERIMAGE_EMBED_BUILTIN_HOOK_H_

#include <functional>
#include <memory>
#include <string>

#include "afterimage/embedding.h"
#include "afterimage/text_encoder.h"
#include "embed/python_hook.h"

namespace afterimage {

// What hooks are made of. Each uses what it needs of it.
struct HookParts {
  // Called once, by a hook with `prompt`, since an encoder costs seconds and memory. Null: there is none to be had.
  std::function<Result<std::shared_ptr<TextEncoder>>()> new_text_encoder;
  std::string vision = "pixels";  // or "encoder"
  // For "encoder": names what shapes the encoder's output (the engine's compatibility digest), and the length of one of
  // its rows. Empty and 0: the engine has no such encoder.
  std::string encoder_identity;
  int encoder_dim = 0;
  PythonHookOptions python;
};

// Errors: kInvalidArgument (no such hook, or no such kind of vision, naming those there are), kUnsupported (a part it
// needs is missing), and those of new_text_encoder.
Result<std::unique_ptr<EmbeddingHook>> NewBuiltinHook(const std::string& name, const HookParts& parts);

}  // namespace afterimage

#endif  // AFTERIMAGE_EMBED_BUILTIN_HOOK_H_
