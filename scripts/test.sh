#!/usr/bin/env bash
# Sets up, builds and tests; ends with the summary of ctest.
#
#   scripts/test.sh         all tests
#   scripts/test.sh fast    those labelled fast (under a minute)
#
# PHASOR_BUILD_DIR, PHASOR_JOBS and PHASOR_CMAKE_ARGS as in scripts/build.sh.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

case ${1:-all} in
  all) select=() ;;
  fast) select=(-L fast) ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

"$root/scripts/build.sh"
exec ctest --test-dir "${PHASOR_BUILD_DIR:-$root/build}" --output-on-failure --no-tests=error \
  --parallel "${PHASOR_JOBS:-$(nproc)}" "${select[@]}" </dev/null
