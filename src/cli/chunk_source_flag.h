// --chunk-source, the same for every command that reads samples.
#ifndef AFTERIMAGE_CLI_CHUNK_SOURCE_FLAG_H_
#define AFTERIMAGE_CLI_CHUNK_SOURCE_FLAG_H_

#include "cli/option_table.h"
#include "eval/prompt_text.h"

namespace afterimage {

void AddChunkSource(OptionTable& table, ChunkSource& source);

}  // namespace afterimage

#endif  // AFTERIMAGE_CLI_CHUNK_SOURCE_FLAG_H_
