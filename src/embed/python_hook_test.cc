#include "embed/python_hook.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "testing/temporary_folder.h"

namespace afterimage {
namespace {

using Vectors = std::vector<std::vector<float>>;

const std::vector<std::string> kV{"v"};

// Hooks are written into a folder of their own, on PYTHONPATH. "hook:Hook" has a source "v" of two dimensions; `body`
// is what it does with a sample.
class PythonHookTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("PYTHONPATH", folder_.path().c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // or a module written twice within a second would be the old one
    options_.call_limit = std::chrono::minutes(2);
    options_.start_limit = std::chrono::minutes(2);
  }
  void TearDown() override { unsetenv("PYTHONPATH"); }

  void WriteModule(const std::string& text) { std::ofstream(folder_ / "hook.py") << text; }
  void WriteHook(const std::string& body) {
    WriteModule(
        "import os, signal, sys, time, math, array, struct\n"
        "class Hook:\n"
        "    sources = {'v': {'dim': 2, 'modality': 'joint', 'identity': 'test/1'}}\n"
        "    n = 0\n"
        "    def __call__(self, sample):\n"
        "        self.n += 1\n"
        "        " +
        body + "\n");
  }
  std::unique_ptr<EmbeddingHook> Start() {
    Result<std::unique_ptr<EmbeddingHook>> hook = NewPythonHook("hook:Hook", options_);
    EXPECT_TRUE(hook.ok()) << hook.error().message;
    return std::move(*hook);
  }
  std::unique_ptr<EmbeddingHook> StartWith(const std::string& body) {
    WriteHook(body);
    return Start();
  }
  Error StartError() {
    const Result<std::unique_ptr<EmbeddingHook>> hook = NewPythonHook("hook:Hook", options_);
    EXPECT_FALSE(hook.ok());
    return hook.ok() ? Error{} : hook.error();
  }
  // The error of one call to a hook that does this.
  Error CallError(const std::string& body) {
    const Result<Vectors> vectors = StartWith(body)->Embed(kV, {});
    EXPECT_FALSE(vectors.ok());
    return vectors.ok() ? Error{} : vectors.error();
  }

  const TemporaryFolder folder_;
  PythonHookOptions options_;
};

void ExpectVector(const Result<Vectors>& vectors, const std::vector<float>& expected) {
  ASSERT_TRUE(vectors.ok()) << vectors.error().message;
  EXPECT_EQ((*vectors)[0], expected);
}

void ExpectSays(const Error& error, const std::string& part) {
  EXPECT_NE(error.message.find(part), std::string::npos) << "'" << part << "' is not in: " << error.message;
}

TEST_F(PythonHookTest, ThePlainExampleComparesQuestions) {
  setenv("PYTHONPATH", EXAMPLE_HOOKS, 1);
  const auto hook = NewPythonHook("python_hook:LetterGroups", options_);
  ASSERT_TRUE(hook.ok()) << hook.error().message;
  EXPECT_EQ((*hook)->sources()[0].modality, Modality::kText);
  const std::vector<std::string> names{"prompt"};
  const auto vector = [&](std::string_view question) {
    EmbeddingInput input;
    input.question = question;
    return (*hook)->Embed(names, input).value()[0];
  };
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  };
  const auto asked = vector("What colour is the ball?");
  const auto mistyped = vector("what colour is  the bal?");
  const auto other = vector("How many people are sitting?");
  EXPECT_GT(dot(asked, mistyped), 0.8 * dot(asked, asked));
  EXPECT_LT(dot(asked, other), 0.5 * dot(asked, asked));
  EXPECT_EQ((*hook)->Embed(names, {}).error().code, Errc::kNotFound);
}

TEST_F(PythonHookTest, TheClipExampleSaysWhatItNeeds) {
  // Where they are installed, they are hidden: the test is of their absence.
  std::ofstream(folder_ / "sentence_transformers.py") << "raise ImportError('hidden by the test')\n";
  setenv("PYTHONPATH", (folder_.path() + ":" + EXAMPLE_HOOKS).c_str(), 1);
  const auto hook = NewPythonHook("clip_hook:ClipAndMiniLm", options_);
  ASSERT_FALSE(hook.ok());
  ExpectSays(hook.error(), "clip_hook needs sentence-transformers and pillow");
  ExpectSays(hook.error(), "exited with status 1");
}

TEST_F(PythonHookTest, AHookSeesTheRequest) {
  const auto hook = StartWith(
      "assert (sample.id, sample.question, sample.chunk_text) == ('7', 'Is it \\u00e9?', 'chunk'), vars(sample)\n"
      "        assert sample.image_path == 'a.png' and sample.image_paths == ['a.png', 'b.png']\n"
      "        assert sample.metadata == {'video_id': 'x'} and sample.names == ['v']\n"
      "        return {'v': [1, 2.5]}");
  const std::vector<std::string> paths{"a.png", "b.png"};
  EmbeddingInput input;
  input.id = "7";
  input.question = "Is it \xC3\xA9?";
  input.chunk_text = "chunk";
  input.image_paths = paths;
  input.metadata = R"({"video_id": "x"})";
  ExpectVector(hook->Embed(kV, input), {1, 2.5f});
}

