// VQA v2's score of a response against what ten people answered.
//
// An answer counts as right where three others gave it: the mean, over the ten ways to leave one person out, of
// min(1, people who agree / 3). Of k who agree that is 0, 0.3, 0.6, 0.9, and 1 from four on.
//
// Answers are compared in the form EvalAI brings them to: lower case, punctuation left out or made a space, no periods
// but in numbers, number words as digits, no articles, contractions with their apostrophes ("dont": "don't").
#ifndef AFTERIMAGE_EVAL_VQA_SCORE_H_
#define AFTERIMAGE_EVAL_VQA_SCORE_H_

#include <string>
#include <string_view>
#include <vector>

namespace afterimage {

std::string VqaForm(std::string_view answer);

// 0 to 1. REQUIRES: ten answers.
double VqaScore(std::string_view response, const std::vector<std::string>& answers);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_VQA_SCORE_H_
