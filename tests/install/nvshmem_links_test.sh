#!/bin/bash
# nvshmem_links_test.sh <source folder> <scratch folder> <C compiler>
#
# The links of <libdir>/nvshmem-compat lead to their targets where the libraries' folder is an absolute one beside the prefix, and the prefix has a
# space in its name. A project of that part alone: the targets of its links need not exist. The library's own name is there, before 1.0 with the minor version.
set -eu
source=$1 scratch=$2 cc=$3

rm -rf "$scratch" && mkdir -p "$scratch/project"
ln -s "$source/include" "$source/cmake" "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(links VERSION ${LINKS_VERSION} LANGUAGES C)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(cmake/ChimeNvshmem.cmake)
CMAKE

# links_are <prefix> <libdir option> <libdir> <version> <soversion>: installs, and checks the targets of links.
links_are() {
  local prefix=$1 option=$2 libdir=$3 version=$4 soversion=$5 compat=$3/nvshmem-compat
  rm -rf "$scratch/build"
  { cmake -S "$scratch/project" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_INSTALL_PREFIX="$prefix" -DLINKS_VERSION="$version" \
    -DCMAKE_INSTALL_LIBDIR="$option" && cmake --build "$scratch/build" && cmake --install "$scratch/build"; } >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
  is_link "$compat/lib/libnvshmem.so" "$libdir/libchime.so"
  is_link "$compat/lib/libchime.so.$soversion" "$libdir/libchime.so"
  is_link "$compat/include/nvshmem.h" "$prefix/include/compat/nvshmem.h"
}
is_link() {
  [ -L "$1" ] || { echo "there is no $1, but:"; find "$scratch" -name libnvshmem.so; exit 1; }
  [ "$(readlink -m "$1")" = "$(readlink -m "$2")" ] || { echo "$1 leads to $(readlink -m "$1"), not to $2"; exit 1; }
}

links_are "$scratch/prefix" lib/of-this "$scratch/prefix/lib/of-this" 7.1.2 7
links_are "$scratch/a prefix" "$scratch/libraries" "$scratch/libraries" 0.7.1 0.7
