#!/usr/bin/env bash
# Fetches CIFAR-100 (binary version) into DIR/cifar-100-binary: checked, resumed, never half there.
set -euo pipefail

url=${PHASOR_CIFAR100_URL:-https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz}
expected=${PHASOR_CIFAR100_SHA256:-58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec}
train_bytes=153700000
test_bytes=30740000

usage() {
  cat <<END
usage: scripts/fetch_cifar100.sh [DIR]

Downloads cifar-100-binary.tar.gz (161 MB), checks its SHA-256 and unpacks it as
DIR/cifar-100-binary (DIR is data unless given). Run it again to go on after a broken download;
where the data set already lies there, nothing is done.

Environment: PHASOR_CIFAR100_URL     another address of the archive
             PHASOR_CIFAR100_SHA256  another digest of it
Exit codes:  0 the data set is there, 2 usage, 3 the archive is not CIFAR-100, 5 download or disk.
END
}

fail() {  # code message
  echo "fetch_cifar100: $2" >&2
  exit "$1"
}

bytes_of() { wc -c <"$1" | tr -d ' '; }

complete() {  # folder
  [[ -f $1/train.bin && -f $1/test.bin ]] &&
    [[ $(bytes_of "$1/train.bin") == "$train_bytes" && $(bytes_of "$1/test.bin") == "$test_bytes" ]]
}

digest_of() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

# Goes on where a partial file ends.
download() {  # file
  if command -v curl >/dev/null; then
    curl --fail --location --silent --show-error --connect-timeout 30 --continue-at - \
      --output "$1" "$url"
  elif command -v wget >/dev/null; then
    wget --quiet --continue --output-document="$1" "$url"
  else
    fail 5 "needs curl or wget; install one of them (scripts/setup.sh does)"
  fi
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; fail 2 "unknown option: $1" ;;
esac
[[ $# -le 1 ]] || { usage >&2; fail 2 "takes one folder; got $# arguments"; }
for tool in tar gzip; do
  command -v "$tool" >/dev/null || fail 5 "needs $tool; install it (scripts/setup.sh does)"
done
command -v sha256sum >/dev/null || command -v shasum >/dev/null ||
  fail 5 "needs sha256sum or shasum to check the archive"

folder=${1:-data}
target=$folder/cifar-100-binary
archive=$folder/cifar-100-binary.tar.gz.part

if complete "$target"; then
  echo "$target is already there"
  exit 0
fi
[[ ! -e $target ]] ||
  fail 3 "$target exists but is not the whole data set; move it away and run this again"
mkdir -p "$folder" 2>/dev/null || fail 5 "cannot make the folder $folder"
[[ -w $folder ]] || fail 5 "cannot write to the folder $folder"

# A file from an earlier call may already be whole.
if [[ ! -f $archive || $(digest_of "$archive") != "$expected" ]]; then
  had=0
  [[ ! -f $archive ]] || had=$(bytes_of "$archive")
  if ((had > 0)); then
    echo "going on with $url from byte $had"
  else
    echo "fetching $url"
  fi
  code=0
  download "$archive" || code=$?
  # 33 and 22 (curl), 8 (wget): the server answered, but not from that byte on.
  if ((had > 0)) && [[ $code == 33 || $code == 22 || $code == 8 ]]; then
    echo "the server cannot go on from there; fetching it afresh"
    code=0
    download "$archive.new" || code=$?
    if ((code == 0)); then mv "$archive.new" "$archive"; else rm -f "$archive.new"; fi
  fi
  if ((code != 0)); then
    now=0
    [[ ! -f $archive ]] || now=$(bytes_of "$archive")
    fail 5 "the download of $url broke off with $now bytes here (code $code of the downloader); run this again to go on, or set PHASOR_CIFAR100_URL to a mirror"
  fi
fi

found=$(digest_of "$archive")
if [[ $found != "$expected" ]]; then
  size=$(bytes_of "$archive")
  rm -f "$archive"
  fail 3 "the archive from $url must have SHA-256 $expected; got $found ($size bytes); removed it, run this again or set PHASOR_CIFAR100_URL to a mirror"
fi

work=$(mktemp -d "$folder/.cifar-100-unpack.XXXXXX") || fail 5 "cannot write to the folder $folder"
trap 'rm -rf "$work"' EXIT
tar -xzf "$archive" -C "$work" || fail 5 "cannot unpack $archive into $folder (is the disk full?)"
complete "$work/cifar-100-binary" ||
  fail 3 "the archive from $url has no cifar-100-binary with $train_bytes + $test_bytes bytes"
mv "$work/cifar-100-binary" "$target" || fail 5 "cannot move the data set to $target"
rm -f "$archive"
echo "$target is ready"
