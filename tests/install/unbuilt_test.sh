#!/bin/bash
# unbuilt_test.sh <source folder> <scratch folder> <C++ compiler> <C compiler>
#
# An install before the build reports what is missing and how to build it, and copies nothing. The build is configured for a folder of libraries
# outside of the prefix, which chime.pc then names.
set -eu
source=$1 scratch=$2 cxx=$3 cc=$4

rm -rf "$scratch" && mkdir -p "$scratch"
cmake -S "$source" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc" \
  -DCHIME_TESTS=OFF -DCHIME_EXAMPLES=OFF -DCHIME_PERF=OFF \
  -DCMAKE_INSTALL_PREFIX="$scratch/prefix" -DCMAKE_INSTALL_LIBDIR="$scratch/apart/lib" \
  >"$scratch/configure.log"
if cmake --install "$scratch/build" --prefix "$scratch/prefix" >"$scratch/install.log" 2>&1; then
  echo "an install of nothing succeeded:" && cat "$scratch/install.log" && exit 1
fi
tr -s ' \n' ' ' <"$scratch/install.log" >"$scratch/words"
for words in "these are not built: chime, chime-run" "cmake --build $scratch/build --target installed"; do
  grep -qF "$words" "$scratch/words" || { echo "'$words' is not in:"; cat "$scratch/install.log"; exit 1; }
done
for left in prefix apart; do
  [ ! -e "$scratch/$left" ] || { echo "it left something behind:"; find "$scratch/$left"; exit 1; }
done

command -v pkg-config >/dev/null || { echo "skipped: no pkg-config on this machine"; exit 77; }
mkdir -p "$scratch/prefix/include" "$scratch/apart/lib/pkgconfig"
cp "$scratch/build/"*.pc "$scratch/apart/lib/pkgconfig"
# expect <package> <variable> <folder>
expect() {
  local found
  found=$(PKG_CONFIG_PATH=$scratch/apart/lib/pkgconfig pkg-config --variable="$2" "$1")
  [ "$(realpath "$found")" = "$(realpath "$3")" ] || { echo "$1.pc: $2 is $found, not $3"; exit 1; }
}
expect chime prefix "$scratch/prefix"
expect chime libdir "$scratch/apart/lib"
expect chime includedir "$scratch/prefix/include"
expect chime-nvshmem includedir "$scratch/prefix/include"
