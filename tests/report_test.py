"""`afterimage report` and its page, in a browser: figures, table, gallery, whatever the logs hold or lack."""

import csv
import json
import os
import unittest

from browser import Browser
from program import FOLDER, run, write_jsonl, write_png

AWKWARD = '</script><script>document.title = "taken"</script><!-- "quoted", \\ and <b>ünïcödé</b> 日本 {{title}}'
SECTIONS = ["thresholds", "pareto", "times", "stages", "stream", "table", "gallery"]


def folder(name):
    path = os.path.join(FOLDER.name, name)
    os.makedirs(path, exist_ok=True)
    return path


def row(name, **more):
    """A row as `run` logs it: options, the error, results."""
    options = {"preset": "tiny", "model": "tiny", "dataset": "world", "dataset_config": "balanced", "baseline": True,
               "cache_mode": "live", "reuse": "approximate", "similarity_threshold": 0.85, "embedding_layers": [],
               "compat": "none", "layers": None, "cache_dir": f"caches/{name[:3]}", "notes": None, "samples_file": None}
    results = {"samples": 4, "errors": 0, "accuracy": 0.75, "hit_rate": 0.5, "ttft_ms.mean": 20.0, "ttft_ms.p50": 12.0,
               "stages_ms.lookup.semantic_text": 1.5, "stages_ms.embed": 1.0, "stages_ms.prefill": 9.0,
               "stages_ms.encode": 4.0, "wrong_donors.count": 2, "wrong_donors.per_request": 0.5,
               "wrong_donors.per_request_interval": [0.15, 0.85], "baseline.accuracy": 1.0,
               "baseline.ttft_ms.mean": 100.0, "false_hits.count": 1, "false_hits.per_request": 0.25,
               "false_hits.per_request_interval": [0.05, 0.7],
               "speedup.ttft_mean": 5.0, "images.encode_skipped": 3, "bytes.stored": 1234567, "machine": "a CPU",
               "commit": "abc1234"}
    made = {"name": name, **options, "error": None, **results}
    made.update(more)
    if made["error"] is not None:
        made.update({key: None for key in results})
    return made


def write_csv(path, rows):
    """As `run` writes it: null is empty, lists are JSON."""
    def cell(value):
        return "" if value is None else value if isinstance(value, str) else json.dumps(value)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([cell(value) for value in one.values()] for one in rows)
    return path


def sample(number, **more):
    return {"dataset_id": str(number), "question": f"question {number}?", "hit": False, "hit_source": None,
            "class": "cold", "ttft": 0.1, "response": "yes", "reference": "yes", "agrees": True, "donor": None,
            "candidates": [], "image_path": "asked.png", "baseline_response": "yes", "baseline_ttft": 0.1, **more}


def wrong(number, passed, **more):
    donor = {"id": "0", "question": AWKWARD, "image_path": "donor.png"}
    candidate = {"layer": "semantic_text", "donor": donor, "score": 0.9, "class": "approximate",
                 "substitution": "question", "passed": passed, "refused": None}
    return sample(number, hit=True, hit_source="text:semantic", ttft=0.001, agrees=False, label=False, donor=donor,
                  score=0.9, substitution="question", candidates=[candidate], response="no",
                  **{"class": "approximate", **more})


