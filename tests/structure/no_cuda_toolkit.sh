#!/bin/bash
# no_cuda_toolkit.sh <build folder>: a build for the CPU device or the softgpu uses no file of a CUDA toolkit, even on a machine with one. Headers of
# the softgpu have the same names, and belong to Chime.
set -u
cd "$1" || exit 1
toolkit='/cuda(-[0-9.]+)?/(bin|include|lib|lib64|targets)([/" ]|$)|/cuda_(runtime|fp16|bf16)[a-z_]*\.h|nvcc'

[ -s compile_commands.json ] || { echo "no compile_commands.json in $1: configure with a preset"; exit 1; }
# Every file that a compiler opened, from the dependencies that ninja recorded.
dependencies=$(ninja -t deps 2>/dev/null | grep -v '/softgpu/words/')
grep -q 'chime/chime\.h' <<<"$dependencies" || { echo "ninja knows no dependencies in $1: build first"; exit 1; }

! { grep -nE -- "$toolkit" compile_commands.json || grep -E -- "$toolkit" <<<"$dependencies"; }
