// LlamaRuntime: one model in one context, driven one call at a time.
//
// The only class that calls llama_decode and its like. It knows sequences, tokens and bytes; requests, segments and
// sampling are its callers' business. The context is made as reuse needs it: one stream per sequence, so that a
// sequence's arithmetic does not depend on its neighbours' cells, flash attention, explicit K and V types.
//
// Thread safety: all methods may be called from any thread; calls into the model take turns.
#ifndef AFTERIMAGE_ENGINE_LLAMA_LLAMA_RUNTIME_H_
#define AFTERIMAGE_ENGINE_LLAMA_LLAMA_RUNTIME_H_

#include <llama-cpp.h>
#include <mtmd.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterimage/image.h"
#include "afterimage/llama_engine.h"
#include "engine/llama/state_blob.h"

namespace afterimage {

class LlamaRuntime {
 public:
  // Errors: kNotFound, kInvalidArgument, kUnsupported.
  static Result<std::unique_ptr<LlamaRuntime>> Load(const LlamaOptions& options);

  const llama_model* model() const { return model_.get(); }
  const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }
  const llama_context* context() const { return context_.get(); }
  bool vision() const { return mtmd_ != nullptr; }
  bool mrope() const { return mrope_; }
  int threads() const { return threads_; }
  int batch_tokens() const { return batch_tokens_; }
  int vocab_size() const { return llama_vocab_n_tokens(vocab()); }
  int context_tokens() const { return static_cast<int>(llama_n_ctx_seq(context_.get())); }
  int max_sequences() const { return static_cast<int>(llama_n_seq_max(context_.get())); }
  int image_row_floats() const { return llama_model_n_embd_inp(model_.get()); }  // of one token's encoder output
  // What the state blobs look like, or why they are not used.
  const Result<StateFormat>& state_format() const { return state_format_; }

  // The marker that stands for a picture in a prompt's text.
  static const char* media_marker() { return "<__afterimage_picture__>"; }

  // Text and pictures as libmtmd's chunks; each marker takes the next picture. Without `with_pixels` the pictures are
  // counted, not preprocessed. REQUIRES: vision().
  Result<mtmd::input_chunks_ptr> Tokenize(const std::string& text, std::span<const std::shared_ptr<const Image>> images,
                                          bool with_pixels) const;
  // Which of the pictures an image chunk of Tokenize belongs to; a tiled picture has several chunks.
  static size_t ImageIndexOf(const mtmd_input_chunk* chunk);
  // Text alone.
  Result<std::vector<llama_token>> Tokenize(const std::string& text) const;

  // Runs the vision encoder and projector. [n_tokens, image_row_floats]
  Result<std::vector<float>> Encode(const mtmd_input_chunk* chunk);

  // One batch. With `logits`, those of the last token are copied there. REQUIRES: at most batch_tokens() tokens.
  Status DecodeText(llama_seq_id sequence, std::span<const llama_token> tokens, llama_pos first_position,
                    std::vector<float>* logits);
  // Batches of batch_tokens(). REQUIRES: FitsOneBatch(chunk)
  Status DecodeImage(llama_seq_id sequence, const mtmd_input_chunk* chunk, std::span<const float> embeddings,
                     llama_pos first_position);

  // False for a picture whose tokens must see each other in one batch and do not fit one.
  bool FitsOneBatch(const mtmd_input_chunk* chunk) const;

  // The rows of some runs of cells of a sequence, in canonical form. REQUIRES: state_format().ok()
  Result<std::vector<std::vector<std::byte>>> CaptureRows(llama_seq_id sequence,
                                                          std::span<const std::vector<StateCell>> runs);
  // Loads a finished blob; the sequence is empty after an error. REQUIRES: state_format().ok()
  Status LoadState(llama_seq_id sequence, std::span<const std::byte> blob);

  void Clear(llama_seq_id sequence);
  // Clear, and zeros in the first `n_cells` cells: for when values that are not finite may lie there (AllFinite).
  // Without a known state format it can only clear. Errors: kTooLarge, kInternal; the values are still there then.
  Status Scrub(llama_seq_id sequence, int n_cells);

  // A sequence nobody uses, or nullopt. Clear or scrub it before giving it back.
  std::optional<llama_seq_id> TakeSequence();
  void GiveBackSequence(llama_seq_id sequence);

  std::unique_ptr<StagingBuffer> TakeStaging();
  void GiveBackStaging(std::unique_ptr<StagingBuffer> staging);

 private:
  LlamaRuntime() = default;

  Status LoadModel(const LlamaOptions& options);
  Status LoadContext(const LlamaOptions& options);
  Status LoadProjector(const LlamaOptions& options);
  // Captures, takes apart, rebuilds and reloads the state of a few tokens, and compares every byte.
  Result<StateFormat> LearnState();
  Result<std::span<const std::byte>> SaveLocked(llama_seq_id sequence, StagingBuffer& staging);
  Status DecodeLocked(llama_seq_id sequence, std::span<const llama_token> tokens, llama_pos first_position,
                      std::vector<float>* logits);
  void ClearLocked(llama_seq_id sequence);

  llama_model_ptr model_;
  llama_context_ptr context_;
  mtmd::context_ptr mtmd_;
  bool mrope_ = false;
  int threads_ = 0;
  int batch_tokens_ = 0;
  Result<StateFormat> state_format_ = Error{Errc::kUnsupported, "not loaded"};

  std::mutex model_mutex_;  // held during every call into context_ and the encoder
  std::mutex pool_mutex_;
  std::vector<bool> in_use_;                             // by sequence; guarded by pool_mutex_
  std::vector<std::unique_ptr<StagingBuffer>> staging_;  // guarded by pool_mutex_
};

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_LLAMA_RUNTIME_H_
