#!/usr/bin/env bash
# The ablation: 44 experiments into experiment_logs/, and a page to look at. Flags go to `afterimage ablate`
# (--samples 64, --resume, ...); edit experiments/ablation_specs.json, or give --specs, for other experiments.
set -euo pipefail
cd "$(dirname "$0")"
make build
failed=0
build/afterimage ablate "$@" || failed=$?
if ((failed > 1)); then exit "$failed"; fi
build/afterimage report experiment_logs/ablation_results.csv -o experiment_logs/ablation_report.html --title Ablation
exit "$failed"
