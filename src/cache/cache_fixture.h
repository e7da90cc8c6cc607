// CacheTest: a cache over the fake engine, in a folder of its own, for tests.
#ifndef AFTERIMAGE_CACHE_CACHE_FIXTURE_H_
#define AFTERIMAGE_CACHE_CACHE_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cache/cache_impl.h"
#include "engine/fake/fake_engine.h"
#include "testing/engine_runs.h"
#include "testing/fault_file_system.h"
#include "testing/manual_clock.h"
#include "testing/temporary_folder.h"

namespace afterimage {

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    fake_.context_tokens = 2048;
    engine_ = NewFakeEngine(fake_, clock_);
    options_.folder = folder_ / "cache";
    options_.durability = Durability::kProcess;
    options_.memory_bytes = 0;
  }

  void Open() {
    cache_.reset();
    Result<std::unique_ptr<Cache>> cache = TryOpen();
    ASSERT_TRUE(cache.ok()) << cache.error().message;
    cache_ = std::move(*cache);
  }
  Result<std::unique_ptr<Cache>> TryOpen() {
    return CacheImpl::Open(options_, *engine_, {clock_, clock_, files_, more_layers_});
  }

  static Query MakeQuery(const std::string& question, const std::vector<uint32_t>& pictures = {1}) {
    Query query;
    std::vector<std::shared_ptr<const Image>> images;
    for (const uint32_t seed : pictures) {
      images.push_back(NoisePicture(seed));
      query.image_paths.push_back("picture" + std::to_string(seed) + ".png");
    }
    query.request = Ask(std::move(images), question);
    query.request.sampling.max_tokens = 8;
    query.id = question;
    return query;
  }

  // Served by the cache, and checked against an engine without one.
  Report Serve(const Query& query) {
    const Result<Served> served = cache_->Serve(query, nullptr);
    EXPECT_TRUE(served.ok()) << served.error().message;
    if (!served.ok()) return {};
    if (served->report.substitution.empty()) {
      EXPECT_EQ(served->answer.tokens, Cold(query).answer.tokens) << "the cache changed an answer";
    }
    EXPECT_EQ(served->report.stats.tokens_reused + served->report.stats.tokens_computed, served->report.prompt_tokens);
    last_ = *served;
    return served->report;
  }
  Report Serve(const std::string& question, const std::vector<uint32_t>& pictures = {1}) {
    return Serve(MakeQuery(question, pictures));
  }

  Outcome Cold(const Query& query) {
    ManualClock clock;
    return RunRequest(*NewFakeEngine(fake_, clock), query.request);
  }

  static std::string StatusLine(const Report& report) {
    std::string line;
    for (const LayerReport& layer : report.layers) {
      line += (line.empty() ? "" : " ") + layer.key + "=" + std::string(Name(layer.status));
    }
    return line;
  }

  std::vector<std::string> ChunkFiles() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".kv" || extension == ".fusion") files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
  }

  TemporaryFolder folder_;
  ManualClock clock_;
  FaultFileSystem files_{PosixFileSystem()};
  FakeOptions fake_;
  std::unique_ptr<Engine> engine_;
  CacheOptions options_;
  std::unique_ptr<Cache> cache_;
  std::vector<LayerFactory> more_layers_;
  Served last_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_CACHE_CACHE_FIXTURE_H_
