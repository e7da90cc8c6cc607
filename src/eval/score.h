// How right a response is. Against one reference answer: exact match as lmms-eval scores GQA (ignore case, ignore
// punctuation), and white space around it ignored as well; case is that of ASCII letters. Against the answers of ten
// people: as VQA v2 does (vqa_score.h).
#ifndef AFTERIMAGE_EVAL_SCORE_H_
#define AFTERIMAGE_EVAL_SCORE_H_

#include <optional>
#include <string>
#include <string_view>

#include "data/dataset.h"

namespace afterimage {

// What is compared: lower case, without !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~, trimmed.
std::string ScoredForm(std::string_view answer);

bool IsCorrect(std::string_view response, std::string_view reference);

// 0 to 1, and with one reference 0 or 1; nullopt where the sample has none.
std::optional<double> ScoreOf(std::string_view response, const Sample& sample);
// Where yes or no is asked for: at least two of ten people agree.
inline bool CountsAsRight(double score) { return score >= 0.5; }

// For an open question, whose answer is a list ("a small green ball, a large cup and a car"): how well the things named
// in the response are those of the reference, as the harmonic mean of the shares found and right (F1), 0 to 1. Words
// around the list ("The picture shows") and articles do not count; a thing named twice must be there twice.
double FactScore(std::string_view response, std::string_view reference);

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_SCORE_H_
