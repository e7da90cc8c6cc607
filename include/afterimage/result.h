// Result: how every fallible function of afterimage answers.
//
// A Result<T> holds a T or an Error; a Status holds nothing or an Error. A miss is a value (an empty optional),
// not an error. No exception crosses the library's interfaces.
//
//   Result<Digest> digest = digests.Of(path);
//   if (!digest.ok()) return digest.error();
//   Use(*digest);
#ifndef AFTERIMAGE_RESULT_H_
#define AFTERIMAGE_RESULT_H_

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace afterimage {

enum class Errc {
  kInvalidArgument,  // the caller's input cannot be used; the message says what would
  kNotFound,         // a file or a name that should exist does not
  kTooLarge,         // over a limit: context, pixels, bytes
  kBusy,             // would work later: all sequences in use, another writer
  kCorrupt,          // bytes that fail a check; never used
  kUnsupported,      // understood, but this engine or build cannot do it
  kIo,               // the operating system said no
  kInternal,         // the engine failed in a way its interface does not explain
};

// "invalid argument", "not found", ...
const char* ErrcName(Errc code);

struct Error {
  Errc code = Errc::kInternal;
  std::string message;  // a sentence for a person, with what to do next where that is known
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  // REQUIRES: !ok()
  const Error& error() const {
    assert(!ok());
    return std::get<Error>(state_);
  }
  // REQUIRES: ok()
  T& value() & {
    assert(ok());
    return std::get<T>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<T>(state_);
  }
  T value() && {
    assert(ok());
    return std::get<T>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return ok_; }
  // REQUIRES: !ok()
  const Error& error() const {
    assert(!ok_);
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace afterimage

#endif  // AFTERIMAGE_RESULT_H_
