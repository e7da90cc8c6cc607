#!/usr/bin/env bash
# Trains both models on one GPU and exports them:   models/training/train.sh [DIR]
# DIR (default: build/training) keeps checkpoints, logs and weights; run again, it goes on where it stopped. The steps
# and seeds are those of the models in this repository; on an H200 it takes 23 minutes.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="${1:-$here/../../build/training}"
train() { python3 "$here/train.py" "$@"; }

mkdir -p "$out"
# Side by side.
train --arch internvl --out "$out" --seed 1 --steps 20000 --decay 4000 >"$out/internvl.out" 2>&1 &
first=$!
train --arch qwen3vl --out "$out" --seed 2 --steps 20000 --decay 4000 >"$out/qwen3vl.out" 2>&1 &
wait $first
wait $!
# Large pictures reach the InternVL-shaped model twice, as a tile and an overview (sequences.py): a little more for that.
mkdir -p "$out/doubled"
cp -n "$out"/internvl-{language,vision}.npz "$out/doubled/"
train --arch internvl --out "$out/doubled" --seed 3 --steps 22500 --decay 2500 --warmup 100 --lr 3e-4 --doubled 0.4 \
  >"$out/doubled.out" 2>&1

python3 "$here/export_gguf.py" --arch internvl --weights "$out/doubled" --out "$out/tiny-internvl"
python3 "$here/export_gguf.py" --arch qwen3vl --weights "$out" --out "$out/tiny-qwen3vl"
