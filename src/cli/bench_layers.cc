#include "cli/bench_layers.h"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "afterimage/clock.h"
#include "afterimage/llama_text_encoder.h"
#include "cli/bench_tools.h"
#include "cli/command.h"
#include "cli/machine.h"
#include "cli/model_files.h"
#include "core/sha256.h"
#include "core/summary.h"
#include "embed/embedding_hook.h"
#include "layers/exact_text.h"
#include "layers/vector_layer.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// Directions drawn from the text: an index does not care what its vectors mean, and ten thousand of them are made in a
// second. Making real ones is measured apart.
class DrawnSource final : public VectorSource {
 public:
  DrawnSource(int dim, Modality modality) : dim_(dim), modality_(modality) {}
  int dim() const override { return dim_; }
  Modality modality() const override { return modality_; }
  std::string identity() const override { return "drawn"; }
  std::optional<Digest> KeyOf(const LayerQuery& query) const override {
    return Sha256().Add(query.input.chunk_text).Finish();
  }
  Result<std::vector<float>> VectorOf(const LayerQuery& query) override {
    std::mt19937 random(static_cast<uint32_t>(std::hash<std::string_view>()(query.input.chunk_text)));
    std::vector<float> vector(static_cast<size_t>(dim_));
    for (float& value : vector) value = static_cast<float>(random()) / 2147483648.0f - 1;
    return vector;
  }

 private:
  const int dim_;
  const Modality modality_;
};

std::string QuestionNumber(uint64_t number) {
  return fmt::format("What is on the left of the sofa number {}?", number);
}

struct Row {
  std::string layer;
  uint64_t entries = 0;
  std::vector<double> lookup_ms;
};

class LayersBench {
 public:
  LayersBench(const LayersBenchFlags& flags, std::string folder) : flags_(flags), folder_(std::move(folder)) {}

  Status Measure(uint64_t entries, std::vector<Row>& rows) {
    fs::remove_all(folder_);
    auto store =
        DiskStore::Open({.folder = folder_, .durability = Durability::kProcess}, PosixFileSystem(), WallClock());
    if (!store.ok()) return store.error();
    std::vector<std::unique_ptr<Layer>> layers;
    layers.push_back(std::make_unique<ExactTextLayer>(**store, "", Digest()));
    for (const auto& [key, dim, modality] :
         {std::tuple("semantic_text", 384, Modality::kText), std::tuple("embedding:prompt", 384, Modality::kText),
          std::tuple("embedding:vision", 512, Modality::kImage)}) {
      Result<std::unique_ptr<Layer>> layer =
          VectorLayer::Open(**store, {.key = key, .provenance = key}, std::make_unique<DrawnSource>(dim, modality));
      if (!layer.ok()) return layer.error();
      layers.push_back(std::move(*layer));
    }
    if (Status status = Fill(**store, layers, entries); !status.ok()) return status;
    std::mt19937 random(1);
    for (const std::unique_ptr<Layer>& layer : layers) {
      Row row = {std::string(layer->key()), entries, {}};
      for (int i = 0; i < flags_.lookups; ++i) {
        const std::string text = QuestionNumber(random() % entries);
        VectorMemo memo(SteadyClock());
        const LayerQuery query = QueryFor(text, memo);
        double ms = 0;
        {
          const StageTimer timer(SteadyClock(), ms);
          const Result<std::vector<Candidate>> found = layer->Lookup(query);
          if (!found.ok()) return found.error();
          if (found->empty() || found->front().record.chunk_text != text) {
            return Error{Errc::kInternal, "a look-up did not find what was put"};
          }
        }
        row.lookup_ms.push_back(ms - memo.ms(layer->key()));
      }
      rows.push_back(std::move(row));
    }
    store->reset();
    fs::remove_all(folder_);
    return {};
  }

 private:
  static LayerQuery QueryFor(const std::string& text, VectorMemo& memo) {
    LayerQuery query;
    query.input.chunk_text = text;
    query.input.question = text;
    query.memo = &memo;
    return query;
  }

