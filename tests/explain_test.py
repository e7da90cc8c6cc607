"""Why a request hits or misses, and which thresholds labelled pairs ask for, through the program."""

import json
import os
import unittest

from program import FOLDER, model, run, write_jsonl, write_png, write_rates

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENCODER = os.path.join(ROOT, "models", "all-minilm-l6-v2", "encoder.gguf")
WORLD = os.path.join(ROOT, "data", "world")
LAYERS = ["--embedding-hook", "prompt_vision", "--embedding-layer", "prompt:384", "--embedding-layer", "vision:512"]
needs_encoder = unittest.skipUnless(os.path.exists(ENCODER), "the sentence encoder was not fetched")


def path(name):
    return os.path.join(FOLDER.name, name)


def files(folder):
    """What lies in a folder, with the bytes; but not what SQLite keeps beside a catalogue while someone reads it."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith(("-shm", "-wal")):
                continue
            with open(os.path.join(where, name), "rb") as file:
                found[os.path.join(where, name)] = file.read()
    return found


class Explain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = model("tiny-internvl")
        cls.picture = write_png("explained.png", 1)

    def setUp(self):
        self.cache = path(self.id())
        self.flags = [*self.model, "--cache-dir", self.cache, "--planner-rates", write_rates("rates.json", 1e-7)]

    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_before_a_request_was_asked_it_is_cold_and_after_it_hits(self):
        request = ["--image", self.picture, "What is it?", *self.flags]
        before = self.check(run("explain", *request))
        self.assertIn("would be done\n  class      cold\n", before)
        self.assertIn("explained.png", before)
        self.assertFalse(os.path.exists(self.cache))

        self.check(run("ask", *request))
        kept = files(self.cache)
        after = self.check(run("explain", *request))
        self.assertIn("would be done\n  class      exact\n  found by   exact_text\n", after)
        self.assertIn("not done: a dry run", after)
        self.assertLessEqual(max(map(len, after.split("\n"))), 100)
        report = json.loads(self.check(run("explain", *request, "--json")))
        self.assertEqual(report["question"], "What is it?")
        self.assertEqual(report["statuses"]["exact_text"], "hit")
        self.assertEqual(report["layers"][0]["candidates"][0]["class"], "exact")
        self.assertEqual(report["tokens"]["computed"], 0)
        self.assertEqual(files(self.cache), kept)

    def test_another_picture_is_a_refusal_that_says_why(self):
        self.check(run("ask", "--image", self.picture, "What is it?", *self.flags))
        other = write_png("other.png", 2)
        story = self.check(run("explain", "--image", other, "What is it?", *self.flags))
        self.assertIn("refused  image gate: another picture", story)

    def test_it_needs_a_cache_and_only_looks(self):
        alone = run("explain", "What is it?", *self.model)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("--cache-dir", alone.stderr)
        live = run("explain", "What is it?", *self.flags, "--cache-mode", "live")
        self.assertEqual(live.returncode, 2)

    def test_a_sample_of_a_run_is_told_from_its_file_alone(self):
        samples = path("run.jsonl")
        asked = [{"id": f"10{i}", "question": "What is it?", "image": self.picture} for i in range(2)]
        self.check(run("run", "--dataset", write_jsonl(path("asked.jsonl"), asked), "--shuffle-seed", "-1",
                       "--samples-file", samples, *self.flags))
        first = self.check(run("explain", "--samples-file", samples, "100"))
        self.assertIn("done\n  class      cold\n", first)
        second = self.check(run("explain", "--samples-file", samples, "101"))
        self.assertIn("done\n  class      exact (text:exact)\n", second)
        self.assertIn("[100] \"What is it?\" about explained.png", second)
        self.assertEqual(json.loads(self.check(run("explain", "--samples-file", samples, "101", "--json")))["hit"], True)
        unknown = run("explain", "--samples-file", samples, "201")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("the nearest are 101, 100.", unknown.stderr)


class Calibrate(unittest.TestCase):
    @needs_encoder
    def test_every_layer_gets_a_threshold_that_keeps_the_wanted_rate(self):
        done = run("calibrate", "--data-dir", WORLD, "--false-hit-rate", "2%", *LAYERS, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        layers = {layer["layer"]: layer for layer in json.loads(done.stdout)["layers"]}
        self.assertEqual(list(layers), ["embedding:prompt", "embedding:vision", "semantic_text", "local"])
        self.assertEqual((layers["embedding:prompt"]["must_agree"], layers["embedding:prompt"]["must_not"]), (292, 72))
        self.assertEqual((layers["embedding:vision"]["must_agree"], layers["embedding:vision"]["must_not"]), (228, 16))
        self.assertEqual(layers["local"]["must_not"], 16)
        for layer in layers.values():
            for point in (layer["alone"], layer["gated"]):
                if point is not None:
                    self.assertLessEqual(point["false_hits"]["share"], 0.02)
            self.assertEqual(len(layer["trade_off"]), len(layer["gated_trade_off"]))
        # What the gates refuse cannot be a false hit, so they can only loosen a threshold.
        for layer in (layers["embedding:prompt"], layers["embedding:vision"]):
            self.assertLess(layer["gated"]["threshold"], layer["alone"]["threshold"])

    def test_pictures_need_no_sentence_encoder(self):
        flags = ["--embedding-hook", "vision", "--embedding-layer", "vision:512", "--disable-semantic-cache"]
        done = run("calibrate", "--data-dir", WORLD, "--pairs", "twins,lookalikes", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("embedding:vision: 48 pairs must agree, 12 must not be confused", done.stdout)
        self.assertIn("with the image gate", done.stdout)

    def test_a_layer_without_pairs_that_must_not_be_confused_says_so(self):
        flags = ["--embedding-hook", "vision", "--embedding-layer", "vision:512", "--disable-semantic-cache"]
        done = run("calibrate", "--data-dir", WORLD, "--pairs", "twins", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("cannot be calibrated"), 2)

    def test_what_cannot_be_is_refused(self):
        for flags in (["--false-hit-rate", "1"], ["--false-hit-rate", "101%"],
                      ["--vision-source", "encoder", "--embedding-hook", "vision", "--embedding-layer", "vision:512"]):
            self.assertNotEqual(run("calibrate", "--data-dir", WORLD, "--disable-semantic-cache", *flags).returncode, 0)
        absent = run("calibrate", "--data-dir", WORLD, "--pairs", "none", "--disable-semantic-cache")
        self.assertEqual(absent.returncode, 1)
        self.assertIn("val_none_pairs.jsonl", absent.stderr)


if __name__ == "__main__":
    unittest.main()
