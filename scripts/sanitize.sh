#!/usr/bin/env bash
# Builds the tests with sanitizers (clang) and runs them.
#
#   scripts/sanitize.sh address            AddressSanitizer and UndefinedBehaviorSanitizer
#   scripts/sanitize.sh thread             ThreadSanitizer, which understands OpenMP through Archer
#   scripts/sanitize.sh KIND [ARGS ...]    further arguments for ctest (default: -L fast)
#
# PHASOR_BUILD_DIR  where to build (default: build-KIND/ beside scripts/)
# PHASOR_JOBS       compilers and tests at a time (default: one per core)
# CXX               the compiler (default: clang++). Not g++ for thread: its OpenMP library is not
#                   instrumented, so that correct programs are reported.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

kind=${1:-}
case $kind in
  address)
    sanitizers=address,undefined
    # Functions are called through pointers of their own type only; leaks count as errors.
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
    ;;
  thread)
    sanitizers=thread
    # Archer tells ThreadSanitizer of OpenMP's joins; libomp itself is not instrumented.
    export TSAN_OPTIONS=${TSAN_OPTIONS:-ignore_noninstrumented_modules=1:halt_on_error=1}
    archer=$(find /usr/lib/llvm-*/lib -name libarcher.so 2>/dev/null | sort -V | tail -n 1)
    [[ -z $archer ]] || export OMP_TOOL_LIBRARIES=${OMP_TOOL_LIBRARIES:-$archer}
    ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
shift
(($# > 0)) || set -- -L fast

compiler=${CXX:-clang++}
command -v "$compiler" >/dev/null || {
  echo "sanitize: $compiler is missing (apt-get install clang libomp-dev)" >&2
  exit 2
}
build=${PHASOR_BUILD_DIR:-$root/build-$kind}
jobs=${PHASOR_JOBS:-$(nproc)}
arguments=(-S "$root" -B "$build" -DCMAKE_CXX_COMPILER="$compiler" -DPHASOR_SANITIZE="$sanitizers")
if [[ ! -e $build/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  arguments+=(-G Ninja)
fi
read -ra extra <<<"${PHASOR_CMAKE_ARGS:-}"
cmake "${arguments[@]}" "${extra[@]}" </dev/null >&2
cmake --build "$build" --parallel "$jobs" </dev/null >&2
# What libomp keeps for its threads until the end is not ours.
printf 'leak:libomp.so\n' >"$build/leaks-not-ours"
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$build/leaks-not-ours:print_suppressions=0}
exec ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$jobs" "$@" </dev/null
