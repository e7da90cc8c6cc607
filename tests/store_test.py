"""`afterimage store` as a user meets it, on a folder with real chunk files."""

import glob
import json
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["AFTERIMAGE"]
WRITE_STORE = os.environ["WRITE_STORE"]


def run(*args):
    return subprocess.run([PROGRAM, "store", *map(str, args)], capture_output=True, text=True, timeout=300)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="afterimage-store-")
        self.folder = os.path.join(self.scratch.name, "cache")
        out = subprocess.run([WRITE_STORE, self.folder], capture_output=True, text=True, check=True).stdout
        self.ids = {}
        self.paths = {}
        for line in out.splitlines():
            number, self_id, path = line.split(" ", 2)
            self.ids[int(number)] = self_id
            self.paths[int(number)] = path

    def tearDown(self):
        self.scratch.cleanup()

    def good(self, *args):
        done = run(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def good_json(self, *args):
        return json.loads(self.good(*args, "--json"))

    def files(self):
        return sorted(glob.glob(self.folder + "/**", recursive=True))

    def test_ls_shows_the_tree_and_what_it_takes(self):
        lines = self.good("ls", self.folder).splitlines()
        for number, indent in ((1, ""), (2, "  "), (3, "  "), (4, "    "), (5, "")):
            self.assertTrue(any(line.startswith(indent + self.ids[number][:12]) for line in lines), lines)
        self.assertRegex(lines[1], r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d")
        self.assertIn("5 chunks, 3 requests, 22 blocks of 16 tokens", lines)
        self.assertRegex(lines[-1], r"^kv 47.0 kB, fusion 8.0 kB, logits 96 B, overhead .*, catalogue .* kB$")
        self.assertEqual(self.good("ls", "--cache-dir", self.folder), self.good("ls", self.folder + "/"))

    def test_ls_json_and_requests(self):
        listed = self.good_json("ls", self.folder)
        self.assertEqual([c["id"] for c in listed["chunks"]], [self.ids[n] for n in (1, 2, 3, 4, 5)])
        self.assertEqual(listed["totals"]["bytes"]["kv"], 47000)
        requests = self.good("ls", self.folder, "--requests")
        self.assertIn("request:1", requests)
        self.assertIn("What is THIS?", requests)
        self.assertIn("broken", requests)
        self.assertEqual(len(self.good_json("ls", self.folder, "--requests")["requests"]), 3)

    def test_show_tells_everything_about_a_chunk_or_a_request(self):
        shown = self.good("show", self.folder, self.ids[3][:10])
        for text in (self.ids[3], self.ids[1], os.path.realpath(self.paths[3]), "children       1", "request:2",
                     f"{self.ids[1][:12]} (256 tokens) > {self.ids[3][:12]} (20 tokens)", "[3,3,3"):
            self.assertIn(text, shown)
        self.assertEqual(self.good_json("show", self.ids[4], "--cache-dir", self.folder)["chain"],
                         [self.ids[1], self.ids[3], self.ids[4]])
        self.assertEqual(self.good_json("show", self.folder, self.ids[5])["tensors"], [{"name": "embd", "shape": [2000]}])
        self.assertIn('"text": "A cat."', self.good("show", self.folder, "request:1"))
        self.assertIn("{no json", self.good("show", self.folder, "request:3"))
        os.remove(self.paths[2])
        self.assertIn("No such file", self.good("show", self.folder, self.ids[2]))

    def test_verify_of_a_sound_folder_succeeds_and_changes_nothing(self):
        before = self.files()
        self.assertIn("0 bad, 0 leftovers", self.good("verify", self.folder))
        self.assertEqual(self.good_json("verify", self.folder)["files"], 5)
        self.assertEqual(self.files(), before)

    def test_verify_names_every_damaged_file_and_fails(self):
        for damage in (lambda p: flip(p, 20), lambda p: flip(p, os.path.getsize(p) // 2),
                       lambda p: flip(p, os.path.getsize(p) - 1), lambda p: os.truncate(p, 100), os.remove):
            for number in (1, 5):
                with self.subTest(number=number):
                    with open(self.paths[number], "rb") as file:
                        sound = file.read()
                    damage(self.paths[number])
                    done = run("verify", self.folder)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(self.paths[number] + ": ", done.stdout)
                    self.assertIn("1 bad", done.stdout)
                    with open(self.paths[number], "wb") as file:
                        file.write(sound)
        self.assertIn("0 bad", self.good("verify", self.folder))

    def test_a_damaged_catalogue_is_named_by_verify_refused_by_ls_and_mended_by_gc(self):
        catalogue = self.folder + "/catalog.db"
        with open(catalogue, "r+b") as file:
            file.write(b"garbage" * 20)
        done = run("verify", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(catalogue, done.stdout)
        done = run("ls", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(catalogue, done.stderr)
        self.assertIn("store gc", done.stderr)
        self.assertEqual(self.good_json("gc", self.folder)["left"]["chunks"], 5)
        self.assertEqual(len(self.good_json("ls", self.folder)["chunks"]), 5)
        self.assertEqual(self.good_json("verify", self.folder)["quarantined_files"], 1)

    def test_gc_drops_what_is_over_the_limits_or_out_of_reach(self):
        self.assertEqual(self.good_json("gc", self.folder)["freed_files"], 0)
        os.remove(self.paths[3])
        report = self.good_json("gc", self.folder)
        self.assertEqual((report["without_parent"], report["freed_files"], report["left"]["chunks"]), (1, 1, 3))
        report = self.good_json("gc", self.folder, "--max-bytes", "45kB")
        self.assertGreater(report["evicted"], 0)
        self.assertLessEqual(report["left"]["bytes"], 45000)
        self.assertIn("evicted", self.good("gc", self.folder, "--max-cached-blocks", "1"))
        self.assertEqual(self.good_json("ls", self.folder)["totals"]["blocks"], 0)

    def test_purge_removes_what_is_ours_and_refuses_the_rest(self):
        thesis = os.path.join(self.folder, "thesis.txt")
        with open(thesis, "w") as file:
            file.write("years of work")
        self.assertRegex(self.good("purge", self.folder), r"removed 6 files, .* kB")
        self.assertEqual([os.path.basename(p) for p in self.files() if os.path.isfile(p)], ["lock", "thesis.txt"])
        done = run("purge", self.scratch.name)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(os.path.exists(thesis))
        self.assertEqual(run("purge", self.folder + "/absent").returncode, 2)

    def test_beside_a_writer_one_may_look_but_not_write(self):
        writer = subprocess.Popen([WRITE_STORE, self.folder, "hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(5):
            writer.stdout.readline()
        try:
            self.assertIn("5 chunks", self.good("ls", self.folder))
            self.assertIn("0 bad", self.good("verify", self.folder))
            for command in (["gc", self.folder], ["purge", self.folder]):
                done = run(*command)
                self.assertEqual(done.returncode, 1)
                self.assertIn(str(writer.pid), done.stderr)
        finally:
            writer.communicate()

    def test_export_writes_the_index_and_the_rates(self):
        out = os.path.join(self.scratch.name, "out")
        self.good("export", self.folder, "--out", out)
        with open(out + "/text_index.json") as file:
            self.assertEqual(json.load(file), {"what is this?": [self.ids[2], self.ids[3]], "broken": [self.ids[4]]})
        with open(out + "/rates.json") as file:
            self.assertEqual(json.load(file), {"rates": {"load:disk": {"n": 2, "x": 3, "y": 5, "xx": 7, "xy": 11}}})
        with open(out + "/chunks.jsonl") as file:
            self.assertEqual([json.loads(line)["id"] for line in file], [self.ids[n] for n in (1, 2, 3, 4, 5)])
        with open(out + "/requests.jsonl") as file:
            self.assertEqual([json.loads(line)["id"] for line in file], [1, 2, 3])
        self.assertEqual(len(self.good_json("export", self.folder, "--out", out)["files"]), 5)

    def test_failures_have_a_message_and_an_exit_code(self):
        absent = os.path.join(self.scratch.name, "absent")
        file = os.path.join(self.scratch.name, "file")
        open(file, "w").close()
        cases = [
            (["ls"], 2, "store ls DIR"),
            (["ls", absent], 1, absent),
            (["verify", absent], 1, absent),
            (["gc", absent], 1, absent),
            (["ls", self.scratch.name], 2, "not empty"),
            (["show", self.folder], 2, "store show DIR ID"),
            (["show", self.folder, "zz"], 2, "zz"),
            (["show", self.folder, "0123456789"], 1, "0123456789"),
            (["show", self.folder, "request:99"], 1, "request:99"),
            (["export", self.folder], 2, "--out"),
            (["export", self.folder, "--out", file + "/x"], 1, file),
            (["gc", self.folder, "--max-bytes", "many"], 2, "many"),
            (["ls", self.folder, "--no-such-flag"], 2, "--no-such-flag"),
            ([], 2, "subcommand"),
        ]
        for args, code, message in cases:
            with self.subTest(args=args):
                done = run(*args)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertFalse(os.path.exists(absent))

    def test_help_is_everywhere(self):
        for command in ([], ["ls"], ["show"], ["verify"], ["gc"], ["purge"], ["export"]):
            self.assertIn("Usage", self.good(*command, "--help"))


class BenchTest(unittest.TestCase):
    """`afterimage bench store`, small; fio by a stand-in that says how fast it would have been."""

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="afterimage-bench-")
        self.bin = os.path.join(self.scratch.name, "bin")
        os.mkdir(self.bin)

    def tearDown(self):
        self.scratch.cleanup()

    def bench(self, *args):
        return subprocess.run([PROGRAM, "bench", "store", "--chunk-mb", "1", "--repeats", "2", "--chunks", "50",
                               "--dir", self.scratch.name, *args], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PATH": self.bin + ":" + os.environ["PATH"]})

    def write_fio(self, output):
        path = os.path.join(self.bin, "fio")
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\n")
        os.chmod(path, 0o755)

    def test_every_way_is_measured_checked_and_cleaned_up(self):
        self.write_fio('{"jobs": [{"read": {"io_bytes": 1000000, "bw_bytes": 500000000}}]}')
        done = self.bench("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        for way in ("memcpy", "memory", "raw_page_cache", "page_cache", "raw_disk", "disk"):
            self.assertEqual(len(report["load"][way]["samples_ms"]), 2)
            self.assertGreater(report["load"][way]["ms_per_mb"], 0)
        for way in ("memory", "page_cache", "disk"):
            self.assertGreater(report["load"][way]["checksum"]["ms"]["median"], 0)
            self.assertLess(report["load"][way]["checksum"]["added_share"]["median"], 1)
        self.assertEqual(report["load"]["fio"]["ms"]["median"], 2)
        self.assertEqual(report["equal"], report["compared"])
        self.assertEqual(report["compared"], 2 * (3 + 2000 + 2000 + 200 + 200 + 200))
        for key in ("find_hit_us", "find_miss_us", "requests_hit_us", "requests_miss_us", "get_us", "open_ms"):
            self.assertGreater(report["lookup"][key]["median"], 0)
        self.assertEqual(os.listdir(self.scratch.name), ["bin"])
        table = self.bench().stdout
        self.assertIn("fio, disk", table)
        self.assertIn("the checksum takes, and adds", table)

    def test_a_fio_that_says_nothing_is_an_error(self):
        self.write_fio("{}")
        done = self.bench()
        self.assertEqual(done.returncode, 1)
        self.assertIn("fio", done.stderr)
        self.assertEqual(os.listdir(self.scratch.name), ["bin"])

    def test_bad_flags_are_refused(self):
        for flag in ("--repeats", "--chunks", "--chunk-mb"):
            done = subprocess.run([PROGRAM, "bench", "store", flag, "0"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(flag, done.stderr)


if __name__ == "__main__":
    unittest.main()
