#!/usr/bin/env bash
# Measures phasor against PyTorch on this machine and prints the ratios with their spread.
#
#   scripts/compare_peers.sh [--venv DIR] [--name NAME] [--quick] [FILTERS ...]
#   scripts/compare_peers.sh --dry-run      test the scripts themselves on made-up speeds
#
# --venv DIR    virtual environment with PyTorch; made if it is missing, outside the project
#               (default: phasor-peers in the user's cache folder)
# --name NAME   writes results/bench/NAME.json and NAME.md (default: peers)
# --quick       a look of minutes; without it every setting is tried and the run takes hours
# FILTERS       --arch resnet20, --norm mrsnorm, --batch-size 128, --dtype float32, ...
#               (scripts/peer_torch.py --help), --bench PROGRAM, --rounds N
# Let nothing else run meanwhile.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONDONTWRITEBYTECODE=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE

venv=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/phasor-peers
name=peers
dry_run=false
shown=(scripts/compare_peers.sh)  # as the report names the command: without this machine's paths
arguments=(--bench "${PHASOR_BUILD_DIR:-$root/build}/bin/phasor-bench")
while (($# > 0)); do
  case $1 in
    -h | --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --venv | --name)
      (($# > 1)) || { echo "compare_peers: $1 needs a value" >&2; exit 2; }
      if [[ $1 == --venv ]]; then venv=$2; else name=$2; shown+=("$1" "$2"); fi
      shift ;;
    --dry-run) dry_run=true; arguments+=("$1") ;;
    *) arguments+=("$1"); shown+=("$1") ;;
  esac
  shift
done

if ! command -v python3 >/dev/null; then
  echo "compare_peers: skipped, python3 is not installed" >&2
  exit 77
fi
export PHASOR_COMMAND="${shown[*]}"
python=python3
if ! $dry_run; then
  python=$venv/bin/python
  if [[ ! -x $python ]]; then
    echo "compare_peers: making $venv" >&2
    python3 -m venv "$venv"
  fi
  "$python" -c 'import torch, numpy' 2>/dev/null ||
    "$python" -m pip install --quiet -r "$root/scripts/requirements-peer.txt"
fi
exec "$python" "$root/scripts/compare_peers.py" "${arguments[@]}" \
  --out "$root/results/bench/$name" </dev/null
