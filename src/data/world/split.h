// Split: one of train, val and testdev, before it is written: pictures as records, questions, and pairs that say which
// requests a cache may take for each other.
#ifndef AFTERIMAGE_DATA_WORLD_SPLIT_H_
#define AFTERIMAGE_DATA_WORLD_SPLIT_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/world/question.h"
#include "data/world/scene.h"
#include "data/world/vocabulary.h"

namespace afterimage::world {

// What is done to a picture after it is drawn. kPlain, kResized and kCropped become PNG, kJpeg becomes JPEG.
struct Edit {
  enum class Kind { kPlain, kJpeg, kResized, kCropped };
  Kind kind = Kind::kPlain;
  int amount = 0;  // quality; new side in pixels; pixels cut from each edge
};

struct Picture {
  std::string id;
  Scene scene;
  Edit edit;
};

// Where a frame stands in its clip.
struct Frame {
  std::string video_id;
  int number = 0;
  double timestamp = 0;  // seconds
  std::string scene_id;  // changes when what is in the picture does
};

struct Entry {
  std::string id;
  size_t picture = 0;  // index into Split::pictures
  Question question;
  Answer answer;
  std::string wording;
  bool is_balanced = true;
  std::vector<std::string> equivalent;  // with itself
  std::vector<std::string> entailed;
  std::optional<Frame> frame;
};

struct Pair {
  std::string a;  // ids of two entries of one stream; `b` comes later
  std::string b;
  std::string kind;         // what lies between them: "paraphrase", "color", "motion", "resized", ...
  bool must_agree = false;  // false: their answers differ, and taking one for the other is an error
};

// A stream is selected by its name as `--dataset-config`:
//   balanced     one wording of at least 12 questions a scene, answers balanced; and its description
//   paraphrases  some of those questions in all their wordings
//   flips        two questions about one picture, one word apart, with different answers
//   clips        the same questions about 24 frames that drift, flicker and are compressed; in most clips something
//                happens: an object vanishes, changes colour, or crosses to the other side
//   twins        the same questions about a picture, and the picture compressed, resized, cropped and brightened
//   lookalikes   the same question about two pictures that differ in one object, with different answers
//   traffic      pictures and questions by popularity (Zipf), in order of arrival
//   mixed        some of each but `balanced`, interleaved: a stream with everything in it
//   heldout      questions of `balanced` in wordings the models were not trained on
struct Stream {
  std::vector<Entry> entries;
  std::vector<Pair> pairs;
};

struct Split {
  std::string name;
  std::vector<Picture> pictures;
  std::map<std::string, Stream> streams;
};

// `number` (1 to 9) begins every id of the split. The same arguments make the same split everywhere.
Split MakeSplit(const std::string& name, int number, uint64_t seed, int scenes, const Vocabulary& words);

}  // namespace afterimage::world

#endif  // AFTERIMAGE_DATA_WORLD_SPLIT_H_