TEST_F(PythonHookTest, ATextThatIsNotUtf8DoesNotStopIt) {
  const auto hook = StartWith("return {'v': [len(sample.question), 0]}");
  EmbeddingInput input;
  input.question = "a\xFFz";
  ExpectVector(hook->Embed(kV, input), {3, 0});
}

TEST_F(PythonHookTest, VectorsMayBeAnythingWithNumbers) {
  const auto hook = StartWith(
      "return {'v': [[1, 2], (1.0, 2.0), array.array('f', [1, 2]), array.array('d', [1, 2]), array.array('h', [1, "
      "2]),\n"
      "            memoryview(array.array('f', [1, 2])).cast('B').cast('f', [1, 2]),\n"
      "            (float(x) for x in '12')][self.n - 1]}");
  for (int i = 0; i < 7; ++i) ExpectVector(hook->Embed(kV, {}), {1, 2});
}

TEST_F(PythonHookTest, TheEncoderOutputIsSentWhenAskedFor) {
  const auto hook = StartWith(
      "(name, tensor), (other, last) = sample.encoder_output()\n"
      "        assert (name, other) == ('a', 'b') and tuple(tensor.shape) == (2, 3) and tuple(last.shape) == (1, 1)\n"
      "        return {'v': [tensor[1, 2], last[0, 0]]}");
  int n_asked = 0;
  EmbeddingInput input;
  input.encoder_output = [&] {
    ++n_asked;
    return std::vector<NamedTensor>{{"a", {2, 3}, {1, 2, 3, 4, 5, 6.5f}}, {"b", {1, 1}, {9}}};
  };
  ExpectVector(hook->Embed(kV, input), {6.5f, 9});
  EXPECT_EQ(n_asked, 1);
}

TEST_F(PythonHookTest, WithoutEncoderOutputTheHookGetsAnException) {
  const auto hook = StartWith("return {'v': sample.encoder_output()}");
  ExpectSays(hook->Embed(kV, {}).error(), "no output of the vision encoder");
  EmbeddingInput input;
  input.encoder_output = []() -> Result<std::vector<NamedTensor>> { return Error{Errc::kInternal, "on fire"}; };
  ExpectSays(hook->Embed(kV, input).error(), "on fire");
}

TEST_F(PythonHookTest, ThePixelsAreSentWhenAskedFor) {
  const auto hook = StartWith(
      "first, second = sample.pictures()\n"
      "        assert tuple(first.shape) == (1, 2, 3) and tuple(second.shape) == (900, 1600, 3)\n"
      "        return {'v': [first[0, 1, 2], second[899, 1599, 0]]}");
  const std::vector<std::shared_ptr<const Image>> images{
      Image::FromRgb(2, 1, {1, 2, 3, 4, 5, 6}).value(),
      Image::FromRgb(1600, 900, std::vector<uint8_t>(1600 * 900 * 3, 77)).value()};
  EmbeddingInput input;
  input.images = images;
  ExpectVector(hook->Embed(kV, input), {6, 77});
}

TEST_F(PythonHookTest, NothingForASourceIsASkip) {
  EXPECT_EQ(CallError("return {}").code, Errc::kNotFound);
  EXPECT_EQ(CallError("return {'v': None}").code, Errc::kNotFound);
}

TEST_F(PythonHookTest, WhatItPrintsIsNoPartOfTheConversation) {
  const auto hook = StartWith(
      "print('to stdout')\n"
      "        os.write(1, b'x' * 200000)\n"
      "        os.write(2, b'y' * 200000)\n"
      "        return {'v': [self.n, 0]}");
  for (float n = 1; n <= 3; ++n) ExpectVector(hook->Embed(kV, {}), {n, 0});
}

TEST_F(PythonHookTest, AnExceptionIsAnErrorWithItsTracebackAndTheProcessLives) {
  const auto hook = StartWith(
      "if self.n == 1: raise ValueError('not today')\n"
      "        return {'v': [self.n, 0]}");
  const auto failed = hook->Embed(kV, {});
  ASSERT_FALSE(failed.ok());
  ExpectSays(failed.error(), "ValueError: not today");
  ExpectSays(failed.error(), "hook.py");
  ExpectVector(hook->Embed(kV, {}), {2, 0});
}