def write_whole():
    """Two models by three thresholds, a grid by two, a failure, and names nobody should choose."""
    place = folder("whole")
    for name in ("asked.png", "donor.png"):
        write_png(os.path.join("whole", name), 1)
    write_jsonl(os.path.join(place, "samples.jsonl"),
                [sample(0), wrong(1, ["threshold: 0.900, at least 0.850", "text guard"]), "damaged",
                 sample(2, hit=True, hit_source="prefix:image", ttft=0.01, **{"class": "exact"}),
                 wrong(3, [], image_path="absent.png", question=AWKWARD), {"dataset_id": "4", "error": "no picture"}])
    rows = [row(f"{model} at {threshold}", preset=model, model=model, similarity_threshold=threshold, compat="original",
                hit_rate=1 - threshold, samples_file="samples.jsonl")
            for model in ("tiny", "large") for threshold in (0.5, 0.7, 0.9)]
    rows.append(row(AWKWARD, samples_file="samples.jsonl", notes=AWKWARD, **{"false_hits.count": 0}))
    rows.append(row("exact only", layers=["exact"], similarity_threshold=0.5, **{"wrong_donors.count": 7}))
    rows.append(row("broken", error="it broke: <b>badly</b>"))
    rows.append(row("large at 0.9", preset="large", model="large", similarity_threshold=0.9, compat="original",
                    hit_rate=0.125, samples_file="samples.jsonl"))
    grid = [row(f"grid {prompt} {vision}", dataset_config="clips",
                embedding_layers=[f"prompt:384:{prompt}", f"vision:512:{vision}"])
            for prompt in (0.7, 0.8) for vision in (0.9, 0.95)]
    grid.append({**grid[-1], "name": "grid again", "hit_rate": 0.9})
    return [write_csv(os.path.join(place, "log.csv"), rows), write_jsonl(os.path.join(place, "grid.jsonl"), grid)]


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.whole = cls.make("whole.html", write_whole(), "--title", AWKWARD)

    @classmethod
    def make(cls, name, logs, *flags):
        path = os.path.join(FOLDER.name, name)
        done = run("report", *logs, "-o", path, *flags)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return path

    def open(self, path, **how):
        self.browser.open(path, **how)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), ["file://" + path])

    def get(self, expression):
        return self.browser.evaluate(expression)

    def text(self, selector):
        return self.get(f"document.querySelector({json.dumps(selector)}).textContent")

    def texts(self, selector):
        return self.get(f"[...document.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)")

    def names(self):
        return self.texts("#table tbody td:first-child")

    def figures(self):
        return {name: self.get(f"document.querySelectorAll('#{name} .drawing > svg, #{name} .drawing > figure').length")
                for name in SECTIONS[:5]}

    def test_every_figure_is_drawn_and_nothing_is_said_or_fetched(self):
        for how in ({}, {"dark": True}, {"width": 360}):
            with self.subTest(how):
                self.open(self.whole, **how)
                self.assertEqual(self.figures(), {"thresholds": 6, "pareto": 2, "times": 1, "stages": 1, "stream": 2})
                self.assertEqual(len(self.names()), 14)
                self.assertEqual(self.texts(".missing"), [])
                self.assertLessEqual(self.get("document.documentElement.scrollWidth"), how.get("width", 1200))

    def test_every_figure_can_be_read_aloud(self):
        self.open(self.whole)
        labels = self.get("[...document.querySelectorAll('.drawing')].map(one => [one.role, one.ariaLabel])")
        self.assertEqual(len(labels), 12)
        for role, label in labels:
            self.assertEqual(role, "img")
            self.assertRegex(label, r"\d")
        self.assertTrue(any("50 % at 0.5, 30 % at 0.7" in label for _, label in labels), labels)

    def test_what_logs_and_samples_say_stays_text(self):
        self.open(self.whole)
        self.assertEqual(self.get("document.title"), AWKWARD)
        self.assertEqual(self.text("h1"), AWKWARD)
        self.assertIn(AWKWARD, self.names())
        self.assertIn(f"“{AWKWARD}”", self.texts(".question"))
        self.assertEqual(self.get("document.querySelectorAll('main script, main b b, #table b, #gallery b').length"), 0)

    def test_the_head_says_what_was_run_and_what_came_of_it(self):
        self.open(self.whole)
        head = self.text("#head")
        for words in ("14 (1 failed)", "tiny, large", "a CPU", "abc1234", "broken: it broke: <b>badly</b>",
                      "Fastest without a false hit: " + AWKWARD, "5.0× as fast", "up to 70 %"):
            self.assertIn(words, head)
        self.assertIn("world balanced, tiny: in 4 requests the original's rules gave 2 wrong donors (3 experiments), "
                      "all rules 2.", head)

    def test_the_last_row_of_a_name_counts_and_of_experiments_that_are_alike_the_last(self):
        self.open(self.whole)
        self.assertEqual(self.names().count("large at 0.9"), 1)
        labels = self.get("[...document.querySelectorAll('#thresholds .drawing')].map(one => one.ariaLabel)")
        self.assertTrue(any("13 % at 0.9" in label for label in labels), labels)
        self.assertTrue(any("50 % at 0.8 and 0.9, 90 % at 0.8 and 0.95" in label for label in labels), labels)

    def test_the_table_sorts_by_mouse_and_by_keyboard(self):
        self.open(self.whole)
        head = "[...document.querySelectorAll('#table th button')].find(one => one.textContent === 'hit rate')"
        as_logged = self.names()
        self.get(f"{head}.click()")
        up = self.names()
        self.assertEqual(up[:2], ["tiny at 0.9", "large at 0.9"])
        self.assertEqual(up[-1], "broken", "what was not measured stands last")
        self.assertEqual(self.get(f"{head}.parentNode.ariaSort"), "ascending")
        self.assertNotEqual(up, as_logged)
        self.assertEqual(self.get("document.activeElement.textContent"), "hit rate", "the focus stays")
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
                              windowsVirtualKeyCode=13)
        down = self.names()
        self.assertEqual(self.get(f"{head}.parentNode.ariaSort"), "descending")
        self.assertEqual([down[0], *down[-3:]], ["grid again", "large at 0.9", "tiny at 0.9", "broken"])
        self.assertEqual(self.get("document.querySelectorAll('#table th[aria-sort]').length"), 1)

    def test_the_table_filters_by_name_and_by_option_and_shows_all_columns(self):
        self.open(self.whole)
        cases = {"large 0.7": ["large at 0.7"], "it broke": ["broken"], "no such thing": [],
                 "dataset_config=CLIPS prompt:384:0.8": ["grid 0.8 0.9", "grid 0.8 0.95", "grid again"]}
        for words, names in cases.items():
            self.get("(() => { const box = document.querySelector('#table input[type=search]');"
                     f"box.value = {json.dumps(words)}; box.dispatchEvent(new Event('input')); }})()")
            self.assertEqual(self.names(), names)
            self.assertEqual(self.text("#table output"), f"{len(names)} of 14")
        columns = len(self.texts("#table th"))
        self.get("document.querySelector('#table input[type=checkbox]').click()")
        self.assertGreater(len(self.texts("#table th")), columns)
        self.assertIn("similarity_threshold", self.texts("#table th button"))
        self.assertIn("error", self.texts("#table th button"))

    def test_an_experiment_chosen_in_one_section_is_chosen_in_all(self):
        self.open(self.whole)
        self.assertEqual(self.texts(".printed"), [AWKWARD] * 2, "all rules come first")
        chosen = self.get("(() => { const select = document.querySelector('#stream select');"
                          "select.value = [...select.options].find(one => one.text === 'tiny at 0.7').value;"
                          "select.dispatchEvent(new Event('change')); return select.value; })()")
        self.browser.settle()
        self.assertEqual(self.get("document.querySelector('#times select').value"), chosen)
        self.assertEqual(self.texts(".printed"), ["tiny at 0.7"] * 2)
        self.assertEqual(self.figures()["times"], 1)
        label = self.get("document.querySelector('#times .drawing').ariaLabel")
        self.assertIn("approximate: 2 requests, median 1 ms", label)
        self.assertIn("1 request failed and is not here. 1 line of the samples file could not be read.",
                      self.text("#times"))
        self.assertEqual(self.browser.complaints(), [])

    def test_the_gallery_shows_both_pictures_and_what_let_it_pass(self):
        self.open(self.whole)
        self.assertEqual(len(self.texts(".case")), 2, "the same case in seven experiments is one")
        self.assertEqual(self.get("[...document.querySelectorAll('.case img')].map(one => one.naturalWidth)"), [56] * 3)
        self.assertIn("absent.pngnot found", self.texts(".no-picture"))
        gates = self.texts(".case dd p")
        self.assertIn("threshold: 0.900, at least 0.850; text guard; no other gate was asked in tiny at 0.5, "
                      "tiny at 0.7, tiny at 0.9, large at 0.5, large at 0.7 and large at 0.9", gates)
        self.assertIn(f"threshold: 0.900, at least 0.850; text guard in {AWKWARD}", gates)
        self.assertTrue(any(line.startswith("no gate was asked in tiny at 0.5") for line in gates), gates)
        self.assertEqual(self.text("#gallery .note"), "14 requests went wrong, in all experiments together. "
                         "2 cases stand for 14 of them; 0 are left out.")
        with open(self.whole, encoding="utf-8") as file:
            self.assertEqual(file.read().count("data:image/png;base64,"), 2, "each picture is held once")

    def test_a_page_is_drawn_anew_for_another_width_and_printed_without_its_controls(self):
        self.open(self.whole)
        width = "Number(document.querySelector('#stages .drawing svg').getAttribute('width'))"
        wide = self.get(width)
        self.browser.resize(500)
        self.browser.settle()
        self.assertLess(self.get(width), wide)
        shown = ("['select', '.printed', '#table input'].map(one => "
                 "getComputedStyle(document.querySelector(one)).display)")
        self.assertEqual(self.get(shown)[1], "none")
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.get(shown), ["none", "block", "none"])
        self.browser.call("Emulation.setEmulatedMedia", media="")

    def test_the_page_could_not_reach_outside_if_it_tried(self):
        """The control of `requests() == [the page]`: what a page may ask for is refused, and we would see it."""
        self.open(self.whole)
        refused = self.get("new Promise(done => {"
                           "addEventListener('securitypolicyviolation', event => done(event.blockedURI));"
                           "const picture = new Image();"
                           "picture.onerror = () => setTimeout(() => done('it was asked for'), 1000);"
                           "picture.src = 'http://127.0.0.1:9/x.png'; })")
        self.assertEqual(refused, "http://127.0.0.1:9/x.png")
        self.assertIn("Content Security Policy", json.dumps(self.browser.complaints()))

    def test_what_is_missing_is_said_and_nothing_fails(self):
        place = folder("missing")
        none = {key: None for key in row("") if key.startswith(("false_hits", "wrong_donors", "baseline.", "speedup"))}
        bare = {"name": "bare", "error": None}
        cases = {
            "no rows": ([], ["There are no experiments in no rows.jsonl."]),
            "all failed": ([row("a", error="first"), row("b", error="second")], ["a: first", "b: second"]),
            "one row": ([row("a")], ["No two experiments differ", "no samples file was written"]),
            "thresholds of layers that are not asked": (
                [row("a", layers=["exact"]), row("b", layers=["exact"], similarity_threshold=0.5),
                 row("off", cache_mode="off"), row("also off", cache_mode="off", similarity_threshold=0.5),
                 row("c", layers="prefix", embedding_layers=["prompt:384:0.5"]),
                 row("d", layers="prefix", embedding_layers=["prompt:384:0.6"])], ["No two experiments differ"]),
            "a name only": ([bare], ["No experiment has both a time and an accuracy"]),
            "no baseline, no labels": ([row("a", **none), row("b", similarity_threshold=0.5, **none)],
                                       ["2 experiments of 2 ran without --baseline", "had no labels"]),
            "no samples": ([row("a", samples_file="gone.jsonl")], ["gone.jsonl", "single requests are not known"]),
            "samples of nothing": ([row("a", samples_file="empty.jsonl")],
                                   ["No request of this experiment was answered."]),
        }
        write_jsonl(os.path.join(place, "empty.jsonl"), [])
        for name, (rows, words) in cases.items():
            with self.subTest(name):
                self.open(self.make("missing.html", [write_jsonl(os.path.join(place, f"{name}.jsonl"), rows)]))
                text = self.text("main")
                for word in words:
                    self.assertIn(word, text)
                for part in SECTIONS:
                    shown = f"document.querySelector('#{part} :is(svg, .missing, tbody tr)') !== null"
                    self.assertTrue(self.get(shown), part)
                self.assertNotIn("This part of the page failed", text)
                self.assertNotRegex(text, r"NaN|undefined|\[object")


