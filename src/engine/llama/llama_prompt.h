// LlamaPrompt: a request rendered by the chat template, tokenised by libmtmd and cut into segments.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_PROMPT_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_PROMPT_H_

#include <mtmd.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "afterimage/prompt.h"
#include "afterimage/request.h"
#include "engine/llama/llama_runtime.h"

namespace afterimage {

class LlamaPrompt : public Prompt {
 public:
  // `chat_template` empty: the model's own. `preprocessing` names everything beside the pixels that shapes a picture's
  // tokens, and becomes part of its content identity. Pictures are counted here, not preprocessed: a hit needs none of
  // it. Errors: kInvalidArgument, kTooLarge.
  static Result<std::unique_ptr<LlamaPrompt>> Make(LlamaRuntime& runtime, const Request& request,
                                                   const std::string& chat_template, const Digest& preprocessing);

  LlamaRuntime& runtime() const { return runtime_; }

  // libmtmd's chunk of an image segment: its size and positions; no pixels.
  const mtmd_input_chunk* image_chunk(size_t segment) const { return image_chunks_[segment]; }

  // What the cells of a segment must be in the context.
  std::vector<StateCell> CellsOf(size_t segment) const;

  // The encoder output of an image segment: put back earlier, or computed now.
  // [n_tokens, image_row_floats]. Errors: kInternal.
  Result<std::span<const float>> EncoderOutput(size_t segment);
  bool has_encoder_output(size_t segment) const { return !encoder_output_[segment].empty(); }
  // REQUIRES: the size is right.
  void PutBackEncoderOutput(size_t segment, std::vector<float> output) { encoder_output_[segment] = std::move(output); }

 private:
  LlamaPrompt(LlamaRuntime& runtime, std::vector<Segment> segments) : Prompt(std::move(segments)), runtime_(runtime) {}

  Result<mtmd::input_chunks_ptr> TokenizeWithPixels() const;

  LlamaRuntime& runtime_;
  std::string text_;  // rendered, with a marker for each picture
  std::vector<std::shared_ptr<const Image>> images_;
  mtmd::input_chunks_ptr counted_;                     // chunks without pixels; null for a text model
  mtmd::input_chunks_ptr with_pixels_;                 // the same with pixels, made when a picture must be encoded
  std::vector<const mtmd_input_chunk*> image_chunks_;  // by segment; into counted_
  std::vector<size_t> chunk_index_;                    // by segment
  std::vector<std::vector<float>> encoder_output_;     // by segment
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_PROMPT_H_
