// Guarded: a call into llama.cpp, or one that allocates by the size of a state, whose exceptions become errors.
#ifndef AFTERIMAGE_ENGINE_LLAMA_GUARDED_H_
#define AFTERIMAGE_ENGINE_LLAMA_GUARDED_H_

#include <exception>
#include <new>
#include <string>

#include "afterimage/result.h"
#include "engine/llama/llama_log.h"

namespace afterimage {

// `call` returns a Status or a Result.
template <typename Call>
auto Guarded(const char* what, const Call& call) -> decltype(call()) {
  TakeLlamaErrors();  // what is logged from here on belongs to this call
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return Error{Errc::kTooLarge, std::string(what) + ": out of memory"};
  } catch (const std::exception& e) {
    return Error{Errc::kInternal, std::string(what) + ": " + e.what()};
  }
}

}  // namespace afterimage

#endif  // AFTERIMAGE_ENGINE_LLAMA_GUARDED_H_
