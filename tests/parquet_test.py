"""scripts/parquet_to_jsonl.py: what the tables hold arrives in the files. Skipped where there is no pyarrow."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

SCRIPT = pathlib.Path(__file__).parent.parent / "scripts" / "parquet_to_jsonl.py"

QUESTIONS = [
    {"id": "07333408", "imageId": "2375429", "question": "Is it a café?", "answer": "yes", "isBalanced": True,
     "groups": {"global": None, "local": "06-sky"}, "entailed": "['01', '02']", "types": {"structural": "verify"},
     "annotations": {"question": [{"objectId": "4:6", "value": "501"}]},
     "semantic": [{"operation": "select", "argument": "sky (1)", "dependencies": [0]}]},
    {"id": "2", "imageId": "n25", "question": "What?", "answer": "sky", "isBalanced": False,
     "groups": {"global": "place", "local": None}, "entailed": "[]", "types": {"structural": "query"},
     "annotations": {"question": []}, "semantic": []},
]
JPEG = b"\xff\xd8 a picture"
PNG = b"\x89PNG another"


@unittest.skipIf(pyarrow is None, "there is no pyarrow")
class ParquetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="afterimage-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"

    def write(self, name, table_rows):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table_rows), path)
        return path

    def convert(self, *inputs):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--out", self.out, *inputs], capture_output=True, text=True,
                              check=False)

    def test_questions_of_all_parts_become_one_file(self):
        first = self.write("val_balanced_instructions/val-00000-of-00002.parquet", QUESTIONS[:1])
        # A link, as in the cache of the hub, whose folder and not its target's names the configuration.
        second = self.write("blobs/1234.parquet", QUESTIONS[1:])
        (first.parent / "val-00001-of-00002.parquet").symlink_to(second)
        for _ in range(2):  # the second time everything is written anew
            done = self.convert(first.parent)
            self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.out / "val_balanced_instructions" / "val.jsonl", encoding="utf-8") as file:
            self.assertEqual([json.loads(line) for line in file], QUESTIONS)

    def test_pictures_are_written_byte_for_byte_by_the_start_of_their_id(self):
        path = self.write("images/val-00000-of-00001.parquet", [
            {"id": "2375429", "image": {"bytes": JPEG, "path": "2375429.jpg"}},
            {"id": "n25", "image": {"bytes": PNG, "path": None}}])
        done = self.convert(path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.out / "237" / "2375429.jpg").read_bytes(), JPEG)
        self.assertEqual((self.out / "n25.png").read_bytes(), PNG)

    def test_what_is_neither_is_refused(self):
        cases = [([self.write("x.parquet", [{"a": 1}])], "neither questions nor pictures"),
                 ([self.write("y.parquet", [{"id": "../up", "image": {"bytes": JPEG}}])], "no name"),
                 ([self.write("z.parquet", [{"id": "n1", "image": {"bytes": b"GIF"}}])], "neither JPEG"),
                 ([self.folder / "nothing"], "no parquet files")]
        os.makedirs(self.folder / "nothing")
        for inputs, message in cases:
            with self.subTest(message=message):
                done = self.convert(*inputs)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
