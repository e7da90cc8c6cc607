#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "engine/llama/random_model_internal.h"

namespace afterimage {
namespace {

// splitmix64: three multiplications a word, so that a model of 2 GB is bound by the disk.
class RandomWords {
 public:
  RandomWords(uint64_t seed, const std::string& name) : state_(seed) {
    for (const char c : name) state_ = Mix(state_ ^ static_cast<unsigned char>(c));
  }
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15u); }

 private:
  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  uint64_t state_;
};

// The standard deviation of values uniform in [-1, 1] is 1 / sqrt(3).
const double kHalfRange = std::sqrt(3.0);

// Makes the values of one tensor, from its first to its last.
class TensorValues {
 public:
  TensorValues(RandomWords words, ggml_type type, double mean, double deviation)
      : words_(words), type_(type), mean_(mean), half_range_(kHalfRange * deviation) {
    if (type == GGML_TYPE_F16) {
      for (size_t i = 0; i < f16_.size(); ++i) {
        const double unit = (2.0 * static_cast<double>(i) + 1.0) / static_cast<double>(f16_.size()) - 1.0;
        f16_[i] = ggml_fp32_to_fp16(static_cast<float>(mean_ + half_range_ * unit));
      }
    }
  }

  // REQUIRES: out holds whole blocks of the type.
  void Fill(std::span<char> out) {
    if (type_ == GGML_TYPE_F16) return FillF16(out);
    if (type_ == GGML_TYPE_Q8_0) return FillQ8(out);
    return FillF32(out);
  }

 private:
  void FillF32(std::span<char> out) {
    for (size_t at = 0; at < out.size(); at += sizeof(float)) {
      const double unit = std::ldexp(static_cast<double>(words_.Next() >> 40), -23) - 1.0;
      const float value = static_cast<float>(mean_ + half_range_ * unit);
      std::memcpy(out.data() + at, &value, sizeof(value));
    }
  }

  void FillF16(std::span<char> out) {
    uint64_t word = 0;
    for (size_t i = 0; i * sizeof(ggml_fp16_t) < out.size(); ++i) {
      word = i % 4 == 0 ? words_.Next() : word >> 16;
      const ggml_fp16_t value = f16_[word % f16_.size()];
      std::memcpy(out.data() + i * sizeof(value), &value, sizeof(value));
    }
  }

  // A block is an f16 scale and 32 int8. Odd bytes are symmetric around 0 and leave out -128.
  void FillQ8(std::span<char> out) {
    constexpr uint64_t kOdd = 0x0101010101010101u;
    const ggml_fp16_t scale = ggml_fp32_to_fp16(static_cast<float>(half_range_ / 128.0));
    char* at = out.data();
    while (at < out.data() + out.size()) {
      std::memcpy(at, &scale, sizeof(scale));
      at += sizeof(scale);
      for (int i = 0; i < 4; ++i, at += sizeof(uint64_t)) {
        const uint64_t bytes = words_.Next() | kOdd;
        std::memcpy(at, &bytes, sizeof(bytes));
      }
    }
  }

  RandomWords words_;
  ggml_type type_;
  double mean_;
  double half_range_;
  std::array<ggml_fp16_t, 4096> f16_{};
};

bool WriteAll(std::FILE* out, std::span<const char> bytes) {
  return bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
}

bool WriteValues(std::FILE* out, TensorValues values, size_t size, size_t block_size, size_t alignment) {
  std::vector<char> buffer(std::min(size, (size_t{1} << 20) / block_size * block_size));
  for (size_t done = 0; done < size;) {
    const std::span<char> part = std::span(buffer).first(std::min(buffer.size(), size - done));
    values.Fill(part);
    if (!WriteAll(out, part)) return false;
    done += part.size();
  }
  return WriteAll(out, std::vector<char>(GGML_PAD(size, alignment) - size));
}

// The header names every key, tensor and the shape itself, and a file gets its name only when complete.
bool IsAlreadyThere(const std::string& path, std::span<const char> header, uint64_t file_size) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) != file_size || error) return false;
  std::vector<char> found(header.size());
  std::ifstream in(path, std::ios::binary);
  in.read(found.data(), static_cast<std::streamsize>(found.size()));
  return in && std::memcmp(found.data(), header.data(), header.size()) == 0;
}

Error IoError(const std::string& what, const std::string& path) {
  return {Errc::kIo, what + " " + path + ": " + std::generic_category().message(errno)};
}

}  // namespace

RandomGguf::RandomGguf(uint64_t seed) : seed_(seed), gguf_(gguf_init_empty()) {}

