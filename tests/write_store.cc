// write_store DIR [hold]: makes a cache folder with known chunks, requests and rates, for tests outside C++.
//
//   a picture (chunk 1), two questions behind it (2 and 3), one more turn behind the second (4), and tensors (5)
//
// Prints one line a chunk: its number, its id, its path. With `hold` it keeps the folder open for writing until its
// standard input ends.
#include <cstdio>
#include <string>

#include "afterimage/clock.h"
#include "store/disk_store.h"
#include "testing/sample_chunk.h"

int main(int argc, char** argv) {
  using namespace afterimage;
  if (argc < 2) {
    std::fprintf(stderr, "usage: write_store DIR [hold]\n");
    return 2;
  }
  const auto store =
      DiskStore::Open({.folder = argv[1], .durability = Durability::kProcess}, PosixFileSystem(), WallClock());
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  const SampleChunk picture = MakeSample(1, {.rows_bytes = 40000, .n_logits = 0, .n_tokens = 256});
  const SampleChunk first = MakeSample(2, {.rows_bytes = 2000, .parent = picture.id()});
  const SampleChunk second = MakeSample(3, {.rows_bytes = 2000, .parent = picture.id()});
  const SampleChunk turn = MakeSample(4, {.rows_bytes = 3000, .parent = second.id()});
  const SampleChunk tensors = MakeSample(5, {.rows_bytes = 8000, .n_tokens = 256, .fusion = true});
  int number = 0;
  bool ok = true;
  for (const SampleChunk* chunk : {&picture, &first, &second, &turn, &tensors}) {
    ok = ok && PutSample(**store, *chunk).ok();
    std::printf("%d %s %s\n", ++number, chunk->id().Hex().c_str(),
                (*store)->layout().PathOf(chunk->header.kind, chunk->id()).c_str());
  }
  const auto request = [&](const std::string& key, const SampleChunk& leaf, const std::string& payload) {
    RequestRow row;
    row.tenant = "tenant";
    row.text_key = key;
    row.pictures = {picture.header.content};
    row.leaf = leaf.id();
    row.payload = payload;
    ok = ok && (*store)->PutRequest(row).ok();
  };
  request("what is this?", first, R"({"id":"q1","question":"What is THIS?","text":"A cat.","image_paths":["a.png"]})");
  request("what is this?", second, R"({"id":"q2","question":"what is this?"})");
  request("broken", turn, "{no json");
  ok = ok && (*store)->PutRate({.key = "load:disk", .n = 2, .x = 3, .y = 5, .xx = 7, .xy = 11}).ok();
  ok = ok && (*store)->Flush().ok();
  std::fflush(stdout);
  if (argc > 2) {
    while (std::getchar() != EOF) {
    }
  }
  return ok ? 0 : 1;
}
