"""The library as strangers get it: installed, found by find_package, linked by the example, run."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = os.environ["AFTERIMAGE_BUILD"]
EXAMPLE = os.environ["EXAMPLE"]
WRITE_RANDOM_MODEL = os.environ["WRITE_RANDOM_MODEL"]


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


class ExampleTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        run(WRITE_RANDOM_MODEL, "tiny-text", self.folder / "models")
        self.model = self.folder / "models" / "tiny-text.gguf"

    def check_two_processes(self, program):
        first = run(program, self.model, cwd=self.folder)
        classes = re.findall(r"^class +(\w+)", first, re.M)
        self.assertEqual(len(classes), 2, first)
        self.assertEqual(classes[0], "cold", first)
        answers = re.findall(r"^answer +(.*)$", first, re.M)
        self.assertEqual(answers[0], answers[1], first)
        self.assertTrue((self.folder / "simple-cache" / "catalog.db").exists())
        second = run(program, self.model, cwd=self.folder)
        self.assertEqual(re.findall(r"^answer +(.*)$", second, re.M), answers, second)

    def test_the_example_asks_twice_and_finds_its_work_again(self):
        self.check_two_processes(EXAMPLE)

    def test_the_example_says_what_is_wrong(self):
        done = subprocess.run([EXAMPLE, "absent.gguf"], capture_output=True, text=True, timeout=60, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("absent.gguf", done.stderr)

    def test_an_outside_project_links_the_installed_library(self):
        prefix = self.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        self.assertFalse((prefix / "include" / "llama.h").exists(), "llama.cpp is inside, not installed")
        library, = prefix.glob("lib*/**/libafterimage.so")
        symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
        self.assertTrue(any("NewLlamaEngine" in symbol for symbol in symbols))
        foreign = re.compile(r"(llama|ggml|gguf|mtmd)_|_Z(T[VIS])?N?K?5faiss")
        self.assertEqual([symbol for symbol in symbols if foreign.match(symbol)], [], "a program may bring its own")
        run("cmake", "-S", HERE / "outside", "-B", self.folder / "build", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_PREFIX_PATH={prefix}")
        run("cmake", "--build", self.folder / "build")
        self.check_two_processes(self.folder / "build" / "simple")
        self.assertIn("afterimage", run(prefix / "bin" / "afterimage", "--help"))


if __name__ == "__main__":
    unittest.main()