void RandomGguf::SetString(const std::string& key, const std::string& value) {
  gguf_set_val_str(gguf_.get(), key.c_str(), value.c_str());
}
void RandomGguf::SetUint(const std::string& key, int value) {
  gguf_set_val_u32(gguf_.get(), key.c_str(), static_cast<uint32_t>(value));
}
void RandomGguf::SetFloat(const std::string& key, float value) { gguf_set_val_f32(gguf_.get(), key.c_str(), value); }
void RandomGguf::SetBool(const std::string& key, bool value) { gguf_set_val_bool(gguf_.get(), key.c_str(), value); }
void RandomGguf::SetStrings(const std::string& key, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  gguf_set_arr_str(gguf_.get(), key.c_str(), pointers.data(), pointers.size());
}
void RandomGguf::SetInts(const std::string& key, const std::vector<int32_t>& values) {
  gguf_set_arr_data(gguf_.get(), key.c_str(), GGUF_TYPE_INT32, values.data(), values.size());
}
void RandomGguf::SetFloats(const std::string& key, const std::vector<float>& values) {
  gguf_set_arr_data(gguf_.get(), key.c_str(), GGUF_TYPE_FLOAT32, values.data(), values.size());
}

void RandomGguf::AddTensor(const std::string& name, ggml_type type, std::array<int64_t, 4> dimensions, double mean,
                           double deviation) {
  tensors_.push_back({name, type, dimensions, mean, deviation});
}
void RandomGguf::AddMatrix(const std::string& name, ggml_type type, int64_t inputs, int64_t outputs) {
  AddTensor(name, type, {inputs, outputs, 1, 1}, 0.0, 1.0 / std::sqrt(static_cast<double>(inputs)));
}
void RandomGguf::AddNorm(const std::string& name, int64_t size) {
  AddTensor(name, GGML_TYPE_F32, {size, 1, 1, 1}, 1.0, 0.1);
}
void RandomGguf::AddBias(const std::string& name, int64_t size) {
  AddTensor(name, GGML_TYPE_F32, {size, 1, 1, 1}, 0.0, 0.1);
}
void RandomGguf::AddLinear(const std::string& name, ggml_type type, int64_t inputs, int64_t outputs) {
  AddMatrix(name + ".weight", type, inputs, outputs);
  AddBias(name + ".bias", outputs);
}
void RandomGguf::AddLayerNorm(const std::string& name, int64_t size) {
  AddNorm(name + ".weight", size);
  AddBias(name + ".bias", size);
}

std::vector<char> RandomGguf::Header() {
  const ggml_init_params params = {
      .mem_size = (tensors_.size() + 1) * ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true};
  ggml_context* const context = ggml_init(params);
  for (const Tensor& tensor : tensors_) {
    int rank = 4;
    while (rank > 1 && tensor.dimensions[rank - 1] == 1) --rank;
    ggml_tensor* const described = ggml_new_tensor(context, tensor.type, rank, tensor.dimensions.data());
    ggml_set_name(described, tensor.name.c_str());
    gguf_add_tensor(gguf_.get(), described);
  }
  ggml_free(context);
  std::vector<char> header(gguf_get_meta_size(gguf_.get()));
  gguf_get_meta_data(gguf_.get(), header.data());
  return header;
}

Status RandomGguf::Write(const std::string& path) {
  const std::vector<char> header = Header();
  const size_t alignment = gguf_get_alignment(gguf_.get());
  uint64_t file_size = header.size();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    file_size += GGML_PAD(gguf_get_tensor_size(gguf_.get(), static_cast<int64_t>(i)), alignment);
  }
  if (IsAlreadyThere(path, header, file_size)) return {};

  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return IoError("cannot create", temporary);
  fchmod(descriptor, 0644);  // mkstemp's files are for the owner's eyes only
  std::FILE* const out = fdopen(descriptor, "wb");
  if (out == nullptr) {
    close(descriptor);
    std::remove(temporary.c_str());
    return {Error{Errc::kIo, "cannot open " + temporary}};
  }
  bool written = WriteAll(out, header);
  for (size_t i = 0; written && i < tensors_.size(); ++i) {
    const Tensor& tensor = tensors_[i];
    const TensorValues values(RandomWords(seed_, tensor.name), tensor.type, tensor.mean, tensor.deviation);
    written = WriteValues(out, values, gguf_get_tensor_size(gguf_.get(), static_cast<int64_t>(i)),
                          ggml_type_size(tensor.type), alignment);
  }
  written = std::fclose(out) == 0 && written;
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const Error error = IoError("cannot write", path);
  std::remove(temporary.c_str());
  return error;
}

}  // namespace afterimage
