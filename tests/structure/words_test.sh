#!/bin/bash
# words_test.sh <scratch folder>: plants each forbidden word and checks that words.sh finds it, and that it accepts a clean tree, comments and the
# allowed files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
failed=0
# It is emptied several times: never a folder of another test.
[ ! -e "$scratch" ] || [ -f "$scratch/of_words_test" ] || { echo "$scratch is there already, and not this test's"; exit 1; }

fresh() {
  rm -rf "$scratch"
  mkdir -p "$scratch"
  touch "$scratch/of_words_test"
  mkdir -p "$scratch"/{include,net,device/{simt,exec},host,bootstrap,tools,tests,examples,perf}
}
expect() {
  local want=$1 file=$2 line=$3 got=clean
  fresh
  echo "$line" >"$scratch/$file"
  bash "$here/words.sh" "$scratch" >"$scratch/report" || got=found
  [ "$got" = found ] && ! grep -qF "$file:1:" "$scratch/report" && got="found elsewhere"
  [ "$got" = "$want" ] && return
  echo "'$line' in $file: $got, expected $want"
  failed=1
}

expect found device/rma.cuh 'int i = threadIdx.x;'
expect found tests/a.cpp 'kernel<<<1, 2>>>();'
expect found examples/a.cpp '__shared__ int x;'
expect found perf/a.cpp '__syncthreads();'
expect found device/rma.cuh '#ifdef __CUDACC__'
expect found device/rma.cuh '#ifdef __CUDA__'
expect found host/a.cpp '#if defined(__CUDA_ARCH__)'
expect found device/order.cuh 'asm volatile("");'
expect found device/route.cuh '#include "chime/device/simt/threads/fiber.hpp"'
expect found host/a.cpp '#include <sys/socket.h>'
expect clean net/a.cpp '#include <sys/socket.h>'
expect found host/a.cpp '#include "../include/chime/chime.h"'
expect found examples/a.cpp '#include "host/errors/log.hpp"'
expect found host/a.cpp '#include "host/transport/mlx5/view/view.hpp"'
expect found host/a.cpp 'std::unique_ptr<Mlx5Transport> nic;'
expect clean device/rma.cuh '// no __syncthreads here: threadIdx'
expect clean device/exec/exec_cuda.cuh '__syncthreads(); threadIdx.x;'
expect clean device/exec/exec.cuh '#ifdef __CUDACC__'
expect clean device/exec/ptx.cuh 'asm volatile("");'
expect clean device/exec/ptx_memory.cuh 'asm volatile("");'
expect clean device/simt/names.hpp 'struct threadIdx;'
expect clean tests/a.cpp 'std::vector<std::vector<std::vector<int>>> v;'
fresh
touch "$scratch"/host/{1..20}.cpp
bash "$here/words.sh" "$scratch" >"$scratch/report" || { echo "20 files in a room are too many"; failed=1; }
touch "$scratch"/host/21.cpp
bash "$here/words.sh" "$scratch" >"$scratch/report" && { echo "21 files in a room are not seen"; failed=1; }
fresh
touch "$scratch"/net/{1..25}.cpp
bash "$here/words.sh" "$scratch" >"$scratch/report" || { echo "25 files in a folder are too many"; failed=1; }
for folder in net tests tests/models/queues; do
  fresh
  mkdir -p "$scratch/$folder"
  touch "$scratch/$folder"/{1..26}.py
  bash "$here/words.sh" "$scratch" >"$scratch/report"
  grep -qF "./$folder: 26 files" "$scratch/report" || { echo "26 files in $folder are not seen"; failed=1; }
done
exit $failed
