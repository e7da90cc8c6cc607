#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "engine/llama/random_model_internal.h"

namespace afterimage {
namespace {

constexpr int kByteTokens = 256;

// What mtmd puts around pictures and the template around turns must be single control tokens.
constexpr std::array kControlTokens = {
    "<|endoftext|>", "<|im_start|>",     "<|im_end|>",     "<img>",         "</img>",
    "<IMG_CONTEXT>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
};
constexpr int kEndOfText = kByteTokens;
constexpr int kEndOfTurn = kByteTokens + 2;

// Words that become one token each, as far as the vocabulary has room: first those of chat templates and questions.
constexpr const char* kBareWords = "user assistant system What Is How";
constexpr const char* kSpacedWords =
    "the is in this picture image of a and to what are you how many there see color on it one with that for describe "
    "was at by from be as have or had not but all were they we when your can said an which their if do will each about "
    "up out them then she he some so these would other into has more her two like him time could no make than first "
    "been its who now people my made over did down only way find use may water long little very after word called just "
    "where most know get through back much before go good new write our me man too any day same right look think also "
    "around another came come work three must because does part even place well such here take why things help put "
    "years different away again off went old number great tell men say small every found still between name should "
    "home big give air line set own under read last never us left end along while might next sound below saw something "
    "thought both few those always looked show large often together asked house world going want school important "
    "until form food keep children feet land side without boy once animal life enough took four head above kind began "
    "almost live page got earth need far hand high year mother light country father let night following red green blue "
    "yellow black white cat dog car tree table chair person street building text chart answer question short detail";

constexpr const char* kChatTemplate =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

std::string Utf8(int code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xc0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3f))};
}

// GPT-2's way to write bytes as printable characters: those that are printable stand for themselves, the others for
// the characters from U+0100 on.
std::array<std::string, 256> ByteTokens() {
  std::array<std::string, 256> tokens;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    tokens[byte] = Utf8(printable ? byte : next++);
  }
  return tokens;
}

// Vocabulary: byte tokens, control tokens, the merges that make words, and fillers "<t1234>" up to the size asked for.
class Vocabulary {
 public:
  explicit Vocabulary(int size) : size_(static_cast<size_t>(size)), bytes_(ByteTokens()) {
    for (const std::string& token : bytes_) Add(token, kNormal);
    for (const char* token : kControlTokens) Add(token, kControl);
    AddWords(kBareWords, "");
    AddWords(kSpacedWords, " ");
    while (tokens_.size() < size_) Add("<t" + std::to_string(tokens_.size()) + ">", kNormal);
  }

  void WriteTo(RandomGguf& file) const {
    std::vector<std::string> merges;
    for (const auto& [left, right] : merges_) merges.push_back(left + " " + right);
    file.SetString("tokenizer.ggml.model", "gpt2");
    file.SetString("tokenizer.ggml.pre", "qwen2");
    file.SetStrings("tokenizer.ggml.tokens", tokens_);
    file.SetInts("tokenizer.ggml.token_type", types_);
    file.SetStrings("tokenizer.ggml.merges", merges);
    file.SetUint("tokenizer.ggml.bos_token_id", kEndOfText);
    file.SetUint("tokenizer.ggml.eos_token_id", kEndOfTurn);
    file.SetUint("tokenizer.ggml.padding_token_id", kEndOfText);
    file.SetBool("tokenizer.ggml.add_bos_token", false);
    file.SetString("tokenizer.chat_template", kChatTemplate);
  }

 private:
  enum TokenType : int32_t { kNormal = 1, kControl = 3 };

  void Add(const std::string& token, TokenType type) {
    if (!known_.insert(token).second) return;
    tokens_.push_back(token);
    types_.push_back(type);
  }

  void AddWords(const char* words, const std::string& before) {
    std::istringstream in(words);
    for (std::string word; in >> word && tokens_.size() < size_;) AddWord(before + word);
  }

  // Splits the word as the tokenizer would with the merges so far, then adds the merges that are missing. New merges
  // rank after all others, so words added earlier keep being one token.
  void AddWord(const std::string& word) {
    std::vector<std::string> pieces;
    for (const char c : word) pieces.push_back(bytes_[static_cast<unsigned char>(c)]);
    while (pieces.size() > 1 && tokens_.size() < size_) {
      size_t at = BestMerge(pieces);
      if (at == pieces.size()) {
        at = 0;
        ranks_.emplace(std::pair(pieces[0], pieces[1]), merges_.size());
        merges_.emplace_back(pieces[0], pieces[1]);
        Add(pieces[0] + pieces[1], kNormal);
      }
      pieces[at] += pieces[at + 1];
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
  }

  // Where the lowest-ranking merge applies; pieces.size() if none does.
  size_t BestMerge(const std::vector<std::string>& pieces) const {
    size_t best = pieces.size();
    size_t best_rank = merges_.size();
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto rank = ranks_.find({pieces[i], pieces[i + 1]});
      if (rank == ranks_.end() || rank->second >= best_rank) continue;
      best = i;
      best_rank = rank->second;
    }
    return best;
  }

