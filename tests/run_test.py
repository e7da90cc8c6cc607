"""`afterimage run` over JSONL: what one process keeps, the next one uses, and answers never change."""

import contextlib
import hashlib
import json
import os
import pty
import re
import subprocess
import threading
import time
import unittest

from program import FOLDER, PROGRAM, environment, model, run, write_jsonl, write_png, write_rates

WORLD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "world")
QUESTIONS = ["What is it?", "Is there a dog on the sofa?", "How many chairs are there?"]


def path(name):
    return os.path.join(FOLDER.name, name)


def contents(folder):
    """Every file and its bytes' digest. What opening a SQLite file leaves beside it (an empty log) is not state."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(parent, name)
            if name.endswith("-shm") or (name.endswith("-wal") and os.path.getsize(file) == 0):
                continue
            with open(file, "rb") as opened:
                found[file] = hashlib.sha256(opened.read()).hexdigest()
    return found


def chunk_files(folder, ending):
    return sorted(file for file in contents(folder) if file.endswith(ending))


@contextlib.contextmanager
def started(*args, **streams):
    """The program, running; killed where it takes more than a minute, so that a test fails and does not hang."""
    with subprocess.Popen([PROGRAM, *args], text=True, env=environment(), **streams) as program:
        watchdog = threading.Timer(60, program.kill)
        watchdog.start()
        try:
            yield program
        finally:
            watchdog.cancel()


class RunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rates = ["--planner-rates", write_rates("rates.json", 1e-7)]
        cls.vision_with_own_rates = model("tiny-internvl")
        cls.vision = cls.vision_with_own_rates + rates
        cls.text = model("tiny-text") + rates
        for number in range(3):
            write_png(f"picture-{number}.png", number)
        cls.dataset = write_jsonl(path("questions.jsonl"), [
            {"id": f"{picture}-{number}", "question": question, "image": f"picture-{picture}.png", "answer": "cat"}
            for number, question in enumerate(QUESTIONS) for picture in range(2)])

    def setUp(self):
        self.cache = path("cache-" + self.id().split(".")[-1])

    def run_json(self, dataset, *flags, vision=True, cache=None):
        """The summary, and the samples by id."""
        samples_file = path("samples.jsonl")
        done = run("run", *(self.vision if vision else self.text), "--dataset", dataset, "--cache-dir",
                   cache or self.cache, "--json", "--samples-file", samples_file, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(samples_file, encoding="utf-8") as file:
            samples = [json.loads(line) for line in file]
        return json.loads(done.stdout), {sample["dataset_id"]: sample for sample in samples}

    def one(self, name, question, *flags, **fields):
        """Summary and sample of a data set of one question about the first picture."""
        dataset = write_jsonl(path(name + ".jsonl"),
                              [{"id": name, "question": question, "image": "picture-0.png", **fields}])
        summary, samples = self.run_json(dataset, *flags)
        return summary, samples[name]

    def test_the_second_process_answers_everything_by_exact_hits(self):
        first, cold = self.run_json(self.dataset)
        second, warm = self.run_json(self.dataset)
        self.assertEqual(first["classes"]["cold"], 2)
        self.assertEqual(first["images"]["encoded"], 2)
        self.assertEqual(first["hits"], {"prefix:image": 4})
        self.assertEqual(second["classes"], {"exact": 6, "normalized": 0, "approximate": 0, "encoder": 0, "cold": 0})
        self.assertEqual(second["hits"], {"text:exact": 6})
        self.assertEqual(second["hit_rate"], 1.0)
        self.assertEqual(second["images"], {"asked": 6, "encoded": 0, "encode_skipped": 0})
        self.assertEqual(second["tokens"]["computed"], 0)
        self.assertEqual(second["tokens"]["reused"], second["tokens"]["prompt"])
        self.assertEqual(second["bytes"]["stored"], 0)
        self.assertEqual(cold.keys(), warm.keys())
        for name, sample in cold.items():
            self.assertTrue(sample["response_tokens"])
            self.assertEqual(warm[name]["response_tokens"], sample["response_tokens"])
            self.assertEqual(warm[name]["response"], sample["response"])
            self.assertEqual(warm[name]["donor"]["id"], name)
        self.assertGreater(len({sample["response"] for sample in cold.values()}), 1)  # or equality would say little

    def test_a_new_question_on_a_stored_picture_computes_only_its_own_tokens(self):
        self.run_json(self.dataset)
        _, short = self.one("short", "Why?")
        _, long = self.one("long", "Why is the cat on the table and not on the sofa?")
        for sample in (short, long):
            self.assertEqual(sample["class"], "exact")
            self.assertEqual(sample["hit_source"], "prefix:image")
            self.assertEqual(sample["images"], {"encoded": 0, "encode_skipped": 0})
            self.assertEqual(sample["tokens"]["computed"], sample["tokens"]["prompt"] - sample["tokens"]["reused"])
        # What is put back is what stands up to and with the picture, whatever is asked about it.
        self.assertEqual(short["tokens"]["reused"], long["tokens"]["reused"])
        self.assertGreater(short["tokens"]["reused"], 16)
        self.assertGreater(long["tokens"]["computed"], short["tokens"]["computed"])

    def test_encoder_output_alone_is_put_back_where_attention_state_is_not_wanted(self):
        self.run_json(self.dataset, "--layers", "fusion")
        summary, samples = self.run_json(self.dataset, "--layers", "fusion", "--baseline")
        self.assertEqual(summary["classes"]["encoder"], 6)
        self.assertEqual(summary["images"], {"asked": 6, "encoded": 0, "encode_skipped": 6})
        self.assertEqual(summary["hit_rate"], 0)
        self.assertEqual(summary["agreement"], 1.0)
        self.assertFalse(samples["0-0"]["hit"])
        self.assertEqual(samples["0-0"]["hit_source"], "fusion")
        off, _ = self.run_json(self.dataset, "--layers", "fusion", "--no-fusion-cache")
        self.assertEqual(off["images"]["encoded"], 6)

    def test_a_dry_run_looks_but_does_not_touch(self):
        dry, _ = self.run_json(self.dataset, "--cache-mode", "dry-run")
        self.assertFalse(os.path.exists(self.cache))
        self.assertEqual(dry["samples"], 6)
        _, live = self.run_json(self.dataset)
        before = contents(self.cache)
        self.assertTrue(before)
        dry, samples = self.run_json(self.dataset, "--cache-mode", "dry-run")
        self.assertEqual(contents(self.cache), before)
        self.assertEqual(dry["hit_rate"], 0)
        self.assertEqual(dry["tokens"]["reused"], 0)
        self.assertEqual(dry["images"]["encoded"], 6)
        self.assertEqual(dry["bytes"]["loaded"], 0)
        self.assertEqual(dry["statuses"]["exact_text"]["hit"], 6)
        for name, sample in samples.items():
            self.assertEqual(sample["response_tokens"], live[name]["response_tokens"])
            self.assertEqual(sample["plan"]["weighed"][0]["class"], "exact")

    def test_switched_off_nothing_is_kept_and_nothing_is_asked(self):
        summary, _ = self.run_json(self.dataset, "--cache-mode", "off")
        self.assertFalse(os.path.exists(self.cache))
        self.assertEqual(summary["classes"]["cold"], 6)
        for layer in ("exact_text", "prefix", "fusion", "kv_cache"):
            self.assertEqual(summary["statuses"][layer], {"hit": 0, "miss": 0, "skip": 6, "refused": 0})
        self.assertEqual(summary["images"]["encoded"], 6)

    def test_answers_are_those_without_the_cache(self):
        with open(self.dataset, encoding="utf-8") as file:
            twice = write_jsonl(path("twice.jsonl"), file.read().splitlines() * 2)
        summary, samples = self.run_json(twice, "--reuse", "exact", "--baseline")
        self.assertEqual(summary["samples"], 12)
        self.assertGreater(summary["hits"]["text:exact"], 0)
        self.assertGreater(summary["hits"]["prefix:image"], 0)
        self.assertEqual(summary["agreement"], 1.0)
        false_hits = summary["false_hits"]
        self.assertEqual((false_hits["count"], false_hits["per_request"], false_hits["per_hit"]), (0, 0.0, 0.0))
        self.assertEqual(false_hits["per_request_interval"][0], 0.0)
        self.assertGreater(false_hits["per_request_interval"][1], 0.2)  # none of 12 is not none ever
        self.assertEqual(summary["baseline"]["accuracy"], summary["accuracy"])
        self.assertEqual(summary["speedup"]["samples"], 12)
        self.assertGreater(summary["baseline"]["ttft_ms"]["p50"], 0)
        self.assertIn("exact", summary["speedup"]["by_class"])
        for sample in samples.values():
            self.assertEqual(sample["response"], sample["baseline_response"])
            self.assertEqual(sample["baseline_tokens_computed"], sample["tokens"]["prompt"])

    def test_case_and_white_space_are_normalized_only_where_that_is_allowed(self):
        self.one("first", "What is it?")
        summary, sample = self.one("shouted", "WHAT  is it?", "--reuse", "exact")
        self.assertEqual(summary["statuses"]["exact_text"]["refused"], 1)
        self.assertEqual(sample["hit_source"], "prefix:image")
        self.assertIsNotNone(sample["candidates"][0]["refused"])
        self.assertFalse(sample["gates"][0]["admitted"])
        _, sample = self.one("again", "What IS it?", "--reuse", "normalized")
        self.assertEqual(sample["class"], "normalized")
        self.assertEqual(sample["hit_source"], "text:exact")
        self.assertEqual(sample["substitution"], "question")
        self.assertIn(sample["donor"]["question"], ("What is it?", "WHAT  is it?"))
        self.assertEqual(sample["tokens"]["computed"], 0)

    def test_another_question_under_the_same_key_is_approximate(self):
        group = {"groups": {"local": "06-sofa"}, "equivalent": ["b"]}
        flags = ["--chunk-source", "group", "--text-guard", "off"]
        self.one("a", "Is the sofa red?", *flags, **group)
        _, sample = self.one("b", "Is it a blue sofa?", *flags, "--reuse", "normalized", **group)
        self.assertEqual(sample["chunk_text"], "06-sofa")
        self.assertEqual(sample["statuses"]["exact_text"], "refused")
        summary, sample = self.one("c", "Is the sofa green?", *flags, **group)
        self.assertEqual(sample["class"], "approximate")
        self.assertIn(sample["donor"]["id"], ("a", "b"))
        self.assertEqual(summary["wrong_donors"]["count"], 1 if sample["donor"]["id"] == "a" else 0)
        self.assertEqual(sample["label"], sample["donor"]["id"] == "b")

    def test_pairs_beside_the_questions_are_labels(self):
        folder = path("labelled")
        os.makedirs(os.path.join(folder, "questions"))
        write_jsonl(os.path.join(folder, "sofas.jsonl"), [
            {"id": name, "question": f"Is the sofa {name}?", "image": path("picture-0.png"), "groups": {"local": "sofa"}}
            for name in ("red", "crimson", "green", "blue")])
        pairs = os.path.join(folder, "questions", "val_sofas_pairs.jsonl")
        write_jsonl(pairs, [{"a": "red", "b": "crimson", "kind": "synonym", "must_agree": True},
                            {"a": "red", "b": "green", "kind": "color", "must_agree": False}])
        flags = ["--data-dir", folder, "--dataset-config", "sofas", "--shuffle-seed", "-1", "--chunk-source", "group",
                 "--text-guard", "off"]
        summary, samples = self.run_json("gqa", *flags)
        self.assertNotIn("label", samples["red"])
        self.assertIs(samples["crimson"]["label"], True)
        self.assertIs(samples["green"]["label"], False)
        self.assertIsNone(samples["blue"]["label"])
        self.assertEqual(summary["wrong_donors"]["count"], 1)
        self.assertEqual(summary["wrong_donors"]["substitutions"], 2)
        self.assertEqual((summary["precision"], summary["recall"]), (0.5, 1.0))

        write_jsonl(pairs, [{"a": "red", "b": "crimson", "must_agree": must_agree} for must_agree in (True, False)])
        done = run("run", *self.vision, "--dataset", "gqa", *flags, "--cache-dir", self.cache)
        self.assertEqual(done.returncode, 1)
        self.assertIn("val_sofas_pairs.jsonl:2: ", done.stderr)

    def test_a_prompt_template_is_what_the_model_reads(self):
        _, plain = self.one("plain", "What is it?", "--cache-mode", "off")
        _, filled = self.one("filled", "What is it?", "--cache-mode", "off", "--prompt-template",
                             "Picture {image_id}: {question}{nothing}")
        self.assertEqual(plain["prompt"], "What is it?")
        self.assertEqual(filled["prompt"], "Picture picture-0.png: What is it?")
        self.assertGreater(filled["tokens"]["prompt"], plain["tokens"]["prompt"])

    def test_broken_samples_are_counted_and_the_rest_is_answered(self):
        with open(path("broken.png"), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n nothing more")
        dataset = write_jsonl(path("broken.jsonl"), [
            {"question": "What is it?", "image": "picture-0.png"}, "{\"question\": ", {"answer": "no question"},
            {"question": "What?", "image": "no-such.png"}, {"question": "What?", "image": "broken.png"},
            {"question": "word " * 2000}, {"question": "Why?", "image": "picture-1.png"}])
        done = run("run", *self.vision, "--dataset", dataset, "--cache-dir", self.cache, "--json", "--shuffle-seed",
                   "-1")
        self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual((summary["samples"], summary["errors"]), (3, 4))
        lines = [line for line in done.stderr.splitlines() if "warning" not in line]
        self.assertEqual(done.stderr.count("no-such.png"), 1, "one warning")
        self.assertRegex(lines[0], r"^\[1\] miss ")
        self.assertRegex(lines[1], r"^\[\?\] error \| .*broken\.jsonl:2: not valid JSON")
        self.assertRegex(lines[2], r"^\[\?\] error \| .*broken\.jsonl:3: there is no \"question\"")
        self.assertRegex(lines[3], r"^\[4\] miss ", "asked without its picture")
        self.assertRegex(lines[4], r"^\[5\] error \| .*broken\.png")
        self.assertRegex(lines[5], r"^\[6\] error \| .*--context")
        self.assertRegex(lines[6], r"^\[7\] miss ")
        self.assertIn("4 of 7 samples failed; the first: ", lines[7])
        only_broken = write_jsonl(path("only-broken.jsonl"), ["nonsense"])
        done = run("run", *self.vision, "--dataset", only_broken, "--cache-dir", self.cache)
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of 1 samples failed", done.stderr)

    def test_a_model_without_vision_is_asked_without_pictures(self):
        done = run("run", *self.text, "--dataset", self.dataset, "--cache-dir", self.cache, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["samples"], 6)
        self.assertEqual(done.stderr.count("takes no pictures"), 1)

    def test_pictures_are_found_under_the_roots(self):
        os.makedirs(path("elsewhere"), exist_ok=True)
        dataset = write_jsonl(path("elsewhere/questions.jsonl"), [
            {"id": "1", "question": "What is it?", "image": "picture-0.png"},
            {"id": "2", "question": "What is it?", "image_id": "picture-1"}])
        for variable in ("SEMANTIC_CACHE_IMAGE_ROOT", "GQA_IMAGE_ROOT", "LLAVA_IMAGE_ROOT"):
            done = run("run", *self.vision, "--dataset", dataset, "--cache-mode", "off", "--json",
                       env={variable: FOLDER.name})
            self.assertEqual(json.loads(done.stdout)["images"]["encoded"], 2, done.stderr)
        done = run("run", *self.vision, "--dataset", dataset, "--cache-mode", "off")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("GQA_IMAGE_ROOT"), 1, "one warning, and text goes on")

    def test_samples_are_drawn_by_seed_and_limited(self):
        def order(*flags):
            done = run("run", *self.vision, "--dataset", self.dataset, "--cache-mode", "off", *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            return re.findall(r"^\[(.*?)\]", done.stdout, re.MULTILINE)

        in_order = [f"{picture}-{number}" for number in range(3) for picture in range(2)]
        self.assertEqual(order("--shuffle-seed", "-1"), in_order)
        self.assertEqual(order("--shuffle-seed", "-1", "--max-samples", "2"), in_order[:2])
        drawn = order()
        self.assertNotEqual(drawn, in_order)
        self.assertEqual(sorted(drawn), sorted(in_order))
        self.assertEqual(order("--max-samples", "4"), drawn[:4])
        self.assertNotEqual(order("--shuffle-seed", "8"), drawn)

    def test_a_person_reads_log_lines_and_a_table(self):
        done = run("run", *self.vision, "--dataset", self.dataset, "--cache-dir", self.cache, "--baseline")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        for line in lines[:6]:
            self.assertRegex(line, r"^\[\d-\d\] (hit \([a-z]+:[a-z]+\)|miss) \| latency=\d+\.\d{3}s \| answer "
                                   r"match=(True|False) \| exact_text=\w+, semantic_text=\w+, prefix=\w+, fusion=\w+, kv_cache=\w+$")
        table = "\n".join(lines[6:])
        for words in ("requests    6 answered", "hits        4 of 6", "prefix:image 4", "6 of 6 identical", "accuracy",
                      "planner", "stored      KV ", "time to first token", "\ncold ", "\nexact ", "without the cache"):
            self.assertIn(words, table)

    def test_a_folder_in_use_is_answered_clearly(self):
        pipe = path("pipe.jsonl")
        os.mkfifo(pipe)
        with started("run", *self.vision, "--dataset", pipe, "--cache-dir", self.cache, "--shuffle-seed", "-1",
                     stdout=subprocess.PIPE) as holder:
            with open(pipe, "w", encoding="utf-8") as questions:
                questions.write(json.dumps({"question": "What is it?", "image": "picture-0.png"}) + "\n")
                questions.flush()
                self.assertIn("[1] miss", holder.stdout.readline())
                second = run("run", *self.vision, "--dataset", self.dataset, "--cache-dir", self.cache)
                self.assertEqual(second.returncode, 1)
                self.assertIn(self.cache, second.stderr)
                self.assertIn(f"locked by process {holder.pid}", second.stderr)
                beside, _ = self.run_json(self.dataset, "--cache-mode", "dry-run")
                self.assertEqual(beside["samples"], 6)
                questions.write(json.dumps({"question": "Why?", "image": "picture-0.png"}) + "\n")
            out = holder.stdout.read()
            self.assertEqual(holder.wait(timeout=60), 0)
        self.assertIn("[2] hit (prefix:image)", out)

    def test_damage_changes_no_answer_and_is_counted(self):
        _, cold = self.run_json(self.dataset)
        damaged = chunk_files(self.cache, ".kv")[0]
        with open(damaged, "r+b") as file:
            file.seek(os.path.getsize(damaged) // 2)
            byte = file.read(1)[0]
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
        summary, warm = self.run_json(self.dataset)
        self.assertEqual(summary["cache"]["quarantined"], 1)
        self.assertGreater(summary["tokens"]["computed"], 0)
        for name, sample in cold.items():
            self.assertEqual(warm[name]["response_tokens"], sample["response_tokens"])
        healed, again = self.run_json(self.dataset)
        self.assertEqual(healed["cache"]["quarantined"], 0)
        self.assertEqual(healed["tokens"]["computed"], 0)
        self.assertEqual(again["0-0"]["response_tokens"], cold["0-0"]["response_tokens"])

    def test_where_loading_is_slower_than_computing_the_planner_computes_and_says_so(self):
        flags = ["run", *self.vision_with_own_rates, "--dataset", self.dataset, "--cache-dir", self.cache, "--json"]
        for _ in range(2):
            done = run(*flags, "--planner-rates", write_rates("slow.json", 1.0))
            self.assertEqual(done.returncode, 0, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual(summary["classes"]["cold"], 6)
        self.assertEqual(summary["statuses"]["exact_text"]["refused"], 6)
        self.assertEqual(summary["statuses"]["prefix"]["refused"], 6)
        self.assertEqual(summary["planner"]["predictions"], 6)

    def test_without_frozen_rates_the_planner_learns(self):
        flags = ["run", *self.vision_with_own_rates, "--dataset", self.dataset, "--cache-dir", self.cache, "--json"]
        first = json.loads(run(*flags).stdout)["planner"]
        second = json.loads(run(*flags).stdout)["planner"]
        self.assertLess(first["predictions"], 6)  # of the first request nothing was measured yet
        self.assertGreater(second["predictions"], 0)
        self.assertGreater(second["median_relative_error"], 0)

    def test_tenants_do_not_see_each_other(self):
        self.run_json(self.dataset, "--tenant", "one")
        other, _ = self.run_json(self.dataset, "--tenant", "two")
        self.assertEqual(other["classes"]["cold"], 2)
        same, _ = self.run_json(self.dataset, "--tenant", "one")
        self.assertEqual(same["hits"], {"text:exact": 6})

    def test_the_configuration_is_printed_and_nothing_is_done(self):
        done = run("run", "--model", "m.gguf", "--dataset", "d.jsonl", "--cache-dir", self.cache, "--max-bytes", "2GB",
                   "--no-fusion-cache", "--layers", "exact,prefix", "--print-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        config = json.loads(done.stdout)
        self.assertEqual(config["max_bytes"], 2_000_000_000)
        self.assertEqual(config["fusion_cache"], False)
        self.assertEqual(config["layers"], ["exact", "prefix"])
        self.assertEqual((config["max_samples"], config["shuffle_seed"], config["chunk_source"], config["reuse"]),
                         (128, 7, "semantic", "approximate"))
        self.assertFalse(os.path.exists(self.cache))

    def test_failures_have_a_message_and_an_exit_code(self):
        foreign = path("foreign")
        os.makedirs(foreign, exist_ok=True)
        with open(os.path.join(foreign, "letter.txt"), "w", encoding="utf-8") as file:
            file.write("not a cache")
        empty = write_jsonl(path("empty.jsonl"), ["", ""])
        flags = ["run", *self.vision, "--cache-dir", self.cache, "--dataset"]
        cases = [
            (["run", "--preset", "no-such-preset"], 2, "tiny-internvl or tiny-qwen3vl"),
            (["run", *self.vision, "--dataset-config", "no-such-stream"], 1, "val_traffic"),
            (["run", *self.vision, "--data-dir", "/no/such/folder"], 1, "/no/such/folder"),
            ([*flags, self.dataset, "--shuffle-seed", "x"], 2, "--shuffle-seed"),
            ([*flags, "no-such.jsonl"], 1, "no-such.jsonl"),
            ([*flags, "gqa"], 2, "--data-dir"),
            ([*flags, "coco"], 2, "video_frames"),
            ([*flags, empty], 1, "no samples"),
            ([*flags, self.dataset, "--max-samples", "0"], 2, "--max-samples"),
            ([*flags, self.dataset, "--max-samples", "many"], 2, "whole number"),
            ([*flags, self.dataset, "--chunk-source", "colour"], 2, "combined"),
            ([*flags, self.dataset, "--embedding-layer", "prompt:384"], 2, "--embedding-hook"),
            ([*flags, self.dataset, "--min-gain", "5s"], 2, "10%"),
            ([*flags, self.dataset, "--max-bytes", "lots"], 2, "GiB"),
            ([*flags, self.dataset, "--samples-file", "/no/such/folder/s.jsonl"], 1, "/no/such/folder"),
            (["run", *self.vision_with_own_rates, "--dataset", self.dataset, "--cache-dir", self.cache,
              "--planner-rates", "/no/such/rates"], 1, "/no/such/rates"),
            (["run", *self.vision, "--dataset", self.dataset, "--cache-dir", foreign], 2, foreign),
        ]
        for args, code, message in cases:
            with self.subTest(args=args[-3:]):
                done = run(*args)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)

    def test_the_synthetic_pairs_say_which_layer_should_find_the_second(self):
        summary, samples = self.run_json("synthetic")
        self.assertEqual(list(samples), ["exact-1", "exact-2", "semantic-1", "semantic-2", "embedding-1", "embedding-2"])
        self.assertEqual(samples["exact-2"]["hit_source"], "text:exact")
        expected = {name: sample["expected_hit"] for name, sample in samples.items() if "expected_hit" in sample}
        self.assertEqual(expected, {f"{kind}-2": kind for kind in ("exact", "semantic", "embedding")})
        self.assertEqual(summary["expected_hits"]["total"], 3)
        self.assertGreaterEqual(summary["expected_hits"]["met"], 1)
        for kind in ("exact", "semantic", "embedding"):
            self.assertFalse(samples[f"{kind}-1"]["hit"], "nothing was stored for the first of a pair")

    def test_the_world_is_a_gqa_data_set_too(self):
        flags = ["--dataset-config", "balanced", "--max-samples", "4", "--cache-mode", "off"]
        world, of_world = self.run_json("world", *flags)
        gqa, of_gqa = self.run_json("gqa", "--data-dir", WORLD, *flags, "--metrics")
        self.assertEqual(list(of_gqa), list(of_world))
        self.assertEqual([sample["question"] for sample in of_gqa.values()],
                         [sample["question"] for sample in of_world.values()])
        self.assertEqual(gqa["accuracy"], world["accuracy"])
        self.assertEqual(gqa["metrics"]["accuracy"]["scored"], gqa["scored"])
        self.assertNotIn("metrics", world)

    def test_a_long_run_shows_its_progress_on_a_terminal(self):
        try:
            terminal, child = pty.openpty()
        except OSError as error:
            self.skipTest(f"this machine has no terminals: {error}")
        pipe = path("slow.jsonl")
        os.mkfifo(pipe)
        with started("run", *self.vision, "--dataset", pipe, "--cache-mode", "off", "--shuffle-seed", "-1",
                     stdout=subprocess.PIPE, stderr=child) as program:
            os.close(child)
            with open(pipe, "w", encoding="utf-8") as questions:
                for delay in (0, 1.2):
                    time.sleep(delay)
                    questions.write(json.dumps({"question": "What is it?", "image": "picture-0.png"}) + "\n")
                    questions.flush()
            out, _ = program.communicate()
        shown = os.read(terminal, 10000).decode()
        os.close(terminal)
        self.assertIn("2 done", shown)
        self.assertNotIn("1 done", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))
        self.assertNotIn("\x1b", out)


if __name__ == "__main__":
    unittest.main()
