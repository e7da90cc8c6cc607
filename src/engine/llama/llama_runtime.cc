#include "engine/llama/llama_runtime.h"

#include <fmt/format.h>
#include <mtmd-helper.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "engine/llama/cache_refusal.h"
#include "engine/llama/gguf_file.h"
#include "engine/llama/guarded.h"
#include "engine/llama/llama_log.h"

namespace afterimage {
namespace {

Status CheckOptions(const LlamaOptions& options) {
  const auto in_range = [](int value, int low, int high) { return value >= low && value <= high; };
  if (!in_range(options.context_tokens, 1, 1 << 22)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("context of {} tokens: give 1 to {}", options.context_tokens, 1 << 22)};
  }
  if (!in_range(options.max_sequences, 1, 256)) {
    return Error{Errc::kInvalidArgument, fmt::format("{} sequences: give 1 to 256", options.max_sequences)};
  }
  constexpr int64_t kMaxContextTokens = 1 << 24;  // all sequences together; 4096 tokens for each of 256 are 2^20
  if (int64_t{options.context_tokens} * options.max_sequences > kMaxContextTokens) {
    return Error{Errc::kInvalidArgument, fmt::format("{} sequences of {} tokens: give at most {} tokens together",
                                                     options.max_sequences, options.context_tokens, kMaxContextTokens)};
  }
  if (!in_range(options.threads, 0, 512)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{} threads: give 1 to 512, or 0 to let it choose", options.threads)};
  }
  if (!in_range(options.batch_tokens, kMaxTextSegmentTokens, 1 << 16)) {
    return Error{Errc::kInvalidArgument, fmt::format("batch of {} tokens: give {} to {}", options.batch_tokens,
                                                     kMaxTextSegmentTokens, 1 << 16)};
  }
  constexpr int kMaxImageTokens = 1 << 16;
  if (!in_range(options.image_min_tokens, 0, kMaxImageTokens) ||
      !in_range(options.image_max_tokens, 0, kMaxImageTokens) ||
      (options.image_max_tokens > 0 && options.image_min_tokens > options.image_max_tokens)) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("{} to {} tokens for a picture: give 0 to {}, the least first", options.image_min_tokens,
                             options.image_max_tokens, kMaxImageTokens)};
  }
  return {};
}

