// The library in one page: ask the same question twice, and see what the second time was spared.
//
//   simple MODEL.gguf [MMPROJ.gguf PICTURE]
//
// Built by this project's tests and, as a stranger would, through find_package(afterimage) (tests/outside).
#include <afterimage/cache.h>
#include <afterimage/llama_engine.h>

#include <cstdio>
#include <string>

using namespace afterimage;

namespace {

int Fail(const Error& error) {
  std::fprintf(stderr, "simple: %s\n", error.message.c_str());
  return 1;
}

void Print(const Served& served) {
  const Report& report = served.report;
  std::printf("answer      %s\n", served.answer.text.c_str());
  std::printf("class       %s%s%s\n", std::string(Name(report.reuse_class)).c_str(),
              report.provenance.empty() ? "" : ", found by ", report.provenance.c_str());
  for (const LayerReport& layer : report.layers) {
    std::printf("  %-10s %s%s%s\n", layer.key.c_str(), std::string(Name(layer.status)).c_str(),
                layer.reason.empty() ? "" : ": ", layer.reason.c_str());
  }
  std::printf("tokens      %d put back, %d computed\n", report.stats.tokens_reused, report.stats.tokens_computed);
  std::printf("first token after %.2f ms\n\n", report.ttft_ms);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    std::fprintf(stderr, "usage: simple MODEL.gguf [MMPROJ.gguf PICTURE]\n");
    return 2;
  }
  LlamaOptions model;
  model.model_path = argv[1];
  std::vector<std::shared_ptr<const Image>> pictures;
  if (argc == 4) {
    model.mmproj_path = argv[2];
    Result<std::shared_ptr<const Image>> picture = ReadImage(argv[3]);
    if (!picture.ok()) return Fail(picture.error());
    pictures.push_back(*picture);
  }
  Result<std::unique_ptr<Engine>> engine = NewLlamaEngine(model);
  if (!engine.ok()) return Fail(engine.error());

  CacheOptions options;
  options.folder = "simple-cache";  // the next run finds what this one computed
  Result<std::unique_ptr<Cache>> cache = Cache::Open(options, **engine);
  if (!cache.ok()) return Fail(cache.error());

  Query query;
  query.request = Ask(pictures, "Name a colour.");
  query.request.sampling.max_tokens = 16;
  for (int i = 0; i < 2; ++i) {
    Result<Served> served = (*cache)->Serve(query, nullptr);
    if (!served.ok()) return Fail(served.error());
    Print(*served);
  }
  const Status flushed = (*cache)->Flush();  // on disk before we say goodbye
  return flushed.ok() ? 0 : Fail(flushed.error());
}
