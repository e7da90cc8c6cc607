#include "gates/text_guard.h"

#include <gtest/gtest.h>

namespace afterimage {
namespace {

TEST(TextGuardTest, TheBuiltInLexiconIsValid) {
  const Result<TextGuard> guard = TextGuard::Open("");
  ASSERT_TRUE(guard.ok()) << guard.error().message;
}

}  // namespace
}  // namespace afterimage