std::optional<ggml_type> KvType(const std::string& name) {
  for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q5_1,
                               GGML_TYPE_Q5_0, GGML_TYPE_Q4_1, GGML_TYPE_Q4_0, GGML_TYPE_IQ4_NL}) {
    if (name == ggml_type_name(type)) return type;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<LlamaRuntime>> LlamaRuntime::Load(const LlamaOptions& options) {
  CaptureLlamaLog();
  if (Status status = CheckOptions(options); !status.ok()) return status.error();
  if (Status status = CheckGgufFile("--model", options.model_path); !status.ok()) return status.error();
  if (!options.mmproj_path.empty()) {
    if (Status status = CheckGgufFile("--mmproj", options.mmproj_path); !status.ok()) return status.error();
  }
  std::unique_ptr<LlamaRuntime> runtime(new LlamaRuntime());
  const Status loaded = Guarded("loading the model", [&]() -> Status {
    for (const auto load : {&LlamaRuntime::LoadModel, &LlamaRuntime::LoadContext, &LlamaRuntime::LoadProjector}) {
      if (Status status = (*runtime.*load)(options); !status.ok()) return status;
    }
    ModelTraits traits = TraitsOf(runtime->model());
    traits.k_type = options.k_type;
    traits.v_type = options.v_type;
    traits.flash_attention = options.flash_attention;
    traits.lora = !options.lora_paths.empty();
    if (const std::string refusal = CacheRefusal(traits); !refusal.empty()) {
      runtime->state_format_ = Error{Errc::kUnsupported, refusal};
    } else {
      runtime->state_format_ = runtime->LearnState();
    }
    return {};
  });
  if (!loaded.ok()) return loaded.error();
  return runtime;
}

Status LlamaRuntime::LoadModel(const LlamaOptions& options) {
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  model_.reset(llama_model_load_from_file(options.model_path.c_str(), params));
  if (model_ == nullptr) {
    return LlamaError(Errc::kInvalidArgument, fmt::format("cannot load the model '{}'", options.model_path));
  }
  if (llama_model_has_encoder(model_.get()) || !llama_model_has_decoder(model_.get())) {
    return Error{Errc::kUnsupported, "only decoder models generate answers; this one has an encoder"};
  }
  const llama_rope_type rope = llama_model_rope_type(model_.get());
  mrope_ = rope == LLAMA_ROPE_TYPE_MROPE || rope == LLAMA_ROPE_TYPE_IMROPE;
  return {};
}

Status LlamaRuntime::LoadContext(const LlamaOptions& options) {
  const std::optional<ggml_type> k_type = KvType(options.k_type);
  const std::optional<ggml_type> v_type = KvType(options.v_type);
  if (!k_type.has_value() || !v_type.has_value()) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("K/V type '{}'/'{}': give f16, bf16, f32 or a quantised type such as q8_0", options.k_type,
                             options.v_type)};
  }
  threads_ =
      options.threads > 0 ? options.threads : static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 8u));
  batch_tokens_ = options.batch_tokens;
  const uint32_t context_tokens = (static_cast<uint32_t>(options.context_tokens) + 255) / 256 * 256;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = context_tokens * static_cast<uint32_t>(options.max_sequences);
  params.n_seq_max = static_cast<uint32_t>(options.max_sequences);
  params.n_batch = params.n_ubatch = static_cast<uint32_t>(options.batch_tokens);
  params.n_threads = params.n_threads_batch = threads_;
  params.kv_unified = false;
  params.swa_full = true;
  params.flash_attn_type = options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = *k_type;
  params.type_v = *v_type;
  params.no_perf = true;
  context_.reset(llama_init_from_model(model_.get(), params));
  if (context_ == nullptr) {
    return LlamaError(Errc::kInvalidArgument,
                      fmt::format("cannot make a context of {} x {} tokens with K/V {}/{}", options.max_sequences,
                                  context_tokens, options.k_type, options.v_type));
  }
  if (llama_get_memory(context_.get()) == nullptr) {
    return Error{Errc::kUnsupported, "this model keeps no attention state; it cannot generate"};
  }
  std::vector<llama_adapter_lora*> adapters;
  for (const std::string& path : options.lora_paths) {
    if (Status status = CheckGgufFile("--lora", path); !status.ok()) return status;
    llama_adapter_lora* adapter = llama_adapter_lora_init(model_.get(), path.c_str());
    if (adapter == nullptr) return LlamaError(Errc::kInvalidArgument, fmt::format("cannot load the LoRA '{}'", path));
    adapters.push_back(adapter);  // freed with the model
  }
  if (!adapters.empty()) {
    std::vector<float> scales(adapters.size(), 1.0f);
    if (llama_set_adapters_lora(context_.get(), adapters.data(), adapters.size(), scales.data()) != 0) {
      return LlamaError(Errc::kInvalidArgument, "cannot apply the LoRA adapters");
    }
  }
  in_use_.assign(static_cast<size_t>(options.max_sequences), false);
  return {};
}

Status LlamaRuntime::LoadProjector(const LlamaOptions& options) {
  if (options.mmproj_path.empty()) return {};
  mtmd_context_params params = mtmd_context_params_default();
  params.use_gpu = options.gpu_layers != 0;
  params.print_timings = false;
  params.n_threads = threads_;
  params.media_marker = media_marker();
  params.warmup = false;
  if (options.image_min_tokens > 0) params.image_min_tokens = options.image_min_tokens;
  if (options.image_max_tokens > 0) params.image_max_tokens = options.image_max_tokens;
  mtmd_.reset(mtmd_init_from_file(options.mmproj_path.c_str(), model_.get(), params));
  if (mtmd_ == nullptr || !mtmd_support_vision(mtmd_.get())) {
    return LlamaError(Errc::kInvalidArgument,
                      fmt::format("cannot use '{}' as this model's vision projector", options.mmproj_path));
  }
  return {};
}

