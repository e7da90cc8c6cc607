#!/usr/bin/env bash
# Trains both models side by side on one GPU and exports them:   models/training/train.sh [DIR]
# DIR (default: build/training) keeps checkpoints, logs and weights; run again, it goes on where it stopped.
# STEPS and DECAY as in the logs beside the model cards; DEADLINE=S ends early enough to be done in S seconds.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
out="${1:-$here/../../build/training}"
mkdir -p "$out"
pids=()
for arch in internvl qwen3vl; do
  python3 "$here/train.py" --arch $arch --out "$out" --seed $([[ $arch == internvl ]] && echo 1 || echo 2) \
    --steps "${STEPS:-20000}" --decay "${DECAY:-4000}" ${DEADLINE:+--deadline "$DEADLINE"} >"$out/$arch.out" 2>&1 &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid"; done
if [[ -z "${NO_EXPORT:-}" ]]; then
  for arch in internvl qwen3vl; do
    python3 "$here/export_gguf.py" --arch $arch --weights "$out" --out "$out/tiny-$arch"
  done
fi
