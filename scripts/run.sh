#!/usr/bin/env bash
# Sets up, builds and runs the main job, which prints its tables.
#
#   scripts/run.sh               three norms on the built-in synthetic images (configs/smoke.json)
#   scripts/run.sh CIFAR_DIR     27 cells on real CIFAR-100 (configs/mini.json); CIFAR_DIR holds
#                                train.bin and test.bin (scripts/fetch_cifar100.sh fetches them)
#
# Results go to runs/smoke or runs/mini; run again to continue or to see the table again.
# Exit codes are those of phasor-train (README); PHASOR_BUILD_DIR as in scripts/build.sh.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
train=${PHASOR_BUILD_DIR:-$root/build}/bin/phasor-train

name=smoke
data=()
if (($# > 1)) || [[ ${1:-} == -* ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
elif (($# == 1)); then
  name=mini
  data=(--data "$1")
  if [[ ! -d $1 ]]; then
    printf 'run: %s is not a folder; scripts/fetch_cifar100.sh fetches CIFAR-100\n' "$1" >&2
    exit 3
  fi
fi

"$root/scripts/build.sh" phasor-train
out=$root/runs/$name
"$train" --config "$root/configs/$name.json" --out "$out" "${data[@]}" </dev/null
printf 'run: the report is %s/report/report.html\n' "$out" >&2
