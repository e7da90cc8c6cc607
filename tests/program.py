"""What the black-box tests share: the program, models and pictures made on the spot."""

import json
import os
import random
import struct
import subprocess
import tempfile
import zlib

PROGRAM = os.environ["AFTERIMAGE"]
WRITE_RANDOM_MODEL = os.environ["WRITE_RANDOM_MODEL"]
FOLDER = tempfile.TemporaryDirectory(prefix="afterimage-")


def environment(env=None):
    return {**os.environ, "XDG_CACHE_HOME": FOLDER.name, **(env or {})}


def run(*args, env=None):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=300,
                          env=environment(env))


def write_png(name, seed, width=56, height=56):
    """A picture of noise, as plain a PNG as can be."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(3 * width) for _ in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path = os.path.join(FOLDER.name, name)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    return path


def write_jsonl(path, lines):
    """Objects as JSON, texts as they are."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return path


def write_rates(name, load_ms_per_byte):
    """Frozen rates, so that what the planner does in a test does not hang on what the machine does meanwhile."""
    ms = {"prefill.text": 1, "prefill.image": 1, "encode": 10, "inject": 1e-3, "load.memory": load_ms_per_byte,
          "load.queue": load_ms_per_byte, "load.disk": load_ms_per_byte}
    path = os.path.join(FOLDER.name, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rates": {key: {"n": 1, "x": 1, "y": y, "xx": 1, "xy": y} for key, y in ms.items()}}, file)
    return path


def model(shape):
    out = subprocess.run([WRITE_RANDOM_MODEL, shape, FOLDER.name], capture_output=True, text=True, check=True).stdout
    paths = out.split("\n")
    flags = ["--model", paths[0], "--threads", "1", "--max-tokens", "8", "--context", "512"]
    return flags + (["--mmproj", paths[1]] if paths[1] else [])
