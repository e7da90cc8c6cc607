#include "engine/llama/random_model.h"

#include <filesystem>
#include <locale>
#include <sstream>
#include <system_error>
#include <utility>

#include "engine/llama/random_model_internal.h"

namespace afterimage {
namespace {

using Family = RandomModelShape::Family;
using Weights = RandomModelShape::Weights;

// Goes into every file; raise it when the same shape is to give other bytes.
constexpr int kVersion = 1;

std::vector<RandomModelShape> TinyShapes() {
  const RandomModelShape text = {.family = Family::kText,
                                 .name = "tiny-text",
                                 .layers = 3,
                                 .width = 64,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .head_dim = 64,
                                 .feed_forward = 192,
                                 .vocab = 384};
  RandomModelShape internvl = text;
  internvl.family = Family::kInternVl;
  internvl.name = "tiny-internvl";
  internvl.vision_layers = 2;
  internvl.vision_width = 64;
  internvl.vision_heads = 2;
  internvl.vision_feed_forward = 128;
  internvl.image_size = 112;  // 16 tokens
  internvl.patch_size = 14;

  RandomModelShape qwen3vl = internvl;
  qwen3vl.family = Family::kQwen3Vl;
  qwen3vl.name = "tiny-qwen3vl";
  qwen3vl.vision_layers = 3;
  qwen3vl.vision_width = 32;
  qwen3vl.vision_heads = 2;
  qwen3vl.image_size = 128;
  qwen3vl.patch_size = 16;
  qwen3vl.deepstack = 2;

  // "qwen2vl" wants heads * head_dim == width; q8_0 so that one tiny model has it.
  RandomModelShape qwen25vl = internvl;
  qwen25vl.family = Family::kQwen25Vl;
  qwen25vl.name = "tiny-qwen2.5vl";
  qwen25vl.width = 128;
  qwen25vl.head_dim = 32;
  qwen25vl.weights = Weights::kQ8_0;
  return {internvl, qwen3vl, qwen25vl, text};
}

std::vector<RandomModelShape> LargeShapes() {
  const RandomModelShape demo = {.family = Family::kInternVl,
                                 .name = "demo",
                                 .layers = 12,
                                 .width = 512,
                                 .heads = 8,
                                 .kv_heads = 4,
                                 .head_dim = 64,
                                 .feed_forward = 2048,
                                 .vocab = 4096,
                                 .context_length = 32768,
                                 .rope_freq_base = 1e6f,
                                 .weights = Weights::kQ8_0,
                                 .vision_layers = 6,
                                 .vision_width = 384,
                                 .vision_heads = 6,
                                 .vision_feed_forward = 1536,
                                 .image_size = 224,  // 64 tokens
                                 .patch_size = 14};
  // The vision part of all small InternVLs: InternViT-300M.
  RandomModelShape half_b = demo;
  half_b.name = "0.5b";
  half_b.layers = 24;
  half_b.width = 896;
  half_b.heads = 14;
  half_b.kv_heads = 2;
  half_b.feed_forward = 4864;
  half_b.vocab = 151936;
  half_b.qwen2 = true;
  half_b.vision_layers = 24;
  half_b.vision_width = 1024;
  half_b.vision_heads = 16;
  half_b.vision_feed_forward = 4096;
  half_b.image_size = 448;  // 256 tokens
  half_b.max_tiles = 12;

  RandomModelShape two_b = half_b;
  two_b.name = "2b";
  two_b.layers = 28;
  two_b.width = 2048;
  two_b.heads = 16;
  two_b.kv_heads = 8;
  two_b.head_dim = 128;
  two_b.feed_forward = 6144;
  two_b.qwen2 = false;
  return {demo, half_b, two_b};
}

std::vector<RandomModelShape> AllShapes() {
  std::vector<RandomModelShape> shapes = TinyShapes();
  for (RandomModelShape& shape : LargeShapes()) shapes.push_back(std::move(shape));
  return shapes;
}

// What is wrong with the language model or the name; empty if nothing is.
std::string LanguageProblem(const RandomModelShape& s) {
  if (s.name.empty() || s.name.find('/') != std::string::npos) return "the name must do as a file name";
  if (s.layers < 1 || s.width < 1 || s.heads < 1 || s.kv_heads < 1 || s.feed_forward < 1 || s.context_length < 1) {
    return "sizes must be positive";
  }
  if (s.heads % s.kv_heads != 0) return "heads must be a multiple of kv_heads";
  if (s.head_dim < 32 || s.head_dim % 32 != 0) return "head_dim must be a multiple of 32";
  if ((s.qwen2 || s.family == Family::kQwen25Vl) && s.heads * s.head_dim != s.width) {
    return "this architecture needs width = heads * head_dim";
  }
  if (s.weights == Weights::kQ8_0 && (s.width % 32 != 0 || s.feed_forward % 32 != 0)) {
    return "q8_0 needs width and feed_forward to be multiples of 32";
  }
  if (s.vocab < MinVocabulary()) return "vocab must be at least " + std::to_string(MinVocabulary());
  return "";
}

// What is wrong with the vision part; empty if nothing is.
std::string VisionProblem(const RandomModelShape& s) {
  if (s.vision_layers < 1 || s.vision_width < 1 || s.vision_heads < 1 || s.vision_feed_forward < 1 ||
      s.image_size < 1 || s.patch_size < 1 || s.max_tiles < 1) {
    return "vision sizes must be positive";
  }
  if (s.vision_width % s.vision_heads != 0 || s.vision_width / s.vision_heads % 4 != 0) {
    return "vision_width must be a multiple of 4 * vision_heads";
  }
  if (s.image_size % (2 * s.patch_size) != 0) return "image_size must be a multiple of 2 * patch_size";
  if (s.family == Family::kQwen25Vl && s.patch_size > 56) return "patch_size must be at most 56, half a window";
  if (s.deepstack < 0 || s.deepstack >= s.vision_layers || s.deepstack > s.layers) {
    return "deepstack must be less than vision_layers and at most layers";
  }
  if (s.qwen2 && s.family != Family::kInternVl) return "qwen2 is for text and InternVL";
  return "";
}

// Every field of the shape, in words that no two shapes share.
std::string Describe(const RandomModelShape& s) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << kVersion << " family=" << static_cast<int>(s.family) << " name=" << s.name << " layers=" << s.layers
      << " width=" << s.width << " heads=" << s.heads << "/" << s.kv_heads << "x" << s.head_dim
      << " feed_forward=" << s.feed_forward << " vocab=" << s.vocab << " context_length=" << s.context_length
      << " rope_freq_base=" << s.rope_freq_base << " qwen2=" << s.qwen2
      << " weights=" << (s.weights == Weights::kQ8_0 ? "q8_0" : "f16") << " vision_layers=" << s.vision_layers
      << " vision_width=" << s.vision_width << " vision_heads=" << s.vision_heads
      << " vision_feed_forward=" << s.vision_feed_forward << " image_size=" << s.image_size
      << " patch_size=" << s.patch_size << " max_tiles=" << s.max_tiles << " deepstack=" << s.deepstack
      << " seed=" << s.seed;
  return out.str();
}

}  // namespace