class ProgramTest(unittest.TestCase):
    def test_the_page_is_written_whole_and_named_with_its_size(self):
        place = folder("program")
        log = write_jsonl(os.path.join(place, "log.jsonl"), [row("a")])
        before = os.getcwd()
        os.chdir(place)
        try:
            done = run("report", "log.jsonl")
        finally:
            os.chdir(before)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^report\.html \(\d+\.\d KB\)\n$")
        self.assertEqual(sorted(os.listdir(place)), ["log.jsonl", "report.html"])
        self.assertLess(os.path.getsize(os.path.join(place, "report.html")), 700_000)
        self.assertEqual(run("report", log, "-o", "/no/such/folder/x.html").returncode, 1)

    def test_what_is_no_log_is_refused_by_name_and_line_and_nothing_is_written(self):
        place = folder("refused")
        text = write_jsonl(os.path.join(place, "text.jsonl"), [row("a"), "hello"])
        table = os.path.join(place, "table.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n")
        page = os.path.join(place, "page.html")
        for args, code, message in (([os.path.join(place, "absent.csv")], 1, "absent.csv"), ([text], 1, "text.jsonl:2"),
                                    ([table], 1, "table.csv:1"), ([], 2, "log")):
            with self.subTest(args):
                done = run("report", *args, "-o", page)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertFalse(os.path.exists(page))


if __name__ == "__main__":
    unittest.main()
