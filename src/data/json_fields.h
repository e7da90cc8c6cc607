// JsonFields: the fields of one JSON object, read by name.
//
// The first that has the wrong type is remembered and the rest of the reading goes on, so that a caller asks once.
#ifndef AFTERIMAGE_DATA_JSON_FIELDS_H_
#define AFTERIMAGE_DATA_JSON_FIELDS_H_

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "afterimage/result.h"

namespace afterimage {

class JsonFields {
 public:
  using Json = nlohmann::ordered_json;
  using Names = std::initializer_list<const char*>;

  // REQUIRES: an object, which outlives this.
  explicit JsonFields(const Json& object) : object_(object) {}

  // kInvalidArgument: "question" must be a text
  const Status& status() const { return status_; }

  // The first of these that is there and not null; null where there is none.
  const Json* Find(Names names);
  // Numbers are taken as they are written: ids and answers are often numbers. Empty where there is none.
  std::string Text(Names names);
  bool Flag(Names names, bool otherwise);
  // A list of texts, or the text of a Python list of texts: "['07', \"it's\"]".
  std::vector<std::string> Texts(Names names);

  // The field found last must be something else.
  void Wrong(const char* wanted);

 private:
  const Json& object_;
  std::string name_;  // found last
  Status status_;
};

// The object that a record's text is. Errors: kInvalidArgument (not UTF-8, not JSON, not an object, nested too deep).
Result<JsonFields::Json> ParseObject(const std::string& text);

}  // namespace afterimage

#endif  // AFTERIMAGE_DATA_JSON_FIELDS_H_
