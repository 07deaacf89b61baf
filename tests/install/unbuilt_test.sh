#!/bin/bash
# unbuilt_test.sh <source folder> <scratch folder> <C++ compiler> <C compiler>
#
# An install before the build reports what is missing and how to build it, and copies nothing.
set -eu
source=$1 scratch=$2 cxx=$3 cc=$4

rm -rf "$scratch" && mkdir -p "$scratch"
cmake -S "$source" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_COMPILER="$cc" \
  -DCHIME_TESTS=OFF -DCHIME_EXAMPLES=OFF -DCHIME_PERF=OFF >"$scratch/configure.log"
if cmake --install "$scratch/build" --prefix "$scratch/prefix" >"$scratch/install.log" 2>&1; then
  echo "an install of nothing succeeded:" && cat "$scratch/install.log" && exit 1
fi
tr -s ' \n' ' ' <"$scratch/install.log" >"$scratch/words"
for words in "these are not built: chime, chime-run" "cmake --build $scratch/build --target installed"; do
  grep -qF "$words" "$scratch/words" || { echo "'$words' is not in:"; cat "$scratch/install.log"; exit 1; }
done
[ ! -e "$scratch/prefix" ] || { echo "it left something behind:"; find "$scratch/prefix"; exit 1; }
