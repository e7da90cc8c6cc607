// Inflection: which word an English word may be a form of.
//
// Only the two endings that leave the sense of a question alone: -s (dogs, holds) and -ing (holding). A form in -ed is
// a word of its own: "is the dog chased" is not "is the dog chasing". No dictionary is asked, so an answer may hold
// words that do not exist ("riding" may be of "rid" or of "ride"); they do no harm, since nobody writes them.
#ifndef AFTERIMAGE_GATES_INFLECTION_H_
#define AFTERIMAGE_GATES_INFLECTION_H_

#include <string>
#include <string_view>
#include <vector>

namespace afterimage {

// The words of which `word` (lower case) may be a form, itself first.
std::vector<std::string> BaseForms(std::string_view word);

// Whether it may be a regular plural ("dogs", not "glass").
bool MayBePlural(std::string_view word);

}  // namespace afterimage

#endif  // AFTERIMAGE_GATES_INFLECTION_H_
