#!/usr/bin/env python3
"""Turns GQA's tables (parquet files, as the Hugging Face hub has them) into files that `afterimage run` reads.

    scripts/parquet_to_jsonl.py --out gqa val_balanced_instructions val_balanced_images
    afterimage run --dataset gqa --data-dir gqa

Questions, <config>/<split>-00000-of-00001.parquet, become <out>/<config>/<split>.jsonl, all parts of a split in one
file; pictures become <out>/<first three characters of the id>/<id>.jpg, byte for byte as the table holds them. Which of
the two a file is, its columns tell. Needs pyarrow; reads a batch of rows at a time.
"""

import argparse
import json
import pathlib
import sys

try:
    import pyarrow.parquet
except ImportError:
    sys.exit("parquet_to_jsonl.py: needs pyarrow (pip install pyarrow)")

EXTENSIONS = ((b"\xff\xd8", ".jpg"), (b"\x89PNG", ".png"), (b"RIFF", ".webp"))


def rows(table, batch_size):
    for batch in table.iter_batches(batch_size=batch_size):
        yield from batch.to_pylist()


def write_questions(path, table, out, begun):
    """Appends to the split's file, which the first of its parts begins anew. Returns how many there were."""
    target = out / path.parent.name / (path.name.split("-")[0].removesuffix(".parquet") + ".jsonl")
    target.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with open(target, "a" if target in begun else "w", encoding="utf-8") as file:
        begun.add(target)
        for row in rows(table, 1000):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def write_pictures(table, out):
    count = 0
    for row in rows(table, 16):
        name, data = row["id"], row["image"]["bytes"]
        if not name or "/" in name:
            sys.exit(f"parquet_to_jsonl.py: '{name}' is no name for a picture")
        extension = next((ending for magic, ending in EXTENSIONS if data.startswith(magic)), None)
        if extension is None:
            sys.exit(f"parquet_to_jsonl.py: picture {name} is neither JPEG, PNG nor WebP")
        # Looked for in the folder of three characters only where the name has more.
        folder = out / name[:3] if len(name) > 3 else out
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (name + extension)).write_bytes(data)
        count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder to write to")
    parser.add_argument("inputs", nargs="+", type=pathlib.Path, help="parquet files, or folders of them")
    args = parser.parse_args()
    begun = set()
    for given in args.inputs:
        files = sorted(given.rglob("*.parquet")) if given.is_dir() else [given]
        if not files:
            sys.exit(f"parquet_to_jsonl.py: there are no parquet files in {given}")
        for path in files:
            path = path.absolute()  # its folder is the configuration's name; a link's target, in the hub's cache, is not
            table = pyarrow.parquet.ParquetFile(path)
            columns = table.schema_arrow.names
            if "question" in columns:
                print(f"{path.name}: {write_questions(path, table, args.out, begun)} questions")
            elif {"id", "image"} <= set(columns):
                print(f"{path.name}: {write_pictures(table, args.out)} pictures")
            else:
                sys.exit(f"parquet_to_jsonl.py: {path} holds neither questions nor pictures: {', '.join(columns)}")


if __name__ == "__main__":
    main()
