#!/bin/bash
# install_test.sh find_package|pkg_config <build folder> <scratch folder> <C++ compiler> <C compiler> <version>
#
# Installs the build to a prefix, builds the consumer in the named way, runs its C++ program alone and as two PEs, and its C program.
set -eu
way=$1 build=$2 scratch=$3 cxx=$4 cc=$5 version=$6
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
. "$(dirname "$0")/prefix.sh"
prefix=$(installed_and_moved "$build" "$scratch")

from_find_package() {
  cmake -S "$consumer" -B "$scratch/out" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc"
  cmake --build "$scratch/out"
}

from_pkg_config() {
  local flags libraries
  PKG_CONFIG_PATH=$(folder_of_pc "$prefix")
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags chime) libraries=$(pkg-config --libs chime)
  # shellcheck disable=SC2086
  "$cxx" -std=c++20 -O2 -Wall -Wextra -Werror $flags "$consumer/kernel.cpp" -o "$scratch/out/consumer_cxx" $libraries
  # shellcheck disable=SC2086
  "$cc" -std=c11 -Wall -Wextra -Werror $flags "$consumer/host.c" -o "$scratch/out/consumer_c" $libraries
  # shellcheck disable=SC2046
  "$cc" -std=c11 -Wall -Wextra -Werror "$consumer/nvshmem.c" -o "$scratch/out/consumer_nvshmem" $(pkg-config --cflags --libs chime-nvshmem)
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir chime)
  export LD_LIBRARY_PATH
}

"from_$way"
library=libchime.so.$(soversion_of "$version")
has_soname "$(find "$prefix" -name libchime.so)" "$library" || exit 1
readelf -d "$scratch/out/consumer_cxx" | grep -qF "[$library]" || { echo "the consumer does not need $library:"; readelf -d "$scratch/out/consumer_cxx"; exit 1; }
# The programs must use the installed library, not the one in the build folder.
ldd "$scratch/out/consumer_cxx" | grep -F libchime | grep -F "$prefix" ||
  { echo "the consumer does not load libchime from $prefix:"; ldd "$scratch/out/consumer_cxx"; exit 1; }
for program in "$scratch/out/consumer_cxx" "$scratch/out/consumer_c" "$scratch/out/consumer_nvshmem"; do
  timeout 60 "$program"
done
timeout 60 "$prefix/bin/chime-run" -n 2 "$scratch/out/consumer_cxx"
timeout 60 "$prefix/bin/chime-info" --variables >"$scratch/info.txt"
grep -q CHIME_SYMMETRIC_SIZE "$scratch/info.txt" || { echo "chime-info does not list the variables"; exit 1; }
timeout 60 "$prefix/bin/chime-doctor" --version || { echo "chime-doctor does not start"; exit 1; }
