#!/bin/bash
# cuda_test.sh find_package|pkg_config|cpu_library <build folder> <scratch folder> [<nvcc>]
#
# A CUDA user's program, compiled by nvcc against an install prefix in the named way: in a project of each form in cuda_consumer/CMakeLists.txt, or by
# one command with pkg-config. It runs where there is a GPU. Without one it must start, find libchime and report the missing GPU; kernels of a host
# compiler in the same project run. cpu_library: the build has no CUDA, and both the program and find_package(... COMPONENTS CUDA) report that.
set -eu
way=$1 build=$2 scratch=$3
nvcc=${4:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "skipped: no nvcc in PATH or /usr/local/cuda/bin"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/prefix.sh"
prefix=$(installed_and_moved "$build" "$scratch")
has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU 0'; }

fail() {
  echo "$1"
  exit 1
}

# expect_words <words> <command...>: it fails with these words.
expect_words() {
  local words=$1 said
  shift
  if said=$("$@" 2>&1); then fail "'$*' succeeded: $said"; fi
  tr -s ' \n' ' ' <<<"$said" | grep -qF "$words" || fail "'$*' does not say '$words': $said"
}

configure() {  # <form>
  cmake -S "$here/cuda_consumer" -B "$scratch/out/$1" -G Ninja -DFORM="$1" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CUDA_COMPILER="$nvcc"
}

run_ring() {  # <program>
  ldd "$1" | grep -F libchime | grep -qF "$prefix" || fail "$1 does not load libchime from $prefix"
  if has_gpu; then
    timeout 60 "$1"
    timeout 60 "$prefix/bin/chime-run" -n 2 "$1"
  else
    expect_words "chime: PE 0: chime_init: opening the device: CUDA driver: libcuda.so.1" timeout 60 "$1"
  fi
}

find_package() {
  local form
  for form in component cuda_later cuda_alone own_standard; do
    configure "$form"
    cmake --build "$scratch/out/$form" --target ring
    run_ring "$scratch/out/$form/ring"
  done
  cmake --build "$scratch/out/component"
  timeout 60 "$prefix/bin/chime-run" -n 2 "$scratch/out/component/consumer_cxx"
}

# nvcc does not accept -pthread or -Wl,...; g++ and nvcc both accept -Xlinker.
pkg_config() {
  PKG_CONFIG_PATH=$(folder_of_pc "$prefix")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046
  "$nvcc" -std=c++20 "$here/cuda_consumer/ring.cu" $(pkg-config --cflags --libs chime) \
    -Xlinker -rpath="$(pkg-config --variable=libdir chime)" -o "$scratch/out/ring"
  run_ring "$scratch/out/ring"
  links_as_nvshmem
}

# As in a Makefile for NVSHMEM: nvlink accepts the names of its libraries without a warning.
links_as_nvshmem() {
  local home libraries said
  home=$(dirname "$(find "$prefix" -path '*nvshmem-compat/lib')")
  "$nvcc" -std=c++20 -rdc=true -x cu -I"$home/include" -c "$here/nvshmem_consumer/main.cpp" -o "$scratch/out/main.o"
  for libraries in '-lnvshmem_host -lnvshmem_device' -lnvshmem "$home/lib/libnvshmem.a"; do
    # shellcheck disable=SC2086
    said=$("$nvcc" "$scratch/out/main.o" -L"$home/lib" $libraries -o "$scratch/out/linked" 2>&1) || fail "$libraries: $said"
    [ -z "$said" ] || fail "$libraries: $said"
  done
}

cpu_library() {
  configure cuda_later
  cmake --build "$scratch/out/cuda_later"
  expect_words "chime_init: opening the device: CUDA: this libchime was built without CUDA" \
    timeout 60 "$scratch/out/cuda_later/ring"
  timeout 60 "$prefix/bin/chime-run" -n 2 "$scratch/out/cuda_later/consumer_cxx"
  expect_words "was built without CUDA: it runs no kernel that nvcc compiled. Build and install" configure component
  links_as_nvshmem
}

"$way"
