#include <algorithm>
#include <cmath>

#include "engine/llama/random_model_internal.h"

namespace afterimage {
namespace {

using Family = RandomModelShape::Family;

constexpr ggml_type kMatrixType = GGML_TYPE_F16;
constexpr int kMerge = 2;  // patches merged into one token, in each direction

void AddKeys(const RandomModelShape& shape, const std::string& projector, RandomGguf& file) {
  file.SetString("general.architecture", "clip");
  file.SetString("general.type", "mmproj");
  file.SetString("general.name", shape.name);
  file.SetUint("general.file_type", 1);  // f16, as llama_ftype counts
  file.SetUint("general.quantization_version", 2);
  file.SetBool("clip.has_vision_encoder", true);
  file.SetString("clip.projector_type", projector);
  file.SetBool(shape.family == Family::kQwen25Vl ? "clip.use_silu" : "clip.use_gelu", true);
  file.SetUint("clip.vision.image_size", shape.image_size);
  file.SetUint("clip.vision.patch_size", shape.patch_size);
  file.SetUint("clip.vision.embedding_length", shape.vision_width);
  file.SetUint("clip.vision.feed_forward_length", shape.vision_feed_forward);
  file.SetUint("clip.vision.projection_dim", shape.width);
  file.SetUint("clip.vision.block_count", shape.vision_layers);
  file.SetUint("clip.vision.attention.head_count", shape.vision_heads);
  file.SetFloat("clip.vision.attention.layer_norm_epsilon", 1e-6f);
  file.SetFloats("clip.vision.image_mean", {0.5f, 0.5f, 0.5f});
  file.SetFloats("clip.vision.image_std", {0.5f, 0.5f, 0.5f});
}

// The convolution that makes patches; `kernels` of them are applied to the same picture and summed.
void AddPatchKernel(const RandomModelShape& shape, const std::string& name, int kernels, RandomGguf& file) {
  const double inputs = 3.0 * shape.patch_size * shape.patch_size * kernels;
  file.AddTensor(name, kMatrixType, {shape.patch_size, shape.patch_size, 3, shape.vision_width}, 0.0,
                 1.0 / std::sqrt(inputs));
}

// Pictures are to matter more than places, so positions are small beside patches.
void AddPositions(const RandomModelShape& shape, int extra_rows, RandomGguf& file) {
  const int side = shape.image_size / shape.patch_size;
  file.AddTensor("v.position_embd.weight", GGML_TYPE_F32, {shape.vision_width, side * side + extra_rows, 1, 1}, 0.0,
                 0.3);
}

std::string LayerPrefix(int layer) { return "v.blk." + std::to_string(layer) + "."; }

void AddInternVl(const RandomModelShape& shape, RandomGguf& file) {
  AddKeys(shape, "internvl", file);
  file.SetUint("clip.vision.projector.scale_factor", kMerge);
  file.SetUint("clip.vision.preproc_min_tiles", 1);
  file.SetUint("clip.vision.preproc_max_tiles", shape.max_tiles);

  const int width = shape.vision_width;
  AddPatchKernel(shape, "v.patch_embd.weight", 1, file);
  file.AddBias("v.patch_embd.bias", width);
  file.AddBias("v.class_embd", width);
  AddPositions(shape, 1, file);
  for (int i = 0; i < shape.vision_layers; ++i) {
    const std::string prefix = LayerPrefix(i);
    file.AddLayerNorm(prefix + "ln1", width);
    for (const char* matrix : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
      file.AddLinear(prefix + matrix, kMatrixType, width, width);
    }
    file.AddNorm(prefix + "ls1.weight", width);
    file.AddLayerNorm(prefix + "ln2", width);
    file.AddLinear(prefix + "ffn_up", kMatrixType, width, shape.vision_feed_forward);
    file.AddLinear(prefix + "ffn_down", kMatrixType, shape.vision_feed_forward, width);
    file.AddNorm(prefix + "ls2.weight", width);
  }
  const int merged = kMerge * kMerge * width;
  file.AddLayerNorm("mm.model.mlp.0", merged);
  file.AddLinear("mm.model.mlp.1", kMatrixType, merged, shape.width);
  file.AddLinear("mm.model.mlp.3", kMatrixType, shape.width, shape.width);
}

void AddQwen3Vl(const RandomModelShape& shape, RandomGguf& file) {
  AddKeys(shape, "qwen3vl_merger", file);
  file.SetUint("clip.vision.spatial_merge_size", kMerge);

  const int width = shape.vision_width;
  const int merged = kMerge * kMerge * width;
  AddPatchKernel(shape, "v.patch_embd.weight", 2, file);
  AddPatchKernel(shape, "v.patch_embd.weight.1", 2, file);
  file.AddBias("v.patch_embd.bias", width);
  AddPositions(shape, 0, file);
  for (int i = 0; i < shape.vision_layers; ++i) {
    const std::string prefix = LayerPrefix(i);
    file.AddLayerNorm(prefix + "ln1", width);
    file.AddLinear(prefix + "attn_qkv", kMatrixType, width, 3 * width);
    file.AddLinear(prefix + "attn_out", kMatrixType, width, width);
    file.AddLayerNorm(prefix + "ln2", width);
    file.AddLinear(prefix + "ffn_up", kMatrixType, width, shape.vision_feed_forward);
    file.AddLinear(prefix + "ffn_down", kMatrixType, shape.vision_feed_forward, width);
  }
  for (int i = 1; i <= shape.deepstack; ++i) {
    // Evenly spread, as in the real ones: after layers 5, 11 and 17 of 24.
    const int layer = i * shape.vision_layers / (shape.deepstack + 1) - 1;
    const std::string prefix = "v.deepstack." + std::to_string(layer) + ".";
    file.AddLayerNorm(prefix + "norm", merged);
    file.AddLinear(prefix + "fc1", kMatrixType, merged, merged);
    file.AddLinear(prefix + "fc2", kMatrixType, merged, shape.width);
  }
  file.AddLayerNorm("v.post_ln", width);
  file.AddLinear("mm.0", kMatrixType, merged, merged);
  file.AddLinear("mm.2", kMatrixType, merged, shape.width);
}

void AddQwen25Vl(const RandomModelShape& shape, RandomGguf& file) {
  AddKeys(shape, "qwen2.5vl_merger", file);
  file.SetUint("clip.vision.spatial_merge_size", kMerge);
  // Every so manieth layer attends to the whole picture, the others within windows of 112 pixels.
  file.SetUint("clip.vision.n_wa_pattern", std::min(8, shape.vision_layers));

  const int width = shape.vision_width;
  AddPatchKernel(shape, "v.patch_embd.weight", 2, file);
  AddPatchKernel(shape, "v.patch_embd.weight.1", 2, file);
  for (int i = 0; i < shape.vision_layers; ++i) {
    const std::string prefix = LayerPrefix(i);
    file.AddNorm(prefix + "ln1.weight", width);
    for (const char* matrix : {"attn_q", "attn_k", "attn_v", "attn_out"}) {
      file.AddLinear(prefix + matrix, kMatrixType, width, width);
    }
    file.AddNorm(prefix + "ln2.weight", width);
    file.AddLinear(prefix + "ffn_gate", kMatrixType, width, shape.vision_feed_forward);
    file.AddLinear(prefix + "ffn_up", kMatrixType, width, shape.vision_feed_forward);
    file.AddLinear(prefix + "ffn_down", kMatrixType, shape.vision_feed_forward, width);
  }
  const int merged = kMerge * kMerge * width;
  file.AddNorm("v.post_ln.weight", width);
  file.AddLinear("mm.0", kMatrixType, merged, merged);
  file.AddLinear("mm.2", kMatrixType, merged, shape.width);
}

}  // namespace

void AddVision(const RandomModelShape& shape, RandomGguf& file) {
  if (shape.family == Family::kInternVl) return AddInternVl(shape, file);
  if (shape.family == Family::kQwen3Vl) return AddQwen3Vl(shape, file);
  return AddQwen25Vl(shape, file);
}

}  // namespace afterimage
