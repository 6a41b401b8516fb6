#!/usr/bin/env bash
# B64, as a user: install, move, and add one norm by each of the three routes with exactly one new file.
#
# The build under test: PHASOR_SOURCE_DIR, PHASOR_BINARY_DIR; its settings: PHASOR_GENERATOR,
# PHASOR_CXX, PHASOR_CXX_FLAGS, PHASOR_BUILD_TYPE, PHASOR_SANITIZE.
set -euo pipefail
here=$PHASOR_SOURCE_DIR/tests/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '== %s\n' "$*"; }
die() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
# Nothing of this environment may help to find the package.
clean() { env -i PATH="$PATH" HOME="$work" LC_ALL=C "$@"; }
configure() { clean cmake -G "$PHASOR_GENERATOR" -DCMAKE_CXX_COMPILER="$PHASOR_CXX" "$@" >/dev/null; }

step 'install, and move'
cmake --install "$PHASOR_BINARY_DIR" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved
train=$prefix/bin/phasor-train
package=$(dirname "$(find "$prefix" -name phasor-config.cmake)")
for forbidden in "$PHASOR_SOURCE_DIR" "$PHASOR_BINARY_DIR" "$work" -march -mavx -mfma ffp-contract=fast; do
  if grep -rnF -e "$forbidden" "$package" "$prefix/include" | grep -v NormPlugin.cmake; then
    die "an exported file holds $forbidden"
  fi
done
for header in "$PHASOR_SOURCE_DIR"/include/phasor/*.h; do
  cmp "$header" "$prefix/include/phasor/${header##*/}"
done

sweep() { # program, name, further arguments
  local program=$1 name=$2
  shift 2
  "$program" --config "$here/sweep.json" --out "$work/results/$name" --jobs 1 "$@" \
    >"$work/$name.out" 2>"$work/$name.err" || die "$name: $(cat "$work/$name.err")"
  [[ $(find "$work/results/$name/cells" -name curve.json | wc -l) == 2 ]] || die "$name: not two cells"
}

step 'a shared object, and a program of one'"'"'s own'
cp -r "$here/project" "$work/project"
cp "$here/huber.cpp" "$work/project"
configure -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/project/build" >/dev/null
"$work/project/build/embed"
plugin=$work/project/build/huber.so
if readelf -d "$plugin" | grep NEEDED | grep -i phasor; then die 'the plugin links phasor'; fi
"$train" norms huber --plugin "$plugin"
"$train" check-norm "$plugin"
sweep "$train" plugin --plugin "$plugin"

step 'the project of new-norm, as it is'
(cd "$work" && "$train" new-norm softclip)
configure -S "$work/softclip" -B "$work/softclip/build" -DCMAKE_PREFIX_PATH="$prefix"
cmake --build "$work/softclip/build" >/dev/null
"$train" check-norm "$work/softclip/build/softclip.so"
"$train" norms softclip --plugin "$work/softclip/build/softclip.so"

step 'a file in src/norms'
export PHASOR_COPY=$work/copy PHASOR_COMPILED=$work/compiled
mkdir "$PHASOR_COPY"
cp -r "$PHASOR_SOURCE_DIR"/{CMakeLists.txt,configs,include,scripts,src} "$PHASOR_COPY"
cp "$here/huber.cpp" "$PHASOR_COPY/src/norms"
further=()
for source in "$PHASOR_BINARY_DIR"/_deps/*-src; do # libraries that the build had to fetch
  [[ -d $source ]] || continue
  name=$(basename "$source" -src)
  further+=("-DFETCHCONTENT_SOURCE_DIR_${name^^}=$source")
done
build=$work/build
program() { # further arguments of cmake
  configure -S "$PHASOR_COPY" -B "$build" -DPHASOR_TESTS=OFF -DCMAKE_BUILD_TYPE="$PHASOR_BUILD_TYPE" \
    -DCMAKE_CXX_FLAGS="$PHASOR_CXX_FLAGS" -DPHASOR_SANITIZE="$PHASOR_SANITIZE" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$here/reuse_object.sh" "${further[@]}" "$@"
  : >"$PHASOR_COMPILED"
  cmake --build "$build" --target phasor-train >"$work/build.log" || die "$(cat "$work/build.log")"
  grep -q '/huber.cpp$' "$PHASOR_COMPILED" || die 'the norm was not compiled'
  "$build/bin/phasor-train" norms huber
}
program
sweep "$build/bin/phasor-train" source

step 'the same file in a folder of PHASOR_NORM_DIRS'
mkdir "$work/mine"
mv "$PHASOR_COPY/src/norms/huber.cpp" "$work/mine"
program -DPHASOR_NORM_DIRS="$work/mine"
sweep "$build/bin/phasor-train" folder

step 'the same bits by all three'
for lr in 0.1 0.4; do
  one=("$work"/results/plugin/cells/huber-lr"$lr"-*/curve.json)
  for route in source folder; do
    cmp "${one[0]}" "$work/results/$route/cells/huber-lr$lr-"*/curve.json
  done
done
"$train" compare "$work/results/source" "$work/results/folder" --equal >/dev/null
step 'passed'
