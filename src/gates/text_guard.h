// TextGuard: whether two texts may be the same question, judged by their words alone.
//
// A sentence encoder finds questions that are alike; it cannot tell a flip from a paraphrase ("left of" and "right of"
// are nearer to each other than most rewordings are). The guard reads both questions with a lexicon and refuses a pair
// whose difference it cannot explain away. Refusing is always safe, and what is not known is refused.
//
// Refused: another kind of question (who, what, where, how many, yes/no, A or B), another negation, number, relation
// (left, under, in front of), comparison (bigger, most, same), quantifier (all, only), any other word that is neither a
// synonym nor an inflection of one in the other question, and the same words in other roles ("the cup left of the dog",
// "the dog left of the cup").
//
// Of no account: case, punctuation, contractions, British or American spelling, politeness, framing ("in the picture",
// "do you see"), articles, auxiliary verbs, a property on either side of its noun ("a red cup", "a cup that is red").
//
// Plurals: "Is there a dog?" and "Are there dogs?" are taken for the same, since one dog makes both true. Things that
// are known already must agree in number ("the dog", "the dogs"), and known ones are not just any ("the cups are here",
// "there are cups here"). Where things are counted, plurals are of no account.
//
// Known things: "Is the cup red?" is not "Is there a red cup?", since there may be two cups. But "Is the cup on the
// box?" and "Is there a cup on the box?" are taken for the same: people ask the one for the other.
//
// What it costs: tens of microseconds a pair.
//
// Thread safety: Refuse may be called from any thread.
#ifndef AFTERIMAGE_GATES_TEXT_GUARD_H_
#define AFTERIMAGE_GATES_TEXT_GUARD_H_

#include <string>
#include <string_view>
#include <utility>

#include "afterimage/result.h"
#include "gates/lexicon.h"

namespace afterimage {

class TextGuard {
 public:
  // The built-in lexicon, extended by a user's file of the same format (lexicon.h); an empty name: none.
  // Errors: kNotFound, kIo, kInvalidArgument (naming the line and the reason).
  static Result<TextGuard> Open(const std::string& lexicon_file);

  // Empty: the two may be the same question. Else why not, naming the words: "number: 'two' against 'three'".
  std::string Refuse(std::string_view asked, std::string_view donor) const;

 private:
  explicit TextGuard(Lexicon lexicon) : lexicon_(std::move(lexicon)) {}

  Lexicon lexicon_;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_GATES_TEXT_GUARD_H_