Result<mtmd::input_chunks_ptr> LlamaRuntime::Tokenize(const std::string& text,
                                                      std::span<const std::shared_ptr<const Image>> images,
                                                      bool with_pixels) const {
  std::vector<mtmd::bitmap_ptr> bitmaps;
  std::vector<const mtmd_bitmap*> pointers;
  for (const std::shared_ptr<const Image>& image : images) {
    bitmaps.emplace_back(
        mtmd_bitmap_init(image->width(), image->height(), with_pixels ? image->rgb().data() : nullptr));
    mtmd_bitmap_set_id(bitmaps.back().get(), std::to_string(pointers.size()).c_str());
    pointers.push_back(bitmaps.back().get());
  }
  mtmd::input_chunks_ptr chunks(mtmd_input_chunks_init());
  const mtmd_input_text input{text.data(), text.size(), /*add_special=*/true, /*parse_special=*/true};
  return Guarded("tokenising the prompt", [&]() -> Result<mtmd::input_chunks_ptr> {
    const int32_t code = mtmd_tokenize(mtmd_.get(), chunks.get(), &input, pointers.data(), pointers.size());
    if (code == 0) return std::move(chunks);
    return LlamaError(Errc::kInvalidArgument, "the prompt could not be tokenised, or a picture not be preprocessed");
  });
}

size_t LlamaRuntime::ImageIndexOf(const mtmd_input_chunk* chunk) {
  const char* id = mtmd_input_chunk_get_id(chunk);  // set by Tokenize
  return id == nullptr ? SIZE_MAX : std::strtoull(id, nullptr, 10);
}

Result<std::vector<llama_token>> LlamaRuntime::Tokenize(const std::string& text) const {
  return Guarded("tokenising the prompt", [&]() -> Result<std::vector<llama_token>> {
    std::vector<llama_token> tokens(text.size() + 2);
    const int32_t n = llama_tokenize(vocab(), text.data(), static_cast<int32_t>(text.size()), tokens.data(),
                                     static_cast<int32_t>(tokens.size()), /*add_special=*/true,
                                     /*parse_special=*/true);
    if (n < 0) return Error{Errc::kInternal, "the tokenizer gave more tokens than bytes"};
    tokens.resize(static_cast<size_t>(n));
    return tokens;
  });
}

Result<std::vector<float>> LlamaRuntime::Encode(const mtmd_input_chunk* chunk) {
  const std::lock_guard lock(model_mutex_);
  return Guarded("encoding a picture", [&]() -> Result<std::vector<float>> {
    if (mtmd_encode_chunk(mtmd_.get(), chunk) != 0) return LlamaError(Errc::kInternal, "the vision encoder failed");
    const float* out = mtmd_get_output_embd(mtmd_.get());
    const size_t n = mtmd_input_chunk_get_n_tokens(chunk) * static_cast<size_t>(image_row_floats());
    return std::vector<float>(out, out + n);
  });
}

Status LlamaRuntime::DecodeText(llama_seq_id sequence, std::span<const llama_token> tokens, llama_pos first_position,
                                std::vector<float>* logits) {
  const std::lock_guard lock(model_mutex_);
  return Guarded("computing text", [&] { return DecodeLocked(sequence, tokens, first_position, logits); });
}

Status LlamaRuntime::DecodeLocked(llama_seq_id sequence, std::span<const llama_token> tokens, llama_pos first_position,
                                  std::vector<float>* logits) {
  const size_t n = tokens.size();
  std::vector<llama_token> ids(tokens.begin(), tokens.end());
  std::vector<llama_pos> positions(n);
  std::vector<int32_t> n_sequences(n, 1);
  std::vector<llama_seq_id*> sequences(n, &sequence);
  std::vector<int8_t> outputs(n, 0);
  for (size_t i = 0; i < n; ++i) positions[i] = first_position + static_cast<llama_pos>(i);
  outputs.back() = logits != nullptr ? 1 : 0;
  const llama_batch batch{.n_tokens = static_cast<int32_t>(n),
                          .token = ids.data(),
                          .embd = nullptr,
                          .pos = positions.data(),
                          .n_seq_id = n_sequences.data(),
                          .seq_id = sequences.data(),
                          .logits = outputs.data()};
  const int32_t code = llama_decode(context_.get(), batch);
  if (code != 0) return LlamaError(Errc::kInternal, fmt::format("llama_decode of {} tokens returned {}", n, code));
  if (logits != nullptr) {
    const float* out = llama_get_logits_ith(context_.get(), -1);
    if (out == nullptr) return LlamaError(Errc::kInternal, "llama_decode gave no logits");
    logits->assign(out, out + vocab_size());
  } else {
    llama_synchronize(context_.get());  // so that times belong to the step that took them
  }
  return {};
}

