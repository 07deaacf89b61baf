#!/bin/bash
# check_headers_test.sh <softgpu folder> <scratch folder> <clang>: headers of a toolkit in clang's search path are refused, with their names; open
# ones, and the softgpu's own headers, are not. Without clang: the check alone.
set -eu
softgpu=$1 scratch=$2 clang=$3
rm -rf "$scratch" && mkdir -p "$scratch/toolkit" && cd "$scratch"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

licence='/* Copyright 2024 NVIDIA Corporation.  All rights reserved. NOTICE TO LICENSEE: */'
echo "$licence" >toolkit/cuda_texture_types.h
echo '/* Copyright NVIDIA Corporation. Licensed under the Apache License, Version 2.0 */' >toolkit/open.h
echo '// Copyright (c) 2018 NVIDIA Corporation
// Distributed under the Boost Software License v1.0 (boost.org/LICENSE_1_0.txt)' >toolkit/boost.h
echo '// no licence at all' >toolkit/cuda_fp16.h
echo '// of a program' >toolkit/mine.h

# refused <header, or nothing> <depfile's headers...>
refused() {
  local name=$1
  shift
  printf 'program.o: program.cu \\\n  %s \\\n  %s\n' "$softgpu/words/cuda_runtime.h" "$*" >program.d
  : >program.cu
  if "$softgpu/check_headers" "$softgpu/words" program.d 2>said; then
    [ -z "$name" ] || fail "$name was not refused"
  elif [ -z "$name" ]; then
    fail "refused: $(cat said)"
  else
    grep -q "$name" said || fail "the words do not name $name: $(cat said)"
  fi
}
refused cuda_texture_types.h toolkit/mine.h toolkit/cuda_texture_types.h
refused toolkit/cuda_fp16.h toolkit/cuda_fp16.h
refused '' toolkit/mine.h toolkit/open.h toolkit/boost.h "$softgpu/words/cuda_fp16.h"

# A missing depfile: the read headers are unknown.
for list in absent.d empty.d; do
  : >empty.d
  "$softgpu/check_headers" "$softgpu/words" $list 2>said && fail "without a list of headers nothing is refused"
  grep -q "$list" said || fail "the words do not name $list: $(cat said)"
done

# In a folder whose name has a blank.
mkdir -p 'toolkit of cuda'
cp toolkit/cuda_texture_types.h 'toolkit of cuda/cuda_fp8.h'
refused cuda_fp8.h toolkit/mine.h 'toolkit\ of\ cuda/cuda_fp8.h'

# Headers that clang itself finds: one that the softgpu lacks, in a folder of its default search path.
if [ "$clang" ]; then
  echo '#include <cuda_texture_types.h>
__global__ void kernel(int* p) { *p = threadIdx.x; }' >program.cu
  CPLUS_INCLUDE_PATH=$scratch/toolkit "$clang" -x cuda --cuda-gpu-arch=sm_90 --cuda-path=/nonexistent -nocudainc -nocudalib \
    -std=c++20 -I"$softgpu/words" -include cuda_runtime.h --cuda-device-only -S -MD -MF program.d program.cu -o program.ptx
  "$softgpu/check_headers" "$softgpu/words" program.d 2>said && fail "a toolkit's header that clang found was not refused"
  grep -q cuda_texture_types.h said || fail "the words do not name the header: $(cat said)"
fi
exit $failed
