#include "engine/llama/llama_prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/sha256.h"
#include "core/utf8.h"
#include "engine/segments.h"

namespace afterimage {
namespace {

constexpr size_t kMaxPromptBytes = size_t{1} << 30;  // rendered; llama.cpp counts bytes in 32 bits

struct Rendered {
  std::string text;
  std::vector<std::shared_ptr<const Image>> images;
};

// What the template and the tokenizer can take as it is.
Status CheckText(const std::string& text) {
  if (text.find('\0') != std::string::npos || text.find(LlamaRuntime::media_marker()) != std::string::npos) {
    return Error{Errc::kInvalidArgument,
                 fmt::format("text may hold neither a NUL nor '{}'", LlamaRuntime::media_marker())};
  }
  if (!IsValidUtf8(text)) return Error{Errc::kInvalidArgument, "text must be valid UTF-8"};
  return {};
}

Result<Rendered> Render(const Request& request, const char* chat_template) {
  Rendered rendered;
  std::vector<std::string> contents;
  for (const Message& message : request.messages) {
    std::string& content = contents.emplace_back();
    if (Status status = CheckText(message.role); !status.ok()) return status.error();
    for (const Message::Part& part : message.parts) {
      if (const auto* image = std::get_if<std::shared_ptr<const Image>>(&part)) {
        if (*image == nullptr) return Error{Errc::kInvalidArgument, "a picture of the request is null"};
        rendered.images.push_back(*image);
        content += LlamaRuntime::media_marker();
        continue;
      }
      const auto& text = std::get<std::string>(part);
      if (Status status = CheckText(text); !status.ok()) return status.error();
      content += text;
    }
  }
  if (contents.empty()) return Error{Errc::kInvalidArgument, "a request needs at least one message"};
  std::vector<llama_chat_message> messages;
  size_t size = 1024;
  for (size_t i = 0; i < contents.size(); ++i) {
    messages.push_back({request.messages[i].role.c_str(), contents[i].c_str()});
    size += 2 * contents[i].size() + 256;
  }
  if (size > kMaxPromptBytes) return Error{Errc::kTooLarge, "the prompt's text is over 512 MiB"};
  for (;;) {
    rendered.text.resize(size);
    const int32_t n = llama_chat_apply_template(chat_template, messages.data(), messages.size(), /*add_ass=*/true,
                                                rendered.text.data(), static_cast<int32_t>(size));
    if (n < 0) {
      return Error{Errc::kInvalidArgument,
                   "llama.cpp does not know this chat template; name one it knows, such as chatml (--chat-template)"};
    }
    if (static_cast<size_t>(n) <= size) {
      rendered.text.resize(static_cast<size_t>(n));
      return rendered;
    }
    size = static_cast<size_t>(n);
  }
}

PromptPiece TextPiece(std::span<const llama_token> tokens) {
  PromptPiece piece;
  piece.tokens.assign(tokens.begin(), tokens.end());
  return piece;
}

Digest PictureContent(const Image& image, const Digest& preprocessing, const PromptPiece& piece) {
  return Sha256()
      .Add("picture")
      .Add(image.digest())
      .Add(preprocessing)
      .Add(piece.tile)
      .Add(piece.n_tokens)
      .Add(piece.n_positions)
      .Finish();
}

Result<std::vector<PromptPiece>> PiecesOf(const mtmd_input_chunks* chunks,
                                          std::span<const std::shared_ptr<const Image>> images,
                                          const Digest& preprocessing) {
  std::vector<PromptPiece> pieces;
  std::vector<int> n_tiles(images.size(), 0);
  for (size_t i = 0; i < mtmd_input_chunks_size(chunks); ++i) {
    const mtmd_input_chunk* chunk = mtmd_input_chunks_get(chunks, i);
    switch (mtmd_input_chunk_get_type(chunk)) {
      case MTMD_INPUT_CHUNK_TYPE_TEXT: {
        size_t n = 0;
        const llama_token* tokens = mtmd_input_chunk_get_tokens_text(chunk, &n);
        pieces.push_back(TextPiece({tokens, n}));
        break;
      }
      case MTMD_INPUT_CHUNK_TYPE_IMAGE: {
        const size_t image = LlamaRuntime::ImageIndexOf(chunk);
        if (image >= images.size()) return Error{Errc::kInternal, "libmtmd gave a chunk of no picture"};
        PromptPiece& piece = pieces.emplace_back();
        piece.n_tokens = static_cast<int>(mtmd_input_chunk_get_n_tokens(chunk));
        piece.n_positions = mtmd_input_chunk_get_n_pos(chunk);
        piece.image = static_cast<int>(image);
        piece.tile = n_tiles[image]++;
        piece.content = PictureContent(*images[image], preprocessing, piece);
        break;
      }
      default:
        return Error{Errc::kUnsupported, "only text and pictures are supported"};
    }
  }
  return pieces;
}

}  // namespace

Result<std::unique_ptr<LlamaPrompt>> LlamaPrompt::Make(LlamaRuntime& runtime, const Request& request,
                                                       const std::string& chat_template, const Digest& preprocessing) {
  const char* model_template = llama_model_chat_template(runtime.model(), nullptr);
  if (chat_template.empty() && model_template == nullptr) {
    return Error{Errc::kInvalidArgument, "the model carries no chat template; name one (--chat-template chatml)"};
  }
  Result<Rendered> rendered = Render(request, chat_template.empty() ? model_template : chat_template.c_str());
  if (!rendered.ok()) return rendered.error();
  if (!rendered->images.empty() && !runtime.vision()) {
    return Error{Errc::kInvalidArgument, "the request has a picture, but no vision projector is loaded (--mmproj)"};
  }

  mtmd::input_chunks_ptr counted;
  std::vector<PromptPiece> pieces;
  if (runtime.vision()) {
    Result<mtmd::input_chunks_ptr> chunks = runtime.Tokenize(rendered->text, rendered->images, /*with_pixels=*/false);
    if (!chunks.ok()) return chunks.error();
    counted = std::move(*chunks);
    Result<std::vector<PromptPiece>> found = PiecesOf(counted.get(), rendered->images, preprocessing);
    if (!found.ok()) return found.error();
    pieces = std::move(*found);
  } else {
    const Result<std::vector<llama_token>> tokens = runtime.Tokenize(rendered->text);
    if (!tokens.ok()) return tokens.error();
    if (!tokens->empty()) pieces.push_back(TextPiece(*tokens));
  }
  Result<std::vector<Segment>> segments = CutIntoSegments(pieces);
  if (!segments.ok()) return segments.error();

  std::unique_ptr<LlamaPrompt> prompt(new LlamaPrompt(runtime, std::move(*segments)));
  const int limit = runtime.context_tokens();
  if (std::max(prompt->n_tokens(), prompt->n_positions()) >= limit) {
    return Error{Errc::kTooLarge, fmt::format("the prompt has {} tokens, and the context holds {} with the answer; "
                                              "make the context larger (--context) or the request smaller",
                                              prompt->n_tokens(), limit)};
  }
  const size_t n = prompt->segments().size();
  prompt->image_chunks_.resize(n);
  prompt->chunk_index_.resize(n);
  prompt->encoder_output_.resize(n);
  size_t next = 0;
  for (size_t i = 0; i < n; ++i) {
    if (prompt->segments()[i].kind != Segment::Kind::kImage) continue;
    while (mtmd_input_chunk_get_type(mtmd_input_chunks_get(counted.get(), next)) != MTMD_INPUT_CHUNK_TYPE_IMAGE) ++next;
    prompt->chunk_index_[i] = next;
    prompt->image_chunks_[i] = mtmd_input_chunks_get(counted.get(), next++);
    if (!runtime.FitsOneBatch(prompt->image_chunks_[i])) {
      return Error{Errc::kTooLarge, fmt::format("a picture of {} tokens must be computed in one batch, which holds {}; "
                                                "make the batch larger (--batch)",
                                                prompt->segments()[i].n_tokens, runtime.batch_tokens())};
    }
  }
  prompt->text_ = std::move(rendered->text);
  prompt->images_ = std::move(rendered->images);
  prompt->counted_ = std::move(counted);
  return prompt;
}

std::vector<StateCell> LlamaPrompt::CellsOf(size_t segment) const {
  const Segment& s = segments()[segment];
  std::vector<StateCell> cells(static_cast<size_t>(s.n_tokens));
  for (size_t i = 0; i < cells.size(); ++i) {
    const int32_t position = s.first_position + static_cast<int32_t>(i);
    if (!runtime_.mrope()) {
      cells[i].position = position;
    } else if (s.kind == Segment::Kind::kText) {
      cells[i] = {position, position, position, s.tokens[i]};
    } else {
      const mtmd_decoder_pos p = mtmd_image_tokens_get_decoder_pos(
          mtmd_input_chunk_get_tokens_image(image_chunks_[segment]), s.first_position, i);
      cells[i] = {static_cast<int32_t>(p.t), static_cast<int32_t>(p.x), static_cast<int32_t>(p.y), LLAMA_TOKEN_NULL};
    }
  }
  return cells;
}

Result<std::span<const float>> LlamaPrompt::EncoderOutput(size_t segment) {
  std::vector<float>& output = encoder_output_[segment];
  if (output.empty()) {
    if (with_pixels_ == nullptr) {
      Result<mtmd::input_chunks_ptr> chunks = TokenizeWithPixels();
      if (!chunks.ok()) return chunks.error();
      with_pixels_ = std::move(*chunks);
    }
    const size_t index = chunk_index_[segment];
    const mtmd_input_chunk* chunk =
        index < mtmd_input_chunks_size(with_pixels_.get()) ? mtmd_input_chunks_get(with_pixels_.get(), index) : nullptr;
    if (chunk == nullptr || mtmd_input_chunk_get_type(chunk) != MTMD_INPUT_CHUNK_TYPE_IMAGE ||
        mtmd_input_chunk_get_n_tokens(chunk) != static_cast<size_t>(segments()[segment].n_tokens)) {
      return Error{Errc::kInternal, "libmtmd preprocessed a picture into other tokens than it counted"};
    }
    Result<std::vector<float>> encoded = runtime_.Encode(chunk);
    if (!encoded.ok()) return encoded.error();
    output = std::move(*encoded);
  }
  return std::span<const float>(output);
}

Result<mtmd::input_chunks_ptr> LlamaPrompt::TokenizeWithPixels() const {
  if (!runtime_.vision()) return Error{Errc::kUnsupported, "a text model has no pictures"};
  if (!std::ranges::all_of(images_, &Image::has_pixels)) {
    return Error{Errc::kInvalidArgument, "a picture of which only the digest is known cannot be encoded"};
  }
  return runtime_.Tokenize(text_, images_, /*with_pixels=*/true);
}

}  // namespace afterimage
