#!/usr/bin/env bash
# Tests scripts/fetch_cifar100.sh against a local server: whole, broken off and resumed, damaged.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fetch=$here/../../scripts/fetch_cifar100.sh
for tool in python3 curl sha256sum; do
  command -v "$tool" >/dev/null || { echo "skipped: needs $tool"; exit 77; }
done

work=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$work"' EXIT

# An archive with files of the right sizes: zeros, so that it packs small.
mkdir -p "$work/pack/cifar-100-binary" "$work/www"
truncate -s 153700000 "$work/pack/cifar-100-binary/train.bin"
truncate -s 30740000 "$work/pack/cifar-100-binary/test.bin"
tar -czf "$work/www/good.tar.gz" -C "$work/pack" cifar-100-binary
mkdir -p "$work/small/cifar-100-binary"
echo x >"$work/small/cifar-100-binary/train.bin"
tar -czf "$work/www/small.tar.gz" -C "$work/small" cifar-100-binary
good=$(sha256sum "$work/www/good.tar.gz" | cut -d ' ' -f 1)
small=$(sha256sum "$work/www/small.tar.gz" | cut -d ' ' -f 1)
size=$(wc -c <"$work/www/good.tar.gz")

python3 "$here/range_server.py" "$work/www" "$work/port" >"$work/requests" 2>&1 &
server=$!
for _ in $(seq 100); do [[ -s $work/port ]] && break; sleep 0.1; done
base=http://127.0.0.1:$(cat "$work/port")

failures=0
run() {  # name expected-code expected-text command...
  local name=$1 code=$2 text=$3 output got=0
  shift 3
  output=$("$@" 2>&1) || got=$?
  if [[ $got == "$code" && $output == *"$text"* ]]; then
    echo "ok: $name"
  else
    echo "FAILED: $name: exit $got (expected $code), output: $output (expected: $text)"
    failures=$((failures + 1))
  fi
}
check() {  # name condition...
  local name=$1
  shift
  if "$@"; then echo "ok: $name"; else echo "FAILED: $name"; failures=$((failures + 1)); fi
}
from() { env no_proxy=127.0.0.1 PHASOR_CIFAR100_URL="$base/$1" PHASOR_CIFAR100_SHA256="$2" "$fetch" "$3"; }
clean() { [[ $(ls -A "$1") == cifar-100-binary ]]; }

run "whole download" 0 "is ready" from good.tar.gz "$good" "$work/a"
check "only the data set remains" clean "$work/a"
check "content" cmp -s "$work/pack/cifar-100-binary/test.bin" "$work/a/cifar-100-binary/test.bin"
run "a second call does nothing" 0 "already there" from nothing "$good" "$work/a"

run "B42: a transfer that breaks off" 5 "run this again" from cut/good.tar.gz "$good" "$work/b"
check "no data set from a broken transfer" test ! -e "$work/b/cifar-100-binary"
check "the part is kept" test -s "$work/b/cifar-100-binary.tar.gz.part"
run "it is resumed" 0 "is ready" from good.tar.gz "$good" "$work/b"
check "by a range request" grep -q "range $((size / 2))-" "$work/requests"
check "only the data set remains after resuming" clean "$work/b"

mkdir "$work/c" && head -c 1000 "$work/www/good.tar.gz" >"$work/c/cifar-100-binary.tar.gz.part"
run "a server without ranges" 0 "is ready" from plain/good.tar.gz "$good" "$work/c"

mkdir "$work/h" && head -c 1000 "$work/www/good.tar.gz" >"$work/h/cifar-100-binary.tar.gz.part"
run "no server" 5 "run this again" env no_proxy=127.0.0.1 PHASOR_CIFAR100_URL=http://127.0.0.1:9/x \
  PHASOR_CIFAR100_SHA256="$good" "$fetch" "$work/h"
check "the part survives that" test "$(wc -c <"$work/h/cifar-100-binary.tar.gz.part")" = 1000

run "B42: another digest" 3 "must have SHA-256" from small.tar.gz "$good" "$work/d"
check "the wrong archive is removed" test -z "$(ls -A "$work/d")"
run "another content" 3 "has no cifar-100-binary" from small.tar.gz "$small" "$work/e"
check "nothing unpacked is left" test ! -e "$work/e/cifar-100-binary"
run "missing at the server" 5 "download of" from nothing "$good" "$work/f"
mkdir -p "$work/g/cifar-100-binary"
run "something else in its place" 3 "move it away" from good.tar.gz "$good" "$work/g"
run "folder that cannot be made" 5 "cannot make" from good.tar.gz "$good" "$work/port/x"
run "unknown option" 2 "unknown option" "$fetch" --nonsense
run "too many arguments" 2 "takes one folder" "$fetch" a b

echo "$failures failures"
[[ $failures == 0 ]]
