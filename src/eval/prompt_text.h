// The two texts made of a sample: what the model is asked, and the text key it is known by.
#ifndef AFTERIMAGE_EVAL_PROMPT_TEXT_H_
#define AFTERIMAGE_EVAL_PROMPT_TEXT_H_

#include <string>
#include <string_view>

#include "afterimage/result.h"
#include "data/dataset.h"

namespace afterimage {

// Which part of a sample is its text key.
enum class ChunkSource {
  kQuestion,
  kSemantic,  // the question as a program, without the ids in parentheses
  kAnswer,    // the reference as a sentence, else as a word
  kGroup,     // "<global> <local>"
  kImage,     // "image-<image id>"
  kCombined,  // the program and both groups
};

inline constexpr std::string_view kChunkSources = "question, semantic, answer, group, image, combined";

std::string_view Name(ChunkSource source);
// Errors: kInvalidArgument.
Result<ChunkSource> ParseChunkSource(std::string_view name);

// The question where the sample has nothing for this source.
std::string ChunkText(const Sample& sample, ChunkSource source);

// {question} {answer} {full_answer} {image_id} {dataset_id} {global_group} {local_group} {semantic_str}
// {semantic_program} replaced, any other {name} left out, {{ and }} written as single braces.
//
// Templates with a name are meant by their name alone:
//   question   "{question}"; also what an empty template is
//   short      asks for a word or a phrase, as GQA is scored
//   original   names the benchmark and the picture's id
inline constexpr std::string_view kTemplateNames = "question, short, original";
std::string FillTemplate(std::string_view prompt_template, const Sample& sample);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_PROMPT_TEXT_H_