Status LlamaRuntime::DecodeImage(llama_seq_id sequence, const mtmd_input_chunk* chunk,
                                 std::span<const float> embeddings, llama_pos first_position) {
  const std::lock_guard lock(model_mutex_);
  return Guarded("computing a picture", [&]() -> Status {
    llama_pos next = 0;
    // The helper reads the embeddings; its parameter is only not declared so.
    const int32_t code =
        mtmd_helper_decode_image_chunk(mtmd_.get(), context_.get(), chunk, const_cast<float*>(embeddings.data()),
                                       first_position, sequence, batch_tokens_, &next, nullptr, nullptr);
    if (code != 0) return LlamaError(Errc::kInternal, fmt::format("llama_decode of a picture returned {}", code));
    llama_synchronize(context_.get());
    return {};
  });
}

bool LlamaRuntime::FitsOneBatch(const mtmd_input_chunk* chunk) const {
  return !mtmd_decode_use_non_causal(mtmd_.get(), chunk) ||
         mtmd_input_chunk_get_n_tokens(chunk) <= static_cast<size_t>(batch_tokens_);
}

Result<std::span<const std::byte>> LlamaRuntime::SaveLocked(llama_seq_id sequence, StagingBuffer& staging) {
  const size_t size = llama_state_seq_get_size(context_.get(), sequence);
  const std::span<std::byte> blob = staging.Get(size);
  const size_t written =
      llama_state_seq_get_data(context_.get(), reinterpret_cast<uint8_t*>(blob.data()), size, sequence);
  if (written != size) return LlamaError(Errc::kInternal, "llama.cpp could not save the sequence");
  return std::span<const std::byte>(blob);
}

Result<std::vector<std::vector<std::byte>>> LlamaRuntime::CaptureRows(llama_seq_id sequence,
                                                                      std::span<const std::vector<StateCell>> runs) {
  std::unique_ptr<StagingBuffer> staging = TakeStaging();
  const auto cut = [&]() -> Result<std::vector<std::vector<std::byte>>> {
    Result<std::span<const std::byte>> blob = [&] {
      const std::lock_guard lock(model_mutex_);
      return SaveLocked(sequence, *staging);
    }();
    if (!blob.ok()) return blob.error();
    const Result<StateView> view = ParseState(*blob, *state_format_, static_cast<uint32_t>(context_tokens()));
    if (!view.ok()) return Error{Errc::kInternal, view.error().message};
    std::vector<std::vector<std::byte>> all;
    for (const std::vector<StateCell>& run : runs) {
      Result<std::vector<std::byte>> rows = CutRows(*view, *state_format_, run);
      if (!rows.ok()) return rows.error();
      if (!AllFinite(*rows, *state_format_, run.size())) {
        return Error{Errc::kInternal, "the model computed values that are not finite; such state is not kept"};
      }
      all.push_back(std::move(*rows));
    }
    return all;
  };
  Result<std::vector<std::vector<std::byte>>> rows = Guarded("capturing rows", cut);
  GiveBackStaging(std::move(staging));
  return rows;
}

Status LlamaRuntime::LoadState(llama_seq_id sequence, std::span<const std::byte> blob) {
  const std::lock_guard lock(model_mutex_);
  const size_t read =
      llama_state_seq_set_data(context_.get(), reinterpret_cast<const uint8_t*>(blob.data()), blob.size(), sequence);
  if (read == blob.size()) return {};
  ClearLocked(sequence);
  return LlamaError(Errc::kInternal, "llama.cpp refused a state built for this context");
}

void LlamaRuntime::Clear(llama_seq_id sequence) {
  const std::lock_guard lock(model_mutex_);
  ClearLocked(sequence);
}

Status LlamaRuntime::Scrub(llama_seq_id sequence, int n_cells) {
  Clear(sequence);
  if (!state_format_.ok() || n_cells <= 0) return {};
  return Guarded("scrubbing", [&]() -> Status {
    std::vector<StateCell> cells(static_cast<size_t>(std::min(n_cells, context_tokens())));
    for (size_t i = 0; i < cells.size(); ++i) cells[i].position = static_cast<int32_t>(i);
    StagingBuffer staging;
    StateBuilder builder(*state_format_, cells, staging);
    for (const std::span<std::byte> part : builder.RowsOf(0, cells.size())) std::ranges::fill(part, std::byte{0});
    if (Status status = LoadState(sequence, builder.blob()); !status.ok()) return status;
    Clear(sequence);
    return {};
  });
}

