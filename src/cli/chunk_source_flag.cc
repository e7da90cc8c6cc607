#include "cli/chunk_source_flag.h"

#include <fmt/core.h>

namespace afterimage {

void AddChunkSource(OptionTable& table, ChunkSource& source) {
  table.AddParsed(
      "--chunk-source", "NAME",
      [&source](const std::string& name) -> Status {
        const Result<ChunkSource> parsed = ParseChunkSource(name);
        if (!parsed.ok()) return parsed.error();
        source = *parsed;
        return {};
      },
      [&source]() -> OptionTable::Json { return Name(source); },
      fmt::format("Which text of a sample is its key: {}", kChunkSources));
}

}  // namespace afterimage
