// A TextEncoder out of a GGUF file: llama.cpp runs BERT-like sentence encoders as it runs language models.
//
// Always on the processor, whatever llama.cpp is built for: a question is a few dozen tokens, and the GPU is busy with
// the model that answers. A short question takes a few milliseconds on one thread.
#ifndef AFTERIMAGE_LLAMA_TEXT_ENCODER_H_
#define AFTERIMAGE_LLAMA_TEXT_ENCODER_H_

#include <memory>
#include <string>

#include "afterimage/llama_engine.h"
#include "afterimage/text_encoder.h"

namespace afterimage {

// Vectors are of length 1. A text is cut to the encoder's context, at most 512 tokens; one with a NUL in it is refused
// like one that is not UTF-8. Calls take turns.
// `file_digest_cache`: as LlamaOptions::file_digest_cache.
// Errors: kNotFound; kInvalidArgument (no GGUF file, no model, threads not 1 to 512); kUnsupported (a model that does
// not make one vector of a text); kIo, kTooLarge, kInternal.
Result<std::unique_ptr<TextEncoder>> NewLlamaTextEncoder(
    const std::string& gguf_path, int threads = 1,
    const std::string& file_digest_cache = LlamaOptions::DefaultFileDigestCache());

}  // namespace afterimage

#endif  // AFTERIMAGE_LLAMA_TEXT_ENCODER_H_
