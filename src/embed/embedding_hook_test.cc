#include "embed/embedding_hook.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace afterimage {
namespace {

TEST(EmbeddingHookTest, ATextNamesEveryKindOfHook) {
  const auto none = NewEmbeddingHook("none", {});
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE((*none)->sources().empty());

  const auto vision = NewEmbeddingHook("vision", {});
  ASSERT_TRUE(vision.ok());
  EXPECT_EQ((*vision)->sources()[0].identity, "pixels/1");

  const auto shared_object = NewEmbeddingHook(std::string(HISTOGRAM_HOOK) + ":histogram_hook", {});
  ASSERT_TRUE(shared_object.ok()) << shared_object.error().message;
  EXPECT_EQ((*shared_object)->sources()[0].identity, "histogram_hook/1");

  setenv("PYTHONPATH", EXAMPLE_HOOKS, 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  const auto python = NewEmbeddingHook("python_hook:LetterGroups", {});
  unsetenv("PYTHONPATH");
  ASSERT_TRUE(python.ok()) << python.error().message;
  EXPECT_EQ((*python)->sources()[0].identity, "letter-groups/1");
}

TEST(EmbeddingHookTest, AnObjectInTheCurrentFolderNeedsNoSlash) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path object = HISTOGRAM_HOOK;
  std::filesystem::current_path(object.parent_path());
  EXPECT_TRUE(NewEmbeddingHook(object.filename().string() + ":histogram_hook", {}).ok());
  std::filesystem::current_path(before);
}

TEST(EmbeddingHookTest, AnUnknownTextIsAnsweredWithWhatThereIs) {
  for (const char* spec : {"", "promt", ":", "vision:", ":Factory", "./libmine.so"}) {
    const auto hook = NewEmbeddingHook(spec, {});
    ASSERT_FALSE(hook.ok()) << spec;
    EXPECT_EQ(hook.error().code, Errc::kInvalidArgument) << spec;
    for (const char* there : {"prompt_vision", ".so:factory", "package.module:Factory"}) {
      EXPECT_NE(hook.error().message.find(there), std::string::npos) << spec << ": " << hook.error().message;
    }
  }
}

TEST(EmbeddingHookTest, AModuleThatCannotBeOneIsNotStarted) {
  for (const char* spec : {"a b:Factory", "package..module:Factory", "package:Fac.tory", "-c:Factory", "a:b:c"}) {
    EXPECT_EQ(NewEmbeddingHook(spec, {}).error().code, Errc::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace afterimage
