"""The command line as a user meets it: output, exit codes, messages."""

import json
import os
import unittest

from program import FOLDER, model, run, write_png, write_rates


class AskTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vision = model("tiny-internvl")
        cls.text = model("tiny-text")
        cls.picture = write_png("a.png", 1)
        cls.other = write_png("b.png", 2)

    def ask_json(self, *args):
        done = run("ask", *args, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def test_an_answer_comes_with_tokens_and_times_by_stage(self):
        done = run("ask", *self.vision, "--image", self.picture, "What is this?")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("tokens", "pictures 16", "encode", "prefill", "decode", "first token after", "engine", "state"):
            self.assertIn(word, done.stdout)

    def test_json_is_one_object_with_the_same_answer_every_time(self):
        first = self.ask_json(*self.vision, "--image", self.picture, "What is this?")
        again = self.ask_json(*self.vision, "--image", self.picture, "What is this?")
        self.assertTrue(first["answer"])
        self.assertEqual(first["answer"], again["answer"])
        self.assertEqual(first["engine"], again["engine"])
        self.assertEqual(first["tokens"]["computed"], first["tokens"]["prompt"])
        self.assertEqual(first["images"]["encoded"], 1)
        self.assertGreater(first["stages_ms"]["encode"], 0)
        self.assertGreaterEqual(first["latency_ms"], first["ttft_ms"])

    def test_the_picture_matters_and_two_can_be_given(self):
        one = self.ask_json(*self.vision, "--image", self.picture, "What is this?")
        other = self.ask_json(*self.vision, "--image", self.other, "What is this?")
        both = self.ask_json(*self.vision, "--image", self.picture, "--image", self.other, "What is this?")
        self.assertNotEqual(one["answer"], other["answer"])
        self.assertEqual(both["images"]["encoded"], 2)
        self.assertGreater(both["tokens"]["prompt"], one["tokens"]["prompt"] + 16)

    def test_a_text_model_answers_without_a_picture_and_refuses_one(self):
        self.assertTrue(self.ask_json(*self.text, "Name a colour.")["answer"])
        done = run("ask", *self.text, "--image", self.picture, "What is this?")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--mmproj", done.stderr)

    def test_sampling_is_repeated_by_its_seed(self):
        flags = [*self.text, "Name a colour.", "--temperature", "2", "--seed"]
        self.assertEqual(self.ask_json(*flags, "1")["answer"], self.ask_json(*flags, "1")["answer"])
        self.assertNotEqual(self.ask_json(*flags, "1")["answer"], self.ask_json(*flags, "2")["answer"])

    def test_state_that_is_not_understood_is_not_cached_and_says_why(self):
        answer = self.ask_json(*self.text, "Name a colour.", "--k-type", "q8_0", "--v-type", "q8_0")
        self.assertTrue(answer["answer"])
        self.assertIn("q8_0", answer["engine"]["cache_refusal"])

    def test_asked_again_the_answer_comes_from_the_cache_and_the_report_says_so(self):
        flags = [*self.vision, "--image", self.picture, "--cache-dir", os.path.join(FOLDER.name, "ask-cache"),
                 "--planner-rates", write_rates("rates.json", 1e-7)]
        cold = self.ask_json(*flags, "What is this?")
        again = self.ask_json(*flags, "What is this?")
        self.assertEqual(cold["report"]["class"], "cold")
        self.assertEqual(again["report"]["class"], "exact")
        self.assertEqual(again["report"]["hit_source"], "text:exact")
        self.assertEqual(again["report"]["statuses"]["kv_cache"], "hit")
        self.assertEqual(again["report"]["donor"]["question"], "What is this?")
        self.assertEqual(again["answer"], cold["answer"])
        self.assertEqual(again["tokens"]["computed"], 0)
        self.assertEqual(again["images"]["encoded"], 0)
        shown = run("ask", *flags, "What is this?").stdout
        for word in ("class    exact (text:exact)", "exact_text=hit", "donor", "plan", "0 computed", "load", "inject"):
            self.assertIn(word, shown)
        dry = run("ask", *flags, "What is this?", "--cache-mode", "dry-run").stdout
        self.assertIn("would    put", dry)
        self.assertIn(": 0 put back", dry)

    def test_without_a_cache_folder_nothing_is_kept(self):
        report = self.ask_json(*self.vision, "--image", self.picture, "What is this?")["report"]
        self.assertEqual(set(report["statuses"].values()), {"skip"})
        self.assertIn("--cache-dir", run("ask", *self.vision, "--image", self.picture, "What is this?").stdout)

    def test_failures_have_a_message_and_an_exit_code(self):
        garbage = os.path.join(FOLDER.name, "garbage")
        with open(garbage, "wb") as file:
            file.write(b"not a picture, not a model" * 100)
        question = "What is this?"
        cases = [
            (["ask", *self.vision], 2, "question"),
            (["ask", question, "--preset", "no-such-preset"], 2, "tiny-internvl or tiny-qwen3vl"),
            (["ask", *self.vision, question, "--no-such-flag"], 2, "--no-such-flag"),
            (["ask", "--model", "/no/such.gguf", question], 1, "/no/such.gguf"),
            (["ask", "--model", garbage, question], 2, garbage),
            (["ask", "--model", self.vision[1], "--mmproj", garbage, question], 2, garbage),
            (["ask", *self.vision, "--image", "/no/such.png", question], 1, "/no/such.png"),
            (["ask", *self.vision, "--image", garbage, question], 2, "PNG, JPEG or WebP"),
            (["ask", *self.vision, "word " * 2000], 1, "--context"),
            (["ask", *self.vision, question, "--temperature", "-1"], 2, "temperature"),
            (["ask", *self.vision, question, "--threads", "-1"], 2, "threads"),
            (["ask", *self.vision, question, "--chat-template", "no-such-template"], 2, "--chat-template"),
            (["ask", *self.vision, question, "--cache-mode", "live"], 2, "--cache-dir"),
            (["ask", *self.vision, question, "--cache-mode", "on"], 2, "live|dry-run|off"),
            (["ask", *self.vision, question, "--layers", "vision"], 2, "there is no layer 'vision'"),
            (["bench", "reuse", "--shape", "no-such-shape"], 2, "no-such-shape"),
            ([], 2, "subcommand"),
        ]
        for args, code, message in cases:
            with self.subTest(args=args[-3:]):
                done = run(*args)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_help_is_everywhere(self):
        for command in ([], ["ask"], ["run"], ["bench"], ["bench", "reuse"]):
            done = run(*command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Usage", done.stdout)
        self.assertRegex(run("--version").stdout, r"^\d+\.\d+\.\d+\n$")


class BenchTest(unittest.TestCase):
    def test_hits_are_bit_identical_and_every_way_is_measured(self):
        done = run("bench", "reuse", "--shape", "tiny-internvl,tiny-qwen3vl", "--pairs", "2", "--threads", "1",
                   "--models-dir", FOLDER.name, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual([r["shape"] for r in report["results"]], ["tiny-internvl", "tiny-qwen3vl"])
        for result in report["results"]:
            self.assertEqual(result["hits_compared"], 8)
            self.assertEqual(result["hits_bit_identical"], 8)
            self.assertEqual(result["tokens"]["text"], 40)
            for way in ("plain", "cold", "fusion", "new_question", "last_token", "full_hit"):
                self.assertEqual(len(result["ways"][way]["samples_ms"]), 2)
        table = run("bench", "reuse", "--shape", "tiny-internvl", "--pairs", "1", "--threads", "1", "--models-dir",
                    FOLDER.name)
        self.assertIn("bit-identical", table.stdout)


if __name__ == "__main__":
    unittest.main()
