#!/bin/bash
# nvshmem_test.sh <build folder> <scratch folder> <C++ compiler>
#
# Builds for NVSHMEM alone, a Makefile and a CMake project, find <libdir>/nvshmem-compat of an install prefix instead; builds that do not name it
# never find it.
set -eu
build=$1 scratch=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prefix.sh"
prefix=$(installed_and_moved "$build" "$scratch")
export NVSHMEM_HOME
NVSHMEM_HOME=$(dirname "$(find "$prefix" -path '*nvshmem-compat/lib')")
fail() { echo "$1"; exit 1; }

runs_as_two() {
  timeout 60 "$prefix/bin/chime-run" --no-prefix -n 2 "$1" >"$scratch/said" || fail "$1 fails: $(cat "$scratch/said")"
  [ "$(sort "$scratch/said")" = "$(printf 'PE 0 of 2 got 101\nPE 1 of 2 got 100')" ] || fail "$1 says something else: $(cat "$scratch/said")"
  ldd "$1" | grep -F libchime | grep -qF "$prefix" || fail "$1 does not load libchime from $prefix: $(ldd "$1")"
}

by_make() {
  cp "$here/nvshmem_consumer/main.cpp" "$scratch/out"
  make -C "$scratch/out" -f "$here/nvshmem_consumer/Makefile" CXX="$cxx" >"$scratch/make.log" 2>&1 || fail "$(cat "$scratch/make.log")"
  ! grep -q warning "$scratch/make.log" || fail "$(cat "$scratch/make.log")"
  runs_as_two "$scratch/out/linked"
  runs_as_two "$scratch/out/archive"
}

configure() {  # <folder> <option...>
  cmake -S "$here/nvshmem_consumer" -B "$scratch/$1" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" "${@:2}" >"$scratch/$1.log" 2>&1
}
by_cmake() {
  local option program
  for option in CMAKE_PREFIX_PATH="$NVSHMEM_HOME" NVSHMEM_ROOT="$NVSHMEM_HOME" NVSHMEM_DIR="$NVSHMEM_HOME/lib/cmake/nvshmem"; do
    rm -rf "$scratch/project"
    (unset NVSHMEM_HOME && configure project -D"$option") || fail "$option: $(cat "$scratch/project.log")"
  done
  cmake --build "$scratch/project" || fail "the project does not build"
  for program in by_parts by_one; do runs_as_two "$scratch/project/$program"; done
  if configure shadowed -DCMAKE_PREFIX_PATH="$prefix"; then fail "Chime's prefix has an NVSHMEM for builds that do not name it"; fi
  grep -q 'NVSHMEMConfig.cmake' "$scratch/shadowed.log" || fail "another error: $(cat "$scratch/shadowed.log")"
}

# Libraries that are linked or opened by a file name.
by_names() {
  local name
  for name in libnvshmem_host.so libnvshmem_host.so.3 libnvshmem.so; do
    nm -D "$NVSHMEM_HOME/lib/$name" | grep -q ' T nvshmem_init$' || fail "$name has no nvshmem_init"
  done
  [ -z "$(nm --defined-only -g "$NVSHMEM_HOME/lib/libnvshmem_device.a" | grep ' ')" ] || fail "libnvshmem_device.a has a name"
}

by_names
by_cmake
command -v make >/dev/null || { echo "skipped: no make on this machine (scripts/setup ci installs it)"; exit 77; }
by_make
