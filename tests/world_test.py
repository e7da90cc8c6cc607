"""The shipped models on the shipped world: real answers, and reuse equals recompute, token for token."""

import json
import os
import unittest

from program import FOLDER, run, write_rates

STREAMS = ["paraphrases", "flips", "clips", "twins", "lookalikes", "traffic", "mixed", "heldout"]


def run_json(*args):
    done = run("run", *args, "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def samples(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class ShippedModels(unittest.TestCase):
    def check_model(self, preset):
        cache = os.path.join(FOLDER.name, preset)
        files = [os.path.join(FOLDER.name, f"{preset}-{i}.jsonl") for i in range(2)]
        flags = ["--preset", preset, "--cache-dir", cache, "--reuse", "exact", "--max-samples", "200",
                 "--planner-rates", write_rates("rates.json", 1e-7)]
        first = run_json(*flags, "--baseline", "--samples-file", files[0])
        self.assertEqual(first["samples"], 200)
        self.assertGreaterEqual(first["accuracy"], 0.98)
        self.assertGreaterEqual(first["open"]["facts"], 0.95)
        self.assertEqual(first["agreement"], 1.0)
        self.assertEqual(first["false_hits"]["count"], 0)
        self.assertEqual(first["images"]["encoded"], first["classes"]["cold"], "a picture is encoded once")
        self.assertGreater(first["hits"]["prefix:image"], 100)

        again = run_json(*flags, "--samples-file", files[1])
        self.assertEqual(again["hits"], {"text:exact": 200})
        self.assertEqual(again["tokens"]["computed"], 0)
        self.assertEqual(again["images"]["encoded"], 0)
        tokens = [[line["response_tokens"] for line in samples(file)] for file in files]
        self.assertEqual(tokens[0], tokens[1])

    def test_the_internvl_shaped_model_answers_and_its_answers_do_not_hang_on_the_cache(self):
        self.check_model("tiny-internvl")

    def test_the_qwen3vl_shaped_model_answers_and_its_answers_do_not_hang_on_the_cache(self):
        self.check_model("tiny-qwen3vl")

    def test_a_picture_decides_the_answer(self):
        """The control: with every picture swapped for another, the answers are guesses."""
        folder = os.path.join(FOLDER.name, "swapped")
        os.makedirs(os.path.join(folder, "questions"))
        data = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "world")
        with open(os.path.join(data, "questions", "val_balanced_questions.json"), encoding="utf-8") as file:
            questions = json.load(file)
        pictures = sorted({question["imageId"] for question in questions.values()})
        for question in questions.values():
            question["imageId"] = pictures[(pictures.index(question["imageId"]) + 1) % len(pictures)]
        with open(os.path.join(folder, "questions", "val_balanced_questions.json"), "w", encoding="utf-8") as file:
            json.dump(questions, file)
        os.symlink(os.path.join(data, "images"), os.path.join(folder, "images"))
        swapped = run_json("--data-dir", folder, "--cache-mode", "off", "--max-samples", "100")
        self.assertEqual(swapped["errors"], 0)
        self.assertLess(swapped["accuracy"], 0.65)

    def test_every_stream_is_shipped_and_answered(self):
        for stream in STREAMS:
            with self.subTest(stream):
                summary = run_json("--dataset-config", stream, "--cache-mode", "off", "--max-samples", "12")
                self.assertEqual((summary["samples"], summary["errors"]), (12, 0))
                if stream != "heldout":
                    self.assertGreaterEqual(summary["accuracy"], 0.9)


if __name__ == "__main__":
    unittest.main()
