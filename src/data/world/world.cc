#include "data/world/world.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/world/gqa_format.h"
#include "data/world/picture.h"
#include "data/world/split.h"

namespace afterimage::world {
namespace {

constexpr const char* kSplits[] = {"train", "val", "testdev"};
constexpr int kMaxScenes = 99999;  // ids have five digits for them

const char* EditName(Edit::Kind kind) {
  switch (kind) {
    case Edit::Kind::kPlain:
      return "plain";
    case Edit::Kind::kJpeg:
      return "jpeg";
    case Edit::Kind::kResized:
      return "resized";
    case Edit::Kind::kCropped:
      return "cropped";
  }
  return "?";
}

class Writer {
 public:
  Writer(std::filesystem::path folder, const Vocabulary& words) : folder_(std::move(folder)), words_(words) {}

  Status MakeFolders() {
    for (const char* name : {"images", "questions", "sceneGraphs", "records"}) {
      std::error_code error;
      std::filesystem::create_directories(folder_ / name, error);
      if (error)
        return Error{Errc::kIo, fmt::format("Cannot make '{}': {}.", (folder_ / name).string(), error.message())};
    }
    return {};
  }

  Status Write(const Split& split, const std::function<void()>& picture_done) {
    for (const auto& [name, stream] : split.streams) {
      if (Status status = WriteStream(split, name, stream); !status.ok()) return status;
    }
    std::string graphs;
    std::string records;
    for (const Picture& picture : split.pictures) {
      Line(graphs, picture.id, SceneGraphJson(picture, words_));
      const nlohmann::ordered_json record = {
          {"id", picture.id},
          {"edit", {{"kind", EditName(picture.edit.kind)}, {"amount", picture.edit.amount}}},
          {"scene", ToJson(picture.scene)}};
      records += record.dump() + "\n";
      Result<EncodedPicture> encoded = Encode(picture, words_);
      if (!encoded.ok()) return encoded.error();
      const std::string name = fmt::format("images/{}.{}", picture.id, encoded->extension);
      const std::string_view bytes(reinterpret_cast<const char*>(encoded->bytes.data()), encoded->bytes.size());
      if (Status status = WriteFile(name, bytes); !status.ok()) return status;
      picture_done();
    }
    summary.pictures += split.pictures.size();
    if (Status status = WriteFile(fmt::format("sceneGraphs/{}_sceneGraphs.json", split.name), "{\n" + graphs + "\n}\n");
        !status.ok()) {
      return status;
    }
    return WriteFile(fmt::format("records/{}.jsonl", split.name), records);
  }

  WorldSummary summary;

 private:
  // One member of an object a line: files that a person and `diff` can read.
  static void Line(std::string& object, const std::string& key, const nlohmann::ordered_json& value) {
    if (!object.empty()) object += ",\n";
    object += fmt::format("\"{}\": {}", key, value.dump());
  }

  Status WriteStream(const Split& split, const std::string& name, const Stream& stream) {
    std::string questions;
    for (const Entry& entry : stream.entries) {
      Line(questions, entry.id, QuestionJson(entry, split.pictures[entry.picture], words_));
    }
    summary.questions += stream.entries.size();
    const std::string stem = fmt::format("questions/{}_{}", split.name, name);
    if (Status status = WriteFile(stem + "_questions.json", "{\n" + questions + "\n}\n"); !status.ok()) return status;
    if (stream.pairs.empty()) return {};
    std::string pairs;
    for (const Pair& pair : stream.pairs) {
      const nlohmann::ordered_json line = {
          {"a", pair.a}, {"b", pair.b}, {"kind", pair.kind}, {"must_agree", pair.must_agree}};
      pairs += line.dump() + "\n";
    }
    summary.pairs += stream.pairs.size();
    return WriteFile(stem + "_pairs.jsonl", pairs);
  }

  Status WriteFile(const std::string& name, std::string_view bytes) {
    const std::string path = (folder_ / name).string();
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) return Error{Errc::kIo, fmt::format("Cannot write '{}'.", path)};
    summary.bytes += bytes.size();
    return {};
  }

  const std::filesystem::path folder_;
  const Vocabulary& words_;
};

Result<int> SplitNumber(const std::string& name) {
  for (size_t i = 0; i < std::size(kSplits); ++i) {
    if (name == kSplits[i]) return static_cast<int>(i + 1);
  }
  return Error{Errc::kInvalidArgument, fmt::format("There is no split '{}'; use train, val or testdev.", name)};
}

}  // namespace

Result<WorldSummary> WriteWorld(const WorldOptions& options, const std::string& folder,
                                const std::function<void(size_t, size_t)>& progress) {
  if (options.scenes < 1 || options.scenes > kMaxScenes) {
    return Error{Errc::kInvalidArgument, fmt::format("A world has 1 to {} scenes in each split.", kMaxScenes)};
  }
  const Result<Vocabulary> words = LoadVocabulary();
  if (!words.ok()) return words.error();
  std::vector<Split> splits;
  size_t pictures = 0;
  for (const std::string& name : options.splits) {
    const Result<int> number = SplitNumber(name);
    if (!number.ok()) return number.error();
    splits.push_back(MakeSplit(name, *number, options.seed, options.scenes, *words));
    pictures += splits.back().pictures.size();
  }
  Writer writer(folder, *words);
  if (Status status = writer.MakeFolders(); !status.ok()) return status.error();
  size_t done = 0;
  for (const Split& split : splits) {
    const auto picture_done = [&] {
      ++done;
      if (progress) progress(done, pictures);
    };
    if (Status status = writer.Write(split, picture_done); !status.ok()) return status.error();
  }
  return writer.summary;
}

}  // namespace afterimage::world