  static Status Fill(DiskStore& store, const std::vector<std::unique_ptr<Layer>>& layers, uint64_t entries) {
    ChunkHeader leaf;
    leaf.n_tokens = leaf.n_positions = 1;
    leaf.tokens = {1};
    leaf.rows_bytes = 4;
    const std::vector<std::byte> bytes(4);
    if (Status status = store.Put(leaf, bytes, {}, {}); !status.ok()) return status;
    for (uint64_t i = 0; i < entries; ++i) {
      const std::string text = QuestionNumber(i);
      VectorMemo memo(SteadyClock());
      DonorRecord record;
      record.chunk_text = text;
      RequestRow row;
      row.leaf = leaf.id();
      row.payload = EncodeDonor(record);
      std::vector<VectorRow> vectors;
      for (const std::unique_ptr<Layer>& layer : layers) layer->Record(QueryFor(text, memo), row, vectors);
      if (Status status = store.PutRequest(std::move(row), std::move(vectors)); !status.ok()) return status;
    }
    return store.Flush();
  }

  const LayersBenchFlags& flags_;
  const std::string folder_;
};

// Times of `make` on texts or pictures it has not seen.
Result<std::vector<double>> TimesOf(int n, const std::function<Status(int)>& make) {
  std::vector<double> times;
  for (int i = 0; i < n; ++i) {
    double ms = 0;
    {
      const StageTimer timer(SteadyClock(), ms);
      if (Status status = make(i); !status.ok()) return status.error();
    }
    times.push_back(ms);
  }
  return times;
}

struct Made {
  std::string what;
  std::vector<double> ms;
};

Status MeasureVectors(const LayersBenchFlags& flags, std::vector<Made>& made) {
  const Result<ModelFiles> file = FindModel(flags.encoder);
  if (!file.ok()) return file.error();
  Result<std::unique_ptr<TextEncoder>> encoder = NewLlamaTextEncoder(file->model);
  if (!encoder.ok()) return encoder.error();
  Result<std::vector<double>> times = TimesOf(flags.lookups, [&](int i) -> Status {
    const auto vector = (*encoder)->Encode(QuestionNumber(static_cast<uint64_t>(i)));
    return vector.ok() ? Status() : Status(vector.error());
  });
  if (!times.ok()) return times.error();
  made.push_back({"a question, by the sentence encoder", std::move(*times)});
  Result<std::unique_ptr<EmbeddingHook>> hook = NewEmbeddingHook("vision", {});
  if (!hook.ok()) return hook.error();
  const std::vector<std::string> names = {"vision"};
  std::vector<std::shared_ptr<const Image>> images;
  for (int i = 0; i < flags.lookups; ++i) images.push_back(BenchPicture(224, static_cast<uint32_t>(i)));
  times = TimesOf(flags.lookups, [&](int i) -> Status {
    EmbeddingInput input;
    input.images = std::span(images).subspan(static_cast<size_t>(i), 1);
    const auto vectors = (*hook)->Embed(names, input);
    return vectors.ok() ? Status() : Status(vectors.error());
  });
  if (!times.ok()) return times.error();
  made.push_back({"a picture of 224 x 224, by its pixels", std::move(*times)});
  return {};
}

}  // namespace

int RunLayersBench(const LayersBenchFlags& flags) {
  std::vector<Row> rows;
  std::vector<Made> made;
  const fs::path folder = fs::temp_directory_path() / fmt::format("afterimage-bench-layers-{}", ::getpid());
  LayersBench bench(flags, folder.string());
  for (const uint64_t entries : flags.entries) {
    if (Status status = bench.Measure(entries, rows); !status.ok()) return Fail(status.error());
  }
  if (Status status = MeasureVectors(flags, made); !status.ok()) return Fail(status.error());
  if (flags.json) {
    Json json = {{"machine", MachineName()}, {"lookup_ms", Json::array()}, {"vector_ms", Json::object()}};
    for (const Row& row : rows) {
      json["lookup_ms"].push_back(
          {{"layer", row.layer}, {"entries", row.entries}, {"ms", ToJson(Summarize(row.lookup_ms))}});
    }
    for (const Made& one : made) json["vector_ms"][one.what] = ToJson(Summarize(one.ms));
    fmt::print("{}\n", json.dump(2));
    return kExitOk;
  }
  fmt::print("{}\nmedian of {} look-ups, 95 % interval\n\n", MachineName(), flags.lookups);
  fmt::print("{:<20}{:>10}   look-up without its vector, ms\n", "layer", "entries");
  for (const Row& row : rows) {
    fmt::print("{:<20}{:>10}   {}\n", row.layer, row.entries, Short(Summarize(row.lookup_ms), ""));
  }
  fmt::print("\nmaking the vector, ms\n");
  for (const Made& one : made) fmt::print("{:<40}{}\n", one.what, Short(Summarize(one.ms), ""));
  return kExitOk;
}

}  // namespace afterimage