std::vector<std::string> ShapeNames() {
  std::vector<std::string> names;
  for (const RandomModelShape& shape : AllShapes()) names.push_back(shape.name);
  return names;
}

std::optional<RandomModelShape> NamedShape(std::string_view name) {
  for (const RandomModelShape& shape : AllShapes()) {
    if (shape.name == name) return shape;
  }
  return std::nullopt;
}

Result<RandomModelFiles> WriteRandomModel(const RandomModelShape& shape, const std::string& dir) {
  std::string problem = LanguageProblem(shape);
  if (problem.empty() && shape.family != Family::kText) problem = VisionProblem(shape);
  if (!problem.empty()) return Error{Errc::kInvalidArgument, "random model " + shape.name + ": " + problem};

  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return Error{Errc::kIo, "cannot create " + dir + ": " + error.message()};

  RandomModelFiles files;
  files.model_path = (std::filesystem::path(dir) / (shape.name + ".gguf")).string();
  RandomGguf model(shape.seed);
  model.SetString("afterimage.random_model", Describe(shape));
  AddLanguageModel(shape, model);
  if (Status status = model.Write(files.model_path); !status.ok()) return status.error();
  if (shape.family == Family::kText) return files;

  files.mmproj_path = (std::filesystem::path(dir) / (shape.name + "-mmproj.gguf")).string();
  RandomGguf vision(shape.seed);
  vision.SetString("afterimage.random_model", Describe(shape));
  AddVision(shape, vision);
  if (Status status = vision.Write(files.mmproj_path); !status.ok()) return status.error();
  return files;
}

}  // namespace afterimage
