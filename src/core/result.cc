#include "afterimage/result.h"

namespace afterimage {

const char* ErrcName(Errc code) {
  switch (code) {
    case Errc::kInvalidArgument:
      return "invalid argument";
    case Errc::kNotFound:
      return "not found";
    case Errc::kTooLarge:
      return "too large";
    case Errc::kBusy:
      return "busy";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kUnsupported:
      return "unsupported";
    case Errc::kIo:
      return "i/o error";
    case Errc::kInternal:
      return "internal error";
  }
  return "unknown error";
}

}  // namespace afterimage