void LlamaRuntime::ClearLocked(llama_seq_id sequence) {
  llama_memory_seq_rm(llama_get_memory(context_.get()), sequence, -1, -1);
}

Result<StateFormat> LlamaRuntime::LearnState() {
  constexpr uint32_t kProbeTokens = 3;
  if (vocab_size() < static_cast<int>(kProbeTokens)) return Error{Errc::kUnsupported, "a vocabulary of under 3 tokens"};
  const std::lock_guard lock(model_mutex_);
  const auto sequence = static_cast<llama_seq_id>(llama_n_seq_max(context_.get()) - 1);
  std::vector<llama_token> tokens;
  std::vector<StateCell> cells;
  for (int32_t i = 0; i < static_cast<int32_t>(kProbeTokens); ++i) {
    tokens.push_back(i);
    cells.push_back(mrope_ ? StateCell{i, i, i, i} : StateCell{.position = i});
  }
  const auto probe = [&]() -> Result<StateFormat> {
    StagingBuffer saved_buffer;
    StagingBuffer built_buffer;
    StagingBuffer again_buffer;
    if (Status status = DecodeLocked(sequence, tokens, 0, nullptr); !status.ok()) return status.error();
    const Result<std::span<const std::byte>> saved = SaveLocked(sequence, saved_buffer);
    if (!saved.ok()) return saved.error();
    Result<StateFormat> format = LearnStateFormat(*saved, mrope_, kProbeTokens);
    if (!format.ok()) return format;
    const Result<StateView> view = ParseState(*saved, *format, kProbeTokens);
    if (!view.ok()) return view.error();
    const Result<std::vector<std::byte>> rows = CutRows(*view, *format, cells);
    if (!rows.ok()) return rows.error();
    StateBuilder builder(*format, cells, built_buffer);
    if (Status status = SpanKvSource(*rows).CopyTo(builder.RowsOf(0, kProbeTokens)); !status.ok()) {
      return status.error();
    }
    ClearLocked(sequence);
    const std::span<const std::byte> blob = builder.blob();
    const size_t read =
        llama_state_seq_set_data(context_.get(), reinterpret_cast<const uint8_t*>(blob.data()), blob.size(), sequence);
    if (read != blob.size()) return LlamaError(Errc::kUnsupported, "llama.cpp refused a rebuilt state");
    const Result<std::span<const std::byte>> again = SaveLocked(sequence, again_buffer);
    if (!again.ok()) return again.error();
    if (!std::ranges::equal(*saved, *again)) {
      return Error{Errc::kUnsupported, "a rebuilt state does not read back as it was"};
    }
    return format;
  };
  Result<StateFormat> format = probe();
  ClearLocked(sequence);
  if (!format.ok()) {
    return Error{Errc::kUnsupported, "this llama.cpp build's state bytes are not the ones this adapter understands: " +
                                         format.error().message};
  }
  return format;
}

std::optional<llama_seq_id> LlamaRuntime::TakeSequence() {
  const std::lock_guard lock(pool_mutex_);
  const auto free = std::find(in_use_.begin(), in_use_.end(), false);
  if (free == in_use_.end()) return std::nullopt;
  *free = true;
  return static_cast<llama_seq_id>(free - in_use_.begin());
}

void LlamaRuntime::GiveBackSequence(llama_seq_id sequence) {
  const std::lock_guard lock(pool_mutex_);
  in_use_[static_cast<size_t>(sequence)] = false;
}

std::unique_ptr<StagingBuffer> LlamaRuntime::TakeStaging() {
  const std::lock_guard lock(pool_mutex_);
  if (staging_.empty()) return std::make_unique<StagingBuffer>();
  std::unique_ptr<StagingBuffer> staging = std::move(staging_.back());
  staging_.pop_back();
  return staging;
}

void LlamaRuntime::GiveBackStaging(std::unique_ptr<StagingBuffer> staging) {
  const std::lock_guard lock(pool_mutex_);
  staging_.push_back(std::move(staging));
}

}  // namespace afterimage
