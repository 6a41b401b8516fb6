#!/usr/bin/env bash
# Fuzzes the readers of foreign bytes with libFuzzer (clang): configurations, data sets and their
# manifests, safetensors files.
#
#   scripts/fuzz.sh                 two minutes, shared among the three
#   scripts/fuzz.sh 8h              a long run: 8 hours each (also 90s, 10m)
#   scripts/fuzz.sh 10m config      only one: config, data_set or safetensors
#
# An input that breaks something is kept in the build folder as TARGET-crash-*, and makes this exit
# with 1. Add it to tests/fuzz/corpus with the fix. New inputs are collected in TARGET-found/.
#
# PHASOR_BUILD_DIR  where to build (default: build-fuzz/ beside scripts/)
# CXX               the compiler (default: clang++)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${PHASOR_BUILD_DIR:-$root/build-fuzz}

usage() {
  sed -n '2,15s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

targets=(config data_set safetensors)
case ${1:-40s} in
  *[0-9]s) seconds=${1:-40s}; seconds=${seconds%s} ;;
  *[0-9]m) seconds=$((${1%m} * 60)) ;;
  *[0-9]h) seconds=$((${1%h} * 3600)) ;;
  *) usage ;;
esac
if (($# > 1)); then
  [[ " ${targets[*]} " == *" $2 "* ]] || usage
  targets=("$2")
fi

arguments=(-S "$root" -B "$build" -DCMAKE_CXX_COMPILER="${CXX:-clang++}" -DPHASOR_FUZZ=ON)
if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  arguments+=(-G Ninja)
fi
read -ra extra <<<"${PHASOR_CMAKE_ARGS:-}"
cmake "${arguments[@]}" "${extra[@]}" </dev/null >&2
cmake --build "$build" --parallel "${PHASOR_JOBS:-$(nproc)}" --target "${targets[@]/#/fuzz_}" \
  </dev/null >&2

tests=$root/tests
status=0
for target in "${targets[@]}"; do
  case $target in
    config) seeds=("$tests"/config/corpus/{valid,invalid,reader_only} "$root/configs"
                   "$tests/fuzz/corpus/config") ;;
    data_set) seeds=("$tests/fuzz/corpus/data") ;;
    safetensors) seeds=("$tests/fuzz/corpus/safetensors") ;;
  esac
  mkdir -p "$build/$target-found"
  echo "fuzz: $target for $seconds s" >&2
  "$build/bin/fuzz_$target" "$build/$target-found" "${seeds[@]}" -max_total_time="$seconds" \
    -artifact_prefix="$build/$target-" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -verbosity=0 </dev/null || status=1
done
exit $status
