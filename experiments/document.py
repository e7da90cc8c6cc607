#!/usr/bin/env python3
"""What docs/experiments.md shows of an ablation, out of its log and its page.

  experiments/document.py docs/ablation/results.csv                         prints the tables
  experiments/document.py --figures docs/ablation/report.html docs/ablation  writes the figures, as PNG (needs Chromium)
"""

import base64
import csv
import os
import sys

FIGURES = ["thresholds", "pareto", "stages"]  # ids of sections of the page


def share(text):
    return f"{float(text) * 100:.1f} %"


def number(text, digits=1):
    return f"{float(text):.{digits}f}" if text else ""


def tables(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    out = []
    for model in dict.fromkeys(row["preset"] for row in rows):
        out.append(f"**{model}**\n\n| | hits | accuracy | false hits | wrong donors | first token: mean, ms | median "
                   "speed-up | encoder runs |\n|---|---|---|---|---|---|---|---|")
        for row in rows:
            if row["preset"] != model:
                continue
            out.append("| " + " | ".join([
                row["name"].removeprefix(model + "/"), share(row["hit_rate"]), share(row["accuracy"]),
                row["false_hits.count"], row["wrong_donors.count"], number(row["ttft_ms.mean"]),
                number(row["speedup.ttft_p50"]) + "x", row["images.encoded"]]) + " |")
        first = next(row for row in rows if row["preset"] == model)
        out.append(f"\n{first['samples']} requests each; without the cache: accuracy {share(first['baseline.accuracy'])}, "
                   f"first token {number(first['baseline.ttft_ms.mean'])} ms in the mean. {first['machine']}.\n")
    return "\n".join(out)


def figures(page, folder):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))
    from browser import Browser
    browser = Browser()
    try:
        browser.call("Emulation.setScrollbarsHidden", hidden=True)  # the whole page in one picture needs none
        browser.open(os.path.abspath(page), width=1200)
        for name in FIGURES:
            box = browser.evaluate(f"(() => {{ const b = document.getElementById('{name}').getBoundingClientRect(); return "
                                   "[b.x + scrollX, b.y + scrollY, b.width, b.height]; })()")
            clip = dict(zip(["x", "y", "width", "height"], box), scale=1)
            shot = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
            with open(os.path.join(folder, name + ".png"), "wb") as file:
                file.write(base64.b64decode(shot["data"]))
    finally:
        browser.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--figures"] and len(sys.argv) == 4:
        figures(sys.argv[2], sys.argv[3])
    elif len(sys.argv) == 2:
        print(tables(sys.argv[1]), end="")
    else:
        sys.exit(__doc__)