TEST_F(PythonHookTest, AWrongVectorIsAnErrorAndTheProcessLives) {
  const auto hook = StartWith(
      "return {'v': [[], [1], [1, 2, 3], [math.nan, 1], [math.inf, 1], ['x', 1], 5, [self.n, 0]][self.n - 1]}");
  ExpectSays(hook->Embed(kV, {}).error(), "dimension 0, and 2 was declared");
  ExpectSays(hook->Embed(kV, {}).error(), "dimension 1, and 2 was declared");
  ExpectSays(hook->Embed(kV, {}).error(), "dimension 3, and 2 was declared");
  ExpectSays(hook->Embed(kV, {}).error(), "not finite");
  ExpectSays(hook->Embed(kV, {}).error(), "not finite");
  ExpectSays(hook->Embed(kV, {}).error(), "could not convert string to float");
  ExpectSays(hook->Embed(kV, {}).error(), "TypeError");
  ExpectVector(hook->Embed(kV, {}), {8, 0});
}

TEST_F(PythonHookTest, AProcessKilledBetweenCallsIsStartedAnew) {
  const auto hook = StartWith("return {'v': [os.getpid(), self.n]}");
  const auto first = hook->Embed(kV, {});
  ASSERT_TRUE(first.ok());
  kill(static_cast<pid_t>((*first)[0][0]), SIGKILL);
  const auto missed = hook->Embed(kV, {});
  ASSERT_FALSE(missed.ok());
  ExpectSays(missed.error(), "signal 9");
  const auto second = hook->Embed(kV, {});
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_NE((*second)[0][0], (*first)[0][0]);
  EXPECT_EQ((*second)[0][1], 1);
}

TEST_F(PythonHookTest, AProcessThatDiesInACallIsAnError) {
  const auto error = CallError("print('last words'); os.kill(os.getpid(), signal.SIGKILL)");
  ExpectSays(error, "signal 9");
  ExpectSays(error, "last words");
}

// The pid goes by a file, since no answer comes.
TEST_F(PythonHookTest, AHangIsCutShortAndTheProcessKilled) {
  options_.call_limit = std::chrono::milliseconds(200);
  const std::string pid_file = folder_ / "pid";
  const auto error = CallError("open('" + pid_file + "', 'w').write(str(os.getpid())); time.sleep(1000)");
  ExpectSays(error, "did not answer within 0.2 s");
  std::ifstream file(pid_file);
  pid_t pid = 0;
  ASSERT_TRUE(file >> pid);
  EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid)));
}

TEST_F(PythonHookTest, TheTimeWeTakeForTheEncoderIsNotTheHooks) {
  options_.call_limit = std::chrono::milliseconds(1500);
  const auto hook = StartWith("sample.encoder_output(); return {'v': [1, 2]}");
  EmbeddingInput input;
  input.encoder_output = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    return std::vector<NamedTensor>{};
  };
  ExpectVector(hook->Embed(kV, input), {1, 2});
}

TEST_F(PythonHookTest, GarbageInItsAnswersIsAnErrorAndTheProcessKilled) {
  const std::string write = "os.write(3, b'garbage, garbage, garbage'); return {'v': [1, 2]}";
  ExpectSays(CallError(write), "not the protocol");
  // A right prefix, and sizes that nobody has memory for.
  const auto sizes = [](const std::string& header, const std::string& payload) {
    return "os.write(3, struct.pack('<IIQ', 0x31484941, " + header + ", " + payload + ")); return {'v': [1, 2]}";
  };
  ExpectSays(CallError(sizes("2", "2**63")), "a payload of 9223372036854775808 bytes");
  ExpectSays(CallError(sizes("2**32 - 1", "0")), "a header of 4294967295 bytes");
  // A message of the right form that says nothing.
  for (const char* header : {"[]", "{]", "{}", R"({"vectors": 1})", R"({"vectors": [1]})", R"({"ask": "money"})",
                             R"({"vectors": [{"name": "v", "dim": -2}]})", R"({"vectors": [{"name": "w", "dim": 2}]})",
                             R"({"vectors": [{"name": "v", "dim": 4611686018427387905}]})"}) {
    const std::string text = std::string("b'") + header + "'";
    const auto error =
        CallError("os.write(3, struct.pack('<IIQ', 0x31484941, len(" + text + "), 0) + " + text + "); os._exit(0)");
    ExpectSays(error, "not the protocol");
  }
}

TEST_F(PythonHookTest, AfterThreeRestartsItStaysOutOfService) {
  const auto hook = StartWith("os._exit(3)");
  for (int i = 0; i < 4; ++i) ExpectSays(hook->Embed(kV, {}).error(), "exited with status 3");
  WriteHook("return {'v': [1, 2]}");  // would answer, were it started
  for (int i = 0; i < 2; ++i) ExpectSays(hook->Embed(kV, {}).error(), "out of service");
}

