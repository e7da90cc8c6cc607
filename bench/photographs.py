#!/usr/bin/env python3
"""Makes pairs of photographs to judge the image gate by (docs/gates.md).

    python photographs.py PHOTOGRAPHS OUT [--seed 1]

PHOTOGRAPHS is a folder of pictures, such as skimage/data out of the wheel of scikit-image 0.26 (a wheel is a zip file;
nothing of it needs to be installed). OUT gets the variants and pairs.jsonl, a line a pair as in the world's streams:
{"a": file, "b": file, "kind": what lies between them, "must_agree": true where they show the same}.

    kept:    jpeg      saved as JPEG of quality 80
             resized   to 90 % of its sides
             cropped   a window of 98 % of its sides, anywhere
             brighter  all levels times 1.05
             darker    all levels times 0.95
    refused: pasted    a square of another photograph, of 8 to 15 % of the shorter side, anywhere
             other     another photograph; both cut to their middle square: other shapes would be refused at sight

A pasted square differs from what it covers by at least 12 levels on average: black on black is no object.

Needs numpy and pillow.
"""

import argparse
import json
import pathlib
import random

import numpy
from PIL import Image

# Of scikit-image's samples those that are photographs, in the wide sense: no drawings, and one of a stereo pair.
PHOTOGRAPHS = (
    "astronaut.png brick.png camera.png cell.png chelsea.png clock_motion.png coffee.png coins.png grass.png gravel.png"
    " hubble_deep_field.jpg ihc.png moon.png motorcycle_left.png page.png retina.jpg rocket.jpg text.png"
).split()
PASTED_PER_PHOTOGRAPH = 8
MIN_DIFFERENCE = 12


def times(photograph, factor):
    levels = numpy.asarray(photograph, dtype=numpy.float64) * factor
    return Image.fromarray(numpy.clip(numpy.rint(levels), 0, 255).astype(numpy.uint8))


def cropped(photograph, rng):
    width, height = (round(0.98 * side) for side in photograph.size)
    x = rng.randint(0, photograph.width - width)
    y = rng.randint(0, photograph.height - height)
    return photograph.crop((x, y, x + width, y + height))


def middle_square(photograph):
    side = min(photograph.size)
    x = (photograph.width - side) // 2
    y = (photograph.height - side) // 2
    return photograph.crop((x, y, x + side, y + side))


def pasted(photograph, other, rng):
    side = round(rng.uniform(0.08, 0.15) * min(photograph.size))

    def window(of):
        x = rng.randint(0, of.width - side)
        y = rng.randint(0, of.height - side)
        return x, y, x + side, y + side

    while True:
        patch = other.crop(window(other))
        place = window(photograph)
        covered = numpy.asarray(photograph.crop(place), dtype=numpy.float64)
        if numpy.abs(numpy.asarray(patch, dtype=numpy.float64) - covered).mean() >= MIN_DIFFERENCE:
            result = photograph.copy()
            result.paste(patch, place)
            return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("photographs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    pairs = []

    def pair(a, b, kind, must_agree):
        pairs.append({"a": a, "b": b, "kind": kind, "must_agree": must_agree})

    photographs = {}
    for name in PHOTOGRAPHS:
        photograph = Image.open(arguments.photographs / name).convert("RGB")
        photographs[pathlib.Path(name).stem] = photograph

    for name, photograph in photographs.items():

        def save(kind, picture, ending="png", name=name, **options):
            file = f"{name}-{kind}.{ending}"
            picture.save(arguments.out / file, **options)
            return file

        original = save("original", photograph)
        save("square", middle_square(photograph))
        smaller = tuple(round(0.9 * side) for side in photograph.size)
        pair(original, save("jpeg", photograph, "jpg", quality=80), "jpeg", True)
        pair(original, save("resized", photograph.resize(smaller, Image.Resampling.BICUBIC)), "resized", True)
        pair(original, save("cropped", cropped(photograph, rng)), "cropped", True)
        pair(original, save("brighter", times(photograph, 1.05)), "brighter", True)
        pair(original, save("darker", times(photograph, 0.95)), "darker", True)
        for i in range(PASTED_PER_PHOTOGRAPH):
            other = rng.choice([other for other in photographs if other != name])
            picture = pasted(photograph, photographs[other], rng)
            pair(original, save(f"pasted{i}", picture), "pasted", False)

    names = list(photographs)
    for i, name in enumerate(names):
        for other in names[:i]:
            pair(f"{other}-square.png", f"{name}-square.png", "other", False)

    with open(arguments.out / "pairs.jsonl", "w", encoding="utf-8") as file:
        for line in pairs:
            file.write(json.dumps(line) + "\n")
    print(f"{len(photographs)} photographs, {len(pairs)} pairs")


if __name__ == "__main__":
    main()
