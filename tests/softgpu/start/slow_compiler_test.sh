#!/bin/bash
# slow_compiler_test.sh <chime-run> <program> <scratch folder>: PEs that compile their kernels for longer than they wait for each other find each
# other all the same: a PE's own work does not count as waiting.
set -eu
run=$1 program=$2 scratch=$3
rm -rf "$scratch" && mkdir -p "$scratch"
printf '#!/bin/sh\nsleep 2\nexec g++ "$@"\n' >"$scratch/slow_compiler"
chmod +x "$scratch/slow_compiler"
export CHIME_SOFTGPU_CACHE=$scratch/cache CHIME_SOFTGPU_CXX=$scratch/slow_compiler CHIME_INIT_TIMEOUT=5
"$run" -n 2 "$program"
made=$(ls "$scratch"/cache/*.so | wc -l)
[ "$made" -gt 3 ] || { echo "only $made kernels were compiled: that took no time"; exit 1; }
