#!/usr/bin/env bash
# Installs what building and testing phasor needs on Debian 12, Ubuntu 22.04 and later.
#
#   scripts/setup.sh            install what is missing (asks nothing; does nothing when all is there)
#   scripts/setup.sh --check    only say what is missing
#
# Exit code 0: everything is there. 1: something is missing and could not be installed; the list is
# printed. A missing library is no obstacle where CMake may download it; a missing tool is.
set -euo pipefail

say() { printf 'setup: %s\n' "$*" >&2; }

# A compiler for C++20 as used here: g++ 12 or newer, or what CXX names (clang 14 with libomp).
have_compiler() {
  local compiler version
  for compiler in ${CXX:-g++ g++-12 g++-13 g++-14}; do
    command -v "$compiler" >/dev/null || continue
    version=$("$compiler" -dumpversion 2>/dev/null | cut -d. -f1)
    case $compiler in *clang*) ((version >= 14)) ;; *) ((version >= 12)) ;; esac && return 0
  done
  return 1
}

have_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/.*version //p') || true
  [[ -n $version && $(printf '3.22\n%s\n' "$version" | sort -V | head -n 1) == 3.22 ]]
}

# A header-only or compiled library, by its main header.
have_header() {
  local folder
  for folder in /usr/include /usr/local/include; do
    [[ -e $folder/$1 ]] && return 0
  done
  return 1
}

# package, how to see that it is not needed any more
missing_packages() {
  have_compiler || echo g++
  have_cmake || echo cmake
  command -v ninja >/dev/null || command -v make >/dev/null || echo ninja-build
  command -v curl >/dev/null || command -v wget >/dev/null || echo curl
  [[ -e /etc/ssl/certs/ca-certificates.crt || -d /etc/pki ]] || echo ca-certificates
  have_header eigen3/Eigen/Core || have_header Eigen/Core || echo libeigen3-dev
  have_header cxxopts.hpp || echo libcxxopts-dev
  have_header nlohmann/json.hpp || echo nlohmann-json3-dev
  have_header spdlog/spdlog.h || echo libspdlog-dev
  have_header doctest/doctest.h || echo doctest-dev
}

give_up() {
  say "$1"
  say "please install: $2"
  exit 1
}

case ${1:-} in
  '' | --check) ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

mapfile -t missing < <(missing_packages)
if ((${#missing[@]} == 0)); then
  say "everything is there (compiler, cmake, Eigen, cxxopts, nlohmann/json, spdlog, doctest)"
  exit 0
fi
say "missing: ${missing[*]}"
[[ ${1:-} == --check ]] && exit 1

command -v apt-get >/dev/null ||
  give_up "this system has no apt; the names below are Debian's" "${missing[*]}"
as_root=()
if ((EUID != 0)); then
  # -n: never ask for a password; whoever needs one can run the printed line.
  sudo -n true 2>/dev/null ||
    give_up "this user may not install packages; apt-get install does it as root" "${missing[*]}"
  as_root=(sudo -n)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q)
say "installing them with apt"
"${apt[@]}" update </dev/null >&2 || say "apt could not refresh its lists; trying with the old ones"
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
  give_up "apt could not install everything" "${missing[*]}"

# Where the default g++ is too old (Ubuntu 22.04: 11), version 12 is a package of its own.
if ! have_compiler; then
  say "g++ is older than 12: installing g++-12 beside it"
  "${apt[@]}" install -y --no-install-recommends g++-12 </dev/null >&2 ||
    give_up "no compiler for C++20 (g++ 12 or clang 14) could be installed" "g++-12"
fi
mapfile -t missing < <(missing_packages)
((${#missing[@]} == 0)) || give_up "some packages brought less than expected" "${missing[*]}"
say "done"