TEST_F(PythonHookTest, AHookThatComesBackWithOtherSourcesIsNotUsed) {
  const auto hook = StartWith("os._exit(3)");
  EXPECT_FALSE(hook->Embed(kV, {}).ok());
  WriteModule(
      "class Hook:\n"
      "    sources = {'v': {'dim': 2, 'modality': 'joint', 'identity': 'test/2'}}\n"
      "    def __call__(self, sample): return {'v': [1, 2]}\n");
  ExpectSays(hook->Embed(kV, {}).error(), "sources are no longer");
}

TEST_F(PythonHookTest, WhyItDidNotStartIsTold) {
  WriteModule("print('loading')\ndef Hook(): raise RuntimeError('no weights')\n");
  const Error raised = StartError();
  ExpectSays(raised, "RuntimeError: no weights");
  ExpectSays(raised, "Traceback");
  ExpectSays(raised, "loading");
  WriteModule("class Other: pass\n");
  ExpectSays(StartError(), "has no attribute 'Hook'");
  WriteModule("def Hook(:\n");
  ExpectSays(StartError(), "SyntaxError");
  WriteModule("import sys\nsys.exit('cannot go on')\n");
  ExpectSays(StartError(), "cannot go on");
  WriteModule("import os\nos.write(3, b'x' * 100)\n");
  ExpectSays(StartError(), "not the protocol");
  WriteModule("class Hook: pass\n");
  ExpectSays(StartError(), "has no attribute 'sources'");
  std::filesystem::remove(folder_ / "hook.py");
  ExpectSays(StartError(), "No module named 'hook'");
}

TEST_F(PythonHookTest, AStartThatHangsIsCutShort) {
  options_.start_limit = std::chrono::milliseconds(300);
  WriteModule("import time\ntime.sleep(1000)\n");
  ExpectSays(StartError(), "did not answer within 0.3 s");
}

TEST_F(PythonHookTest, SourcesThatCannotBeAreRefusedAtTheStart) {
  const auto error = [&](const std::string& sources) {
    WriteModule("class Hook:\n    sources = " + sources + "\n");
    return StartError();
  };
  ExpectSays(error("{}"), "no sources");
  ExpectSays(error("{'v': {'dim': 0, 'modality': 'text', 'identity': 'x'}}"), "dimension");
  ExpectSays(error("{'v': {'dim': 2**40, 'modality': 'text', 'identity': 'x'}}"), "dimension");
  ExpectSays(error("{'v': {'dim': 2, 'modality': 'smell', 'identity': 'x'}}"), "modality");
  ExpectSays(error("{'v': {'dim': 2, 'modality': 'text', 'identity': ''}}"), "identity");
  ExpectSays(error("{'v:1': {'dim': 2, 'modality': 'text', 'identity': 'x'}}"), "'v:1'");
  ExpectSays(error("{'v': {'dim': 2, 'modality': 'text'}}"), "KeyError: 'identity'");
}

TEST_F(PythonHookTest, NoPythonIsAnError) {
  options_.python = "no-such-python";
  WriteHook("return {}");
  EXPECT_EQ(StartError().code, Errc::kNotFound);
}

TEST_F(PythonHookTest, CallsFromManyThreadsAreAnsweredOneByOne) {
  const auto hook = StartWith("return {'v': [float(sample.question), 0]}");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const std::string question = std::to_string(t * 100 + i);
        EmbeddingInput input;
        input.question = question;
        ExpectVector(hook->Embed(kV, input), {static_cast<float>(t * 100 + i), 0});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The thread that starts a process may end before it; only the end of our process ends it.
TEST_F(PythonHookTest, TheEndOfTheThreadThatStartedItIsNotItsEnd) {
  WriteHook("return {'v': [1, 2]}");
  std::unique_ptr<EmbeddingHook> hook;
  std::thread([&] { hook = Start(); }).join();
  ExpectVector(hook->Embed(kV, {}), {1, 2});
}

TEST_F(PythonHookTest, ItDiesWithUsEvenInACallThatHangs) {
  const std::string pid_file = folder_ / "pid";
  WriteHook("open('" + pid_file + ".new', 'w').write(str(os.getpid())); os.rename('" + pid_file + ".new', '" +
            pid_file + "'); [time.sleep(1000) for _ in range(10)]");
  EXPECT_EXIT(
      {
        const auto hook = Start();
        std::thread([&] {
          while (!std::filesystem::exists(pid_file)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          std::raise(SIGKILL);
        }).detach();
        (void)hook->Embed(kV, {});
      },
      testing::KilledBySignal(SIGKILL), "");
  std::ifstream file(pid_file);
  pid_t pid = 0;
  ASSERT_TRUE(file >> pid);
  const auto runs = [&] {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number;
    std::string name;
    char state = 'Z';
    stat >> number >> name >> state;
    return state != 'Z';
  };
  while (runs()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace afterimage
