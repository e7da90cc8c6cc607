// NormalizedText: a text without its case and its white space at the ends and in runs: "Is  it RED?" -> "is it red?".
//
// Two questions with the same normalised text are of class `normalized`. Only ASCII letters lose their case: folding
// others depends on the language, and a rule that is surely the same question in every language is wanted here.
#ifndef AFTERIMAGE_CORE_NORMALIZED_TEXT_H_
#define AFTERIMAGE_CORE_NORMALIZED_TEXT_H_

#include <string>
#include <string_view>

namespace afterimage {

std::string NormalizedText(std::string_view text);

}  // namespace afterimage

#endif  // AFTERIMAGE_CORE_NORMALIZED_TEXT_H_
