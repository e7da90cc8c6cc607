// Whether a response is the reference answer: exact match as lmms-eval scores GQA (ignore case, ignore punctuation),
// and white space around it ignored as well. Case is that of ASCII letters.
#ifndef AFTERIMAGE_EVAL_SCORE_H_
#define AFTERIMAGE_EVAL_SCORE_H_

#include <string>
#include <string_view>

namespace afterimage {

// What is compared: lower case, without !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~, trimmed.
std::string ScoredForm(std::string_view answer);

bool IsCorrect(std::string_view response, std::string_view reference);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_SCORE_H_
