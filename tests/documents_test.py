"""What the documents say is what was measured."""

import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Documents(unittest.TestCase):
    def test_the_tables_of_the_ablation_are_those_of_its_log(self):
        script = os.path.join(ROOT, "experiments", "document.py")
        tables = subprocess.run([sys.executable, script, os.path.join(ROOT, "docs", "ablation", "results.csv")],
                                capture_output=True, text=True, check=True).stdout
        self.assertGreater(tables.count("\n"), 44)
        with open(os.path.join(ROOT, "docs", "experiments.md"), encoding="utf-8") as file:
            self.assertIn(tables, file.read(), "experiments/document.py docs/ablation/results.csv prints them")


if __name__ == "__main__":
    unittest.main()
