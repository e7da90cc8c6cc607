"""`afterimage sweep` and `ablate`: a specification becomes rows, whatever happens on the way."""

import csv
import json
import os
import re
import signal
import subprocess
import time
import unittest

from program import FOLDER, PROGRAM, environment, run, write_rates

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Columns that measure time, and what follows from it.
TIME = re.compile(r"_ms\b|^speedup\.|^planner\.median_relative_error$")


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def without_times(path):
    return [{key: value for key, value in row.items() if not TIME.search(key)} for row in rows(path)]


class Sweep(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(FOLDER.name, self.id().split(".")[-1])
        os.makedirs(self.folder)
        self.rates = write_rates("rates.json", 1e-7)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write_spec(self, experiments, defaults=None):
        base = {"preset": "tiny-internvl", "max_samples": 6, "cache_dir": self.path("caches"),
                "planner_rates": self.rates}
        with open(self.path("specs.json"), "w", encoding="utf-8") as file:
            json.dump({"defaults": {**base, **(defaults or {})}, "experiments": experiments}, file)
        return self.path("specs.json")

    def arguments(self, specs, *flags, log="log.csv", samples="samples"):
        return ["sweep", "--specs", specs, "--log-file", self.path(log), "--samples-dir", self.path(samples), *flags]

    def sweep(self, *args, expected=0, **names):
        done = run(*self.arguments(*args, **names))
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done

    def test_a_specification_of_the_original_runs_with_other_models(self):
        specs = self.path("specs.json")
        with open(specs, "w", encoding="utf-8") as file:
            json.dump({
                "defaults": {"dataset_config": "val_balanced_instructions", "split": "val", "max_samples": 4, "chunk_source": "semantic",
                             "cache_dir": self.path("caches")},
                "experiments": [
                    {"name": "opt125m-semantic", "model": "tiny-internvl", "similarity_threshold": 0.8},
                    {"name": "qwen-prompts", "model": "tiny-qwen3vl", "embedding_hook": "prompt_vision",
                     "embedding_layers": ["prompt:384:0.8", "vision:512:0.85"], "max_samples": 2},
                    {"name": "internvl35-2b", "preset": "tiny-internvl", "max_samples": 3,
                     "notes": "InternVL3.5-2B with prompt-semantic cache."}]}, file)
        self.sweep(specs)
        found = rows(self.path("log.csv"))
        self.assertEqual([row["name"] for row in found], ["opt125m-semantic", "qwen-prompts", "internvl35-2b"])
        self.assertEqual([row["samples"] for row in found], ["4", "2", "3"])
        self.assertEqual(found[0]["similarity_threshold"], "0.8")
        self.assertEqual(json.loads(found[1]["embedding_layers"]), ["prompt:384:0.8", "vision:512:0.85"])
        self.assertEqual(found[2]["notes"], "InternVL3.5-2B with prompt-semantic cache.")
        for row in found:
            with open(row["samples_file"], encoding="utf-8") as file:
                self.assertEqual(len(file.readlines()), int(row["samples"]))
            for column in ["accuracy", "hit_rate", "ttft_ms.p50", "latency_ms.p95", "bytes.stored", "tokens.reused",
                           "machine", "commit", "seed", "wrong_donors.per_request_interval"]:
                self.assertNotEqual(row[column], "", column)

    def test_a_grid_is_swept_and_json_lines_hold_the_same_rows(self):
        specs = self.write_spec([{"name": "grid", "baseline": True,
                                  "grid": {"dataset_config": ["traffic", "twins"], "reuse": ["exact", "approximate"]}}])
        self.sweep(specs)
        self.sweep(specs, log="log.jsonl", samples="samples2")
        names = [f"grid-dataset_config={config}-reuse={reuse}"
                 for config in ["traffic", "twins"] for reuse in ["exact", "approximate"]]
        found = rows(self.path("log.csv"))
        self.assertEqual([row["name"] for row in found], names)
        self.assertEqual([row["reuse"] for row in found], ["exact", "approximate"] * 2)
        self.assertTrue(all(row["baseline.accuracy"] and row["speedup.ttft_p50"] for row in found))
        with open(self.path("log.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["name"] for line in lines], names)
        for line, row in zip(lines, found):
            for key in ["accuracy", "agreement", "hit_rate", "tokens.reused"]:
                self.assertEqual(float(row[key]), line[key], key)

    def test_an_unknown_key_is_an_error_that_names_the_nearest_and_nothing_is_run(self):
        specs = self.write_spec([{"name": "good"}, {"name": "bad", "similarity_treshold": 0.5}])
        done = self.sweep(specs, expected=2)
        self.assertIn("Experiment 'bad': There is no option 'similarity_treshold'. Did you mean 'similarity_threshold'?",
                      done.stderr)
        self.assertFalse(os.path.exists(self.path("log.csv")))

    def test_a_failed_experiment_is_logged_and_the_next_is_run_and_resume_tries_it_again(self):
        specs = self.write_spec([{"name": "missing", "model": self.path("model.gguf")}, {"name": "there"}])
        self.sweep(specs, expected=1)
        found = rows(self.path("log.csv"))
        self.assertEqual([row["name"] for row in found], ["missing", "there"])
        self.assertIn("model.gguf", found[0]["error"])
        self.assertEqual(found[0]["accuracy"], "")
        self.assertEqual((found[1]["error"], found[1]["samples"]), ("", "6"))
        done = self.sweep(specs, "--resume", expected=1)
        self.assertIn("there: done before", done.stdout)
        self.assertEqual([row["name"] for row in rows(self.path("log.csv"))], ["missing", "there", "missing"])

    def test_experiments_that_are_in_the_log_are_not_run_over(self):
        specs = self.write_spec([{"name": "once"}])
        self.sweep(specs)
        done = self.sweep(specs, expected=2)
        self.assertIn("--resume", done.stderr)
        self.assertEqual(len(rows(self.path("log.csv"))), 1)

    def test_every_experiment_begins_with_an_empty_cache_unless_it_names_one(self):
        same = {"dataset_config": "traffic"}
        specs = self.write_spec([{"name": "a", **same}, {"name": "b", **same},
                                 {"name": "c", "cache_dir": self.path("caches", "b"), **same}])
        self.sweep(specs)
        hits = [row["hit_rate"] for row in rows(self.path("log.csv"))]
        self.assertEqual(hits[0], hits[1])
        self.assertEqual(float(hits[2]), 1.0)

    def test_purging_leaves_no_cache_behind_and_no_fusion_folder(self):
        fusion = self.path("fusion")
        named = self.path("named")
        specs = self.write_spec([{"name": "a"}, {"name": "b", "cache_dir": named, "fusion_cache_dir": ""},
                                 {"name": "c", "cache_dir": named, "fusion_cache_dir": ""}],
                                {"fusion_cache_dir": fusion, "dataset_config": "traffic"})
        self.sweep(specs, "--purge-cache-between-runs")
        found = rows(self.path("log.csv"))
        self.assertEqual(found[1]["hit_rate"], found[2]["hit_rate"])
        self.assertFalse(os.path.exists(self.path("caches", "a")))
        self.assertFalse(os.path.exists(os.path.join(fusion, "a")))
        self.assertEqual([name for _, _, names in os.walk(named) for name in names], ["lock"])

    def test_a_sweep_that_was_killed_goes_on_to_the_same_rows(self):
        names = ["one", "two", "three"]
        specs = self.write_spec(
            [{"name": name, "baseline": True, "seed": number} for number, name in enumerate(names)],
            {"dataset_config": "mixed", "max_samples": 24, "embedding_hook": "prompt_vision",
             "embedding_layers": ["prompt:384:0.8", "vision:512:0.95"]})
        self.sweep(specs, log="whole.csv")
        self.sweep(specs, log="again.csv")
        whole = without_times(self.path("whole.csv"))
        self.assertGreater(len(whole[0]), 100)
        self.assertEqual(whole, without_times(self.path("again.csv")))

        samples = self.path("samples", "two.jsonl")
        os.remove(samples)
        with subprocess.Popen([PROGRAM, *self.arguments(specs, log="killed.csv")], env=environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            deadline = time.monotonic() + 240
            # In the middle of the second: some of its samples are written.
            while time.monotonic() < deadline and program.poll() is None:
                if os.path.exists(samples) and os.path.getsize(samples) > 20000:
                    break
                time.sleep(0.01)
            program.send_signal(signal.SIGKILL)
        self.assertEqual([row["name"] for row in rows(self.path("killed.csv"))], names[:1])
        with open(samples, "rb") as file:
            self.assertLess(file.read().count(b"\n"), 24)
        done = self.sweep(specs, "--resume", log="killed.csv")
        self.assertEqual(done.stdout.count("done before"), 1)
        self.assertEqual(without_times(self.path("killed.csv")), whole)


class Ablate(unittest.TestCase):
    def test_the_shipped_ablation_is_what_it_says(self):
        with open(os.path.join(ROOT, "experiments", "ablation_specs.json"), encoding="utf-8") as file:
            experiments = json.load(file)["experiments"]
        for preset in ["tiny-internvl", "tiny-qwen3vl"]:
            own = [entry for entry in experiments if entry["preset"] == preset]
            alone = [entry["layers"] for entry in own if entry.get("compat") == "original" and "layers" in entry]
            self.assertEqual({layer: alone.count([layer]) for layer in ["exact", "fusion", "semantic", "embedding"]},
                             {"exact": 1, "fusion": 1, "semantic": 5, "embedding": 9})
            self.assertEqual(len(own), 16 + 6)

    def test_every_experiment_of_the_shipped_ablation_runs(self):
        log = os.path.join(FOLDER.name, "ablation.csv")
        done = subprocess.run([PROGRAM, "ablate", "--samples", "2", "--log-file", log, "--samples-dir",
                               os.path.join(FOLDER.name, "ablation")], capture_output=True, text=True, timeout=500,
                              env=environment({"AFTERIMAGE_HOME": ROOT}), cwd=FOLDER.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = rows(log)
        self.assertEqual(len(found), 44)
        self.assertEqual({row["samples"] for row in found}, {"2"})
        self.assertFalse(os.path.exists(os.path.join(FOLDER.name, "semantic_cache", "tiny-internvl_exact_only")))

    def test_without_the_big_models_their_ablation_says_what_is_missing_44_times(self):
        log = os.path.join(FOLDER.name, "ablation_2b.csv")
        done = run("ablate", "--specs", os.path.join(ROOT, "experiments", "ablation_specs_2b.json"), "--log-file", log,
                   "--samples-dir", os.path.join(FOLDER.name, "ablation_2b"),
                   env={"AFTERIMAGE_MODELS": FOLDER.name, "HOME": FOLDER.name})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(len([row for row in rows(log) if row["error"]]), 44)


if __name__ == "__main__":
    unittest.main()
