// write_random_model SHAPE DIR: writes a random-weight model and prints its paths, for tests outside C++.
#include <cstdio>

#include "engine/llama/random_model.h"

int main(int argc, char** argv) {
  using namespace afterimage;
  const std::optional<RandomModelShape> shape = argc == 3 ? NamedShape(argv[1]) : std::nullopt;
  if (!shape.has_value()) {
    std::fprintf(stderr, "usage: write_random_model SHAPE DIR\n");
    return 2;
  }
  const Result<RandomModelFiles> files = WriteRandomModel(*shape, argv[2]);
  if (!files.ok()) {
    std::fprintf(stderr, "%s\n", files.error().message.c_str());
    return 1;
  }
  std::printf("%s\n%s\n", files->model_path.c_str(), files->mmproj_path.c_str());
  return 0;
}
