#!/bin/bash
# words.sh <source folder>: words that may stand only where the house rules allow them (CONTRIBUTING.md, "House rules"). Comments may contain any of
# them.
set -u
cd "$1" || exit 1
status=0

everywhere=(include net device host bootstrap tools tests examples perf)

# Every line of C++ and CUDA as <file>:<number>:<text without its comment>.
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for folder in "${everywhere[@]}"; do [ -d "$folder" ] && echo "$folder"; done |
  xargs -I{} find {} -type f '(' -name '*.h' -o -name '*.hpp' -o -name '*.cuh' -o -name '*.c' -o -name '*.cpp' -o -name '*.cu' ')' |
  sort | xargs -r perl -ne 's{//.*$}{}; print "$ARGV:$.:$_"; close ARGV if eof' >"$lines"

# forbid <pattern> <allowed files, a pattern> <reason> <folder>...
forbid() {
  local pattern=$1 allowed=$2 reason=$3 hits
  shift 3
  hits=$(perl -ne 'BEGIN { ($pattern, $allowed, $folders) = splice @ARGV, 0, 3 }
    my ($file, undef, $text) = split /:/, $_, 3;
    print if $file =~ m{^(?:$folders)/} && $file !~ /$allowed/ && $text =~ /$pattern/' \
    -- "$pattern" "$allowed" "$(IFS='|'; echo "$*")" "$lines")
  [ -z "$hits" ] && return
  printf '%s\n%s\n\n' "$reason" "$hits"
  status=1
}

programs=(device tests examples perf)
exec_files='^device/exec/[a-z_]+\.cuh$'

forbid '\b(threadIdx|blockIdx|blockDim|gridDim|__shared__|__syncthreads|__syncwarp)\b|<<<' \
  "$exec_files|^device/simt/|^tests/install/cuda_consumer/|^tests/softgpu/|^perf/one_gpu/nvshmem_names\.cu$" \
  'CUDA is spoken in exec only; here say exec::thread_idx, CHIME_SHARED_VAR, exec::launch ...:' "${programs[@]}"
forbid '\b(__CUDACC__|__CUDA__|__CUDA_ARCH__|__NVCC__)\b' "$exec_files" \
  'only exec asks which compiler runs; use CHIME_IF_DEVICE or a macro of exec.cuh:' "${everywhere[@]}"
forbid '\basm\b' "^device/(exec/ptx(_memory|_multimem)?\.cuh$|simt/)" \
  'inline assembly stands in device/exec/ptx.cuh, ptx_memory.cuh, ptx_multimem.cuh and device/simt alone:' "${everywhere[@]}"
forbid '#include "chime/device/simt/' "$exec_files|^device/simt/" \
  'device code meets the executor through exec only:' device
forbid '#include "\.\.?/' '^$' \
  'an include names its folder from the root, so that the arrows can be checked:' "${everywhere[@]}"
forbid '#include "(chime/device/simt|host|bootstrap|net)/' '^perf/(init_sim|proxy_fifos)/' \
  'examples and benchmarks use what a user has:' examples perf
forbid '#include <(sys/(socket|un|epoll)|netinet/[a-z]+)\.h>' '^$' \
  'sockets stand in net/ alone; see net/README.md:' include device host bootstrap tools
forbid '#include "host/transport/mlx5/|\bMlx5[A-Z]' '^host/(transport/mlx5/|setup/transports\.cpp$)' \
  'the NIC is one transport of several: host/transport/transport.hpp is all that others know of it:' host
crowded=$(find . '(' -path ./build -o -path ./.git -o -path ./.cache -o -name __pycache__ ')' -prune -o -type f -printf '%h\n' |
  sort | uniq -c | awk '$1 > 25 { print $2 ": " $1 " files" }')
[ -z "$crowded" ] || { printf 'a folder has at most 25 files; make rooms for more:\n%s\n' "$crowded"; status=1; }
crowded=$(find host -type d -exec sh -c 'n=$(find "$1" -maxdepth 1 -type f | wc -l); [ "$n" -le 20 ] || echo "$1: $n files"' _ {} \; 2>/dev/null)
[ -z "$crowded" ] || { printf 'a room of host/ has at most 20 files:\n%s\n' "$crowded"; status=1; }
exit $status
