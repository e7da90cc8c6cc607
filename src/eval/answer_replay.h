// AnswerReplay: a cache of responses, to measure against. The same question, letter for letter, gets the answer it got
// before, whatever its picture; nothing is computed.
#ifndef AFTERIMAGE_EVAL_ANSWER_REPLAY_H_
#define AFTERIMAGE_EVAL_ANSWER_REPLAY_H_

#include <optional>
#include <string>
#include <unordered_map>

#include "afterimage/cache.h"

namespace afterimage {

class AnswerReplay {
 public:
  // The answer, if there is one, with a report that tells it as a hit on the whole prompt, of provenance
  // "answer:replay": exact where the picture is the same, else a substituted picture. Its times are what this took.
  std::optional<Served> Find(const Query& query, const Clock& clock = SteadyClock()) const;

  // The first answer to a question is the one that stays.
  void Keep(const Query& query, const Served& served);

 private:
  struct Kept {
    Answer answer;
    Donor donor;
    int prompt_tokens = 0;
  };
  std::unordered_map<std::string, Kept> by_question_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_EVAL_ANSWER_REPLAY_H_
