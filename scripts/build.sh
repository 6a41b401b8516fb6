#!/usr/bin/env bash
# Sets up and builds phasor: what run.sh and test.sh have in common.
#
#   scripts/build.sh [TARGET ...]      (default: everything)
#
# PHASOR_BUILD_DIR   where to build (default: build/ beside scripts/)
# PHASOR_JOBS        compilers at a time (default: one per core, and per GiB of memory)
# PHASOR_CMAKE_ARGS  further arguments for cmake, separated by blanks
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${PHASOR_BUILD_DIR:-$root/build}

say() { printf 'build: %s\n' "$*" >&2; }

"$root/scripts/setup.sh" || say "going on without: CMake downloads the libraries that it may"

# The compiler: the build folder's own, CXX, else the default where it is new enough.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt" 2>/dev/null || true)
if [[ -z $compiler && -z ${CXX:-} ]]; then
  for compiler in g++ g++-12 g++-13 g++-14; do
    version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1) || continue
    ((version >= 12)) && break
  done
  export CXX=$compiler
fi

arguments=(-S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release)
if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  arguments+=(-G Ninja)
fi
# Warnings are errors under the compilers that the project is kept clean with; a newer compiler's
# new warnings must not stop a user.
case $("${compiler:-$CXX}" --version 2>/dev/null | head -n 1) in
  *clang\ version\ 14.* | *++*\ 12.*) arguments+=(-DPHASOR_WERROR=ON) ;;
esac
read -ra extra <<<"${PHASOR_CMAKE_ARGS:-}"
cmake "${arguments[@]}" "${extra[@]}" </dev/null >&2

jobs=${PHASOR_JOBS:-}
if [[ -z $jobs ]]; then
  jobs=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || true)
  if [[ -n $memory ]] && ((memory < jobs)); then
    jobs=$((memory > 1 ? memory : 1))
  fi
fi
targets=()
(($# == 0)) || targets=(--target "$@")
cmake --build "$build" --parallel "$jobs" "${targets[@]}" </dev/null >&2