  const size_t size_;
  const std::array<std::string, 256> bytes_;
  std::vector<std::string> tokens_;
  std::vector<int32_t> types_;
  std::set<std::string> known_;
  std::vector<std::pair<std::string, std::string>> merges_;
  std::map<std::pair<std::string, std::string>, size_t> ranks_;
};

const char* Architecture(const RandomModelShape& shape) {
  if (shape.family == RandomModelShape::Family::kQwen3Vl) return "qwen3vl";
  if (shape.family == RandomModelShape::Family::kQwen25Vl) return "qwen2vl";
  return shape.qwen2 ? "qwen2" : "qwen3";
}

bool HasQueryKeyNorm(const RandomModelShape& shape) {
  return shape.family != RandomModelShape::Family::kQwen25Vl && !shape.qwen2;
}

void AddKeys(const RandomModelShape& shape, RandomGguf& file) {
  const std::string arch = Architecture(shape);
  const bool q8 = shape.weights == RandomModelShape::Weights::kQ8_0;
  file.SetString("general.architecture", arch);
  file.SetString("general.type", "model");
  file.SetString("general.name", shape.name);
  file.SetUint("general.file_type", q8 ? 7 : 1);  // as llama_ftype counts
  file.SetUint("general.quantization_version", 2);
  file.SetUint(arch + ".context_length", shape.context_length);
  file.SetUint(arch + ".embedding_length", shape.width);
  file.SetUint(arch + ".block_count", shape.layers);
  file.SetUint(arch + ".feed_forward_length", shape.feed_forward);
  file.SetUint(arch + ".attention.head_count", shape.heads);
  file.SetUint(arch + ".attention.head_count_kv", shape.kv_heads);
  file.SetUint(arch + ".attention.key_length", shape.head_dim);
  file.SetUint(arch + ".attention.value_length", shape.head_dim);
  file.SetFloat(arch + ".attention.layer_norm_rms_epsilon", 1e-6f);
  file.SetFloat(arch + ".rope.freq_base", shape.rope_freq_base);
  // Pairs of dimensions turned by time, row and column, in the proportions of the real models' 64 pairs.
  const int unit = shape.head_dim / 32;
  if (shape.family == RandomModelShape::Family::kQwen3Vl) {
    file.SetInts(arch + ".rope.dimension_sections", {6 * unit, 5 * unit, 5 * unit, 0});
    file.SetUint(arch + ".n_deepstack_layers", shape.deepstack);
  } else if (shape.family == RandomModelShape::Family::kQwen25Vl) {
    file.SetInts(arch + ".rope.dimension_sections", {4 * unit, 6 * unit, 6 * unit, 0});
  }
}

void AddLayer(const RandomModelShape& shape, ggml_type type, const std::string& prefix, RandomGguf& file) {
  const int64_t q_width = int64_t{shape.heads} * shape.head_dim;
  const int64_t kv_width = int64_t{shape.kv_heads} * shape.head_dim;
  file.AddNorm(prefix + "attn_norm.weight", shape.width);
  file.AddMatrix(prefix + "attn_q.weight", type, shape.width, q_width);
  file.AddMatrix(prefix + "attn_k.weight", type, shape.width, kv_width);
  file.AddMatrix(prefix + "attn_v.weight", type, shape.width, kv_width);
  if (HasQueryKeyNorm(shape)) {
    file.AddNorm(prefix + "attn_q_norm.weight", shape.head_dim);
    file.AddNorm(prefix + "attn_k_norm.weight", shape.head_dim);
  } else {
    file.AddBias(prefix + "attn_q.bias", q_width);
    file.AddBias(prefix + "attn_k.bias", kv_width);
    file.AddBias(prefix + "attn_v.bias", kv_width);
  }
  file.AddMatrix(prefix + "attn_output.weight", type, q_width, shape.width);
  file.AddNorm(prefix + "ffn_norm.weight", shape.width);
  file.AddMatrix(prefix + "ffn_gate.weight", type, shape.width, shape.feed_forward);
  file.AddMatrix(prefix + "ffn_up.weight", type, shape.width, shape.feed_forward);
  file.AddMatrix(prefix + "ffn_down.weight", type, shape.feed_forward, shape.width);
}

}  // namespace

int MinVocabulary() { return kByteTokens + static_cast<int>(kControlTokens.size()) + 1; }

void AddLanguageModel(const RandomModelShape& shape, RandomGguf& file) {
  AddKeys(shape, file);
  Vocabulary(shape.vocab).WriteTo(file);
  const ggml_type type = shape.weights == RandomModelShape::Weights::kQ8_0 ? GGML_TYPE_Q8_0 : GGML_TYPE_F16;
  // Also the output matrix, applied to a normalised state: logits get a standard deviation of 3. The first norm
  // undoes the scale on the way in.
  file.AddTensor("token_embd.weight", type, {shape.width, shape.vocab, 1, 1}, 0.0, 3.0 / std::sqrt(shape.width));
  for (int i = 0; i < shape.layers; ++i) AddLayer(shape, type, "blk." + std::to_string(i) + ".", file);
  // Of either sign: with weights about 1 the tied output matrix would find every token most like itself, and the model
  // would repeat one token for ever.
  file.AddTensor("output_norm.weight", GGML_TYPE_F32, {shape.width, 1, 1, 1}, 0.0, 1.0);
}

}  // namespace afterimage
