"""Every layer, hook and preset through the program, on the shipped models and the shipped world."""

import json
import os
import shutil
import subprocess
import unittest

from program import FOLDER, PROGRAM, environment, model, run, write_jsonl, write_png, write_rates

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENCODER = os.path.join(ROOT, "models", "all-minilm-l6-v2", "encoder.gguf")
HOOKS = os.path.join(ROOT, "examples", "hooks")
BOTH = ["--embedding-hook", "prompt_vision", "--embedding-layer", "prompt:384:0.8", "--embedding-layer",
        "vision:512:0.9"]
needs_encoder = unittest.skipUnless(os.path.exists(ENCODER), "the sentence encoder was not fetched")


def path(name):
    return os.path.join(FOLDER.name, name)


class Layers(unittest.TestCase):
    def setUp(self):
        self.cache = path(self.id())
        self.rates = ["--planner-rates", write_rates("rates.json", 1e-7)]

    def run_json(self, *flags, env=None):
        samples = path("samples.jsonl")
        done = run("run", *flags, "--cache-dir", self.cache, *self.rates, "--json", "--samples-file", samples, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(samples, encoding="utf-8") as file:
            return json.loads(done.stdout), [json.loads(line) for line in file]

    @needs_encoder
    def test_each_synthetic_record_is_found_by_the_layer_it_is_for(self):
        summary, samples = self.run_json("--dataset", "synthetic", *BOTH)
        self.assertEqual(summary["expected_hits"], {"total": 3, "met": 3})
        self.assertEqual([sample["hit"] for sample in samples], [False, True] * 3)
        self.assertEqual(samples[5]["substitution"], "picture")
        self.assertEqual(samples[5]["images"], {"encoded": 0, "encode_skipped": 0})

    @needs_encoder
    def test_a_restart_keeps_the_hits_of_every_layer(self):
        def ask(name, question, picture):
            return {"id": name, "question": question, "image": f"{ROOT}/data/world/images/{picture}"}

        first = write_jsonl(path("first.jsonl"), [ask("1", "What color is the house?", "2000005.png"),
                                                  ask("2", "What is left of the kite?", "2200000.png")])
        second = write_jsonl(path("second.jsonl"), [
            ask("exact", "What color is the house?", "2000005.png"),
            ask("text", "What is the color of the house?", "2000005.png"),
            ask("picture", "How many objects are there?", "2200001.jpg"),
            ask("prefix", "How many objects are there?", "2000005.png")])
        flags = [*BOTH, "--shuffle-seed", "-1"]
        self.run_json("--dataset", first, *flags)
        summary, samples = self.run_json("--dataset", second, *flags)
        self.assertEqual([sample["hit_source"] for sample in samples],
                         ["text:exact", "embedding:prompt", "embedding:vision", "prefix:image"])
        self.assertEqual(samples[1]["statuses"]["semantic_text"], "hit")
        self.assertEqual(summary["images"]["encoded"], 0)
        self.assertGreater(summary["bytes"]["by_kind"]["vectors"], 0)

    def test_the_picture_decides_though_the_question_is_the_same(self):
        same = [{"question": "What is it?", "image": write_png(f"{i}.png", i)} for i in range(3)]
        summary, _ = self.run_json("--dataset", write_jsonl(path("same.jsonl"), same), "--baseline", *model("tiny-internvl"))
        self.assertEqual(summary["false_hits"]["count"], 0)
        self.assertEqual(summary["statuses"]["exact_text"]["refused"], 2)

    def test_fusion_alone_runs_the_encoder_once_a_picture(self):
        flags = ["--layers", "fusion", "--max-samples", "24", "--dataset-config", "traffic", "--baseline"]
        first, _ = self.run_json(*flags)
        self.assertEqual(first["hit_rate"], 0)
        self.assertGreater(first["classes"]["encoder"], 0)
        again, _ = self.run_json(*flags)
        self.assertEqual(again["classes"]["encoder"], 24)
        self.assertEqual(again["images"], {"asked": 24, "encoded": 0, "encode_skipped": 24})
        self.assertEqual(again["agreement"], 1.0)

    @needs_encoder
    def test_the_command_lines_of_the_original(self):
        minimal, _ = self.run_json("--model", "tiny-internvl", "--max-samples", "16", "--chunk-source", "semantic")
        self.assertEqual(minimal["samples"], 16)
        stacked, samples = self.run_json("--preset", "tiny-qwen3vl", "--max-samples", "16", "--chunk-source", "group",
                                         "--embedding-layer", "prompt:384:0.8", "--embedding-layer", "vision:512:0.82",
                                         "--embedding-hook", "prompt_vision", "--trust-remote-code")
        self.assertEqual(list(samples[0]["statuses"]), ["exact_text", "embedding:prompt", "embedding:vision",
                                                        "semantic_text", "prefix", "fusion", "kv_cache"])
        self.assertEqual(stacked["errors"], 0)
        dry, samples = self.run_json("--preset", "tiny-internvl", "--dataset", "gqa", "--data-dir",
                                     f"{ROOT}/data/world", "--dataset-config", "balanced", "--max-samples", "16",
                                     "--cache-mode", "dry-run")
        self.assertEqual(dry["hit_rate"], 0)
        self.assertEqual({sample["statuses"]["kv_cache"] for sample in samples}, {"skip"})

    def test_a_preset_finds_similar_frames_by_itself(self):
        summary, samples = self.run_json("--dataset-config", "clips", "--max-samples", "16")
        self.assertIn("embedding:vision", [sample["hit_source"] for sample in samples])
        self.assertEqual(summary["wrong_donors"]["count"], 0)
        self.assertGreater(summary["bytes"]["by_kind"]["vectors"], 0)

    def test_a_preset_makes_no_vectors_where_only_exact_reuse_is_allowed(self):
        summary, samples = self.run_json("--dataset-config", "clips", "--max-samples", "4", "--reuse", "exact")
        self.assertEqual({sample["statuses"]["embedding:vision"] for sample in samples}, {"skip"})
        self.assertEqual(summary["bytes"]["by_kind"].get("vectors", 0), 0)

    def test_a_hook_out_of_a_shared_object(self):
        summary, samples = self.run_json(
            "--dataset", "synthetic", "--disable-semantic-cache", "--embedding-hook",
            f"{os.environ['HISTOGRAM_HOOK']}:histogram_hook", "--embedding-layer", "vision:64:0.99")
        self.assertEqual(samples[5]["hit_source"], "embedding:vision")
        self.assertEqual(summary["errors"], 0)

    def test_a_hook_in_python(self):
        summary, samples = self.run_json(
            "--dataset", "synthetic", "--disable-semantic-cache", "--embedding-hook", "python_hook:LetterGroups",
            "--embedding-layer", "prompt:256:0.5", env={"PYTHONPATH": HOOKS})
        self.assertEqual(samples[3]["hit_source"], "embedding:prompt")
        self.assertEqual(summary["errors"], 0)

    def test_a_hook_that_cannot_start_says_why(self):
        for hook, words in [("no_such_module:Factory", "No module named"), ("./libno.so:make", "libno.so"),
                            ("nonsense", "prompt_vision")]:
            done = run("run", "--dataset", "synthetic", "--cache-dir", self.cache, "--embedding-hook", hook,
                       "--embedding-layer", "prompt:8")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

    def test_without_the_sentence_encoder_everything_else_works(self):
        alone = path("alone")
        os.makedirs(alone)
        program = shutil.copy(PROGRAM, alone)
        dataset = write_jsonl(path("one.jsonl"), [{"question": "What is it?", "image": write_png("one.png", 1)}] * 2)
        command = [program, "run", *model("tiny-internvl"), "--dataset", dataset, "--cache-dir", self.cache]
        env = environment({"HOME": alone})
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=alone, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("scripts/fetch-model encoder", done.stderr)
        self.assertIn("hit (text:exact)", done.stdout)
        self.assertIn("semantic_text=skip", done.stdout)
        done = subprocess.run([*command, *BOTH], capture_output=True, text=True, timeout=300, cwd=alone, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("scripts/fetch-model encoder"), 1)
        self.assertIn("embedding:vision=", done.stdout)
        self.assertNotIn("embedding:prompt=", done.stdout)
        done = subprocess.run([*command, *BOTH, "--reuse", "exact"], capture_output=True, text=True, timeout=300,
                              cwd=alone, env=env)
        self.assertEqual((done.returncode, done.stderr.count("fetch-model")), (0, 0), "it is not looked for")
        done = subprocess.run([*command, "--index-encoder", "no-such"], capture_output=True, text=True, timeout=300,
                              cwd=alone, env=env)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such", done.stderr)

    def test_presets_fill_in_what_was_not_given(self):
        def config(*flags):
            done = run("run", *flags, "--print-config")
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)

        preset = config("--preset", "internvl3.5-2b")
        self.assertEqual(preset["model"], "OpenGVLab/InternVL3_5-2B-Instruct")
        self.assertEqual(preset["embedding_layers"], ["prompt:384:0.8", "vision:512:0.82"])
        self.assertEqual((preset["embedding_hook"], preset["trust_remote_code"]), ("prompt_vision", True))
        given = config("--preset", "internvl3.5-2b", "--embedding-layer", "vision:64", "--embedding-hook", "vision")
        self.assertEqual((given["embedding_layers"], given["embedding_hook"]), (["vision:64"], "vision"))
        self.assertEqual(config()["preset"], "tiny-internvl")
        for name in ("tiny-internvl", "tiny-qwen3vl"):
            preset = config("--preset", name)
            self.assertEqual(preset["embedding_layers"], ["prompt:384:0.8", "vision:512:0.98"])
            self.assertEqual(preset["embedding_hook"], "prompt_vision")
        self.assertEqual(config("--model", "x.gguf")["preset"], "")
        for name in ("tiny-internvl", "tiny-qwen3vl", "smollm2-135m", "qwen3-vl-2b"):
            self.assertEqual(config("--preset", name)["preset"], name)

    def test_the_page_of_options_is_what_the_program_has(self):
        done = run("run", "--print-options")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(os.path.join(ROOT, "docs", "options.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page[page.index("\n## "):], done.stdout, "run --print-options prints the page from its first list on")

    def test_a_model_that_is_not_there_is_answered_with_where_it_was_looked_for(self):
        for flags, words in [(["--preset", "qwen3-vl-2b"], ["Qwen/Qwen3-VL-2B-Instruct", "AFTERIMAGE_MODELS"]),
                             (["--model", "facebook/opt-125m"], ["OPT", "vLLM", "smollm2-135m"]),
                             (["--preset", "tiny"], ["tiny-internvl", "smollm2-135m"])]:
            done = run("run", *flags, "--cache-mode", "off")
            self.assertNotEqual(done.returncode, 0)
            for word in words:
                self.assertIn(word, done.stderr)

    def test_a_model_is_found_by_folder_and_by_hub_name(self):
        models = path("models")
        os.makedirs(os.path.join(models, "Somebody", "Tiny-VL"), exist_ok=True)
        for name in ("model.gguf", "mmproj.gguf"):
            link = os.path.join(models, "Somebody", "Tiny-VL", name)
            if not os.path.exists(link):
                os.symlink(os.path.join(ROOT, "models", "tiny-internvl", name), link)
        flags = ["--max-samples", "2", "--cache-mode", "off", "--json", "--threads", "1"]
        for name in ("Somebody/Tiny-VL", os.path.join(models, "Somebody", "Tiny-VL")):
            done = run("run", "--model", name, *flags, env={"AFTERIMAGE_MODELS": f"/nowhere:{models}"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["images"]["encoded"], 2)


if __name__ == "__main__":
    unittest.main()
