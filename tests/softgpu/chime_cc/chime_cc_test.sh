#!/bin/bash
# chime_cc_test.sh <what> <chime-cc> <chime-run> <scratch folder>: programs of chime-cc run, and it names what it cannot compile.
set -eu
what=$1 cc=$2 run=$3 scratch=$4
tests=$(cd "$(dirname "$0")" && pwd)
rm -rf "$scratch" && mkdir -p "$scratch" && cd "$scratch"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# The ring's output, from so many PEs, in the order of PEs.
expected_of() {
  local n=$1 pe left
  for ((pe = 0; pe < n; ++pe)); do
    left=$(((pe + n - 1) % n))
    echo "PE $pe: got $left from the left, and a sum of $((64000 * left + 2016))"
  done
}
# ring_runs <PEs> [variable=value...]
ring_runs() {
  local n=$1
  shift
  env "$@" timeout 120 "$run" --no-prefix -n "$n" ./ring >said 2>errors || fail "ring on $n PEs with '$*': $(cat said errors)"
  diff <(expected_of "$n") <(sort said) || fail "ring on $n PEs with '$*' says something else"
}

runs() {
  # As in a Makefile for nvcc and NVSHMEM.
  "$cc" -rdc=true -gencode arch=compute_90,code=sm_90 -O2 -Xcompiler -Wall,-Wextra -std=c++20 "$tests/ring.cu" -lcudart -o ring
  ring_runs 2
  ring_runs 4
  ring_runs 2 CHIME_SIMT_SEED=7 CHIME_SIMT_WEAK=1
  [ "${SOFTNIC-}" = '' ] || ring_runs 2 CHIME_NIC=soft CHIME_P2P=off
}

# operations_in <timeline>: how many operations of kernels are there, by PE; the file is checked. Then the arrows into their waits.
operations_in() {
  PYTHONPATH=$TIMELINES python3 - "$1" <<'PY'
import collections
import sys
from timeline_file import Timeline
timeline = Timeline(sys.argv[1])
for pe in (0, 1):
    names = collections.Counter(s["name"] for s in timeline.spans if s["pid"] == pe and "launch" in s["args"] and s["cat"] != "kernel")
    print(pe, *(f"{count} {name}" for name, count in sorted(names.items())))
for start, stop in sorted(timeline.arrows, key=lambda arrow: arrow[0]["pid"]):
    if stop["args"].get("launch"):
        print(start["pid"], start["name"], "->", stop["pid"], stop["name"])
PY
}

# With --trace the operations of kernels are on the timeline; without, their PTX does not know of it.
traced() {
  "$cc" --trace "$tests/ring.cu" -lcudart -o ring
  ring_runs 2 CHIME_TRACE=run.json
  operations_in run.json >operations
  diff - operations <<'OF_KERNELS' || fail "the timeline has other operations of kernels"
0 1 chime_p 1 chime_put_signal_nbi 64 chime_quiet 1 chime_signal_wait_until
1 1 chime_p 1 chime_put_signal_nbi 64 chime_quiet 1 chime_signal_wait_until
0 chime_put_signal_nbi -> 1 chime_signal_wait_until
1 chime_put_signal_nbi -> 0 chime_signal_wait_until
OF_KERNELS
  "$cc" --ptx "$tests/ring.cu" -o off.ptx
  ! grep -q chime_trace off.ptx || fail "PTX without --trace calls the timeline"
  "$cc" --trace --ptx "$tests/ring.cu" -o on.ptx
  grep -A3 call on.ptx | grep -q '^[[:space:]]*chime_trace_begin' || fail "PTX with --trace does not call the timeline"
}

in_nvshmems_words() {
  sed 's/chime_/nvshmem_/g; s/chimex_/nvshmemx_/g; s/CHIME_/NVSHMEM_/g; s|<chime/chime.h>|<nvshmem.h>|' "$tests/ring.cu" |
    sed 's|^#include <nvshmem.h>|&\n#include <nvshmemx.h>|'
}

# The same program with NVSHMEM's names, beside an NVSHMEM that its Makefile names: no file of that is read.
nvshmem() {
  mkdir -p theirs/include && echo '#error this is another nvshmem.h' | tee theirs/include/nvshmem.h >theirs/include/nvshmemx.h
  in_nvshmems_words >in_nvshmem.cu
  ! grep -qi chime_ in_nvshmem.cu || fail "a word of Chime's is left: $(grep -i chime_ in_nvshmem.cu)"
  "$cc" -rdc=true -arch=sm_90 -Itheirs/include in_nvshmem.cu -lnvshmem_host -lnvshmem_device -lcudart -o ring
  ring_runs 2
  ring_runs 3 CHIME_SIMT_SEED=7 CHIME_SIMT_WEAK=1
}

# Two units, a shared library, and a plug-in that is opened after init: each launches a kernel of the same name with the state of its own file, and no
# call of Chime comes between the opening and the launch.
linked() {
  cat >part.cu <<'CU'
#include <nvshmem.h>
static __global__ void send(int* slots, int n) { nvshmem_int_p(slots + n, 100 * n + nvshmem_my_pe(), 1 - nvshmem_my_pe()); }
extern "C" int NAME(int* slots, int n);
int NAME(int* slots, int n) {
  send<<<1, 1>>>(slots, n);
  return cudaDeviceSynchronize();
}
CU
  cat >main.cu <<'CU'
#include <dlfcn.h>
#include <nvshmem.h>
static __global__ void send(int* slots, int n) { nvshmem_int_p(slots + n, 100 * n + nvshmem_my_pe(), 1 - nvshmem_my_pe()); }
extern "C" int from_unit(int* slots, int n);
extern "C" int from_library(int* slots, int n);
int main() {
  nvshmem_init();
  int found[4], *slots = (int*)nvshmem_calloc(4, sizeof(int));
  void* plugin = dlopen("./plugin.so", RTLD_NOW);
  auto from_plugin = plugin ? (int (*)(int*, int))dlsym(plugin, "from_plugin") : nullptr;
  if (!from_plugin || from_plugin(slots, 3) || from_library(slots, 2) || from_unit(slots, 1)) return 2;
  send<<<1, 1>>>(slots, 0);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  nvshmem_barrier_all();
  if (cudaMemcpy(found, slots, sizeof(found), cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  for (int n = 0; n < 4; ++n)
    if (found[n] != 100 * n + 1 - nvshmem_my_pe()) return 10 + n;
  nvshmem_free(slots);
  nvshmem_finalize();
}
CU
  "$cc" -rdc=true -DNAME=from_unit -c part.cu -o unit.o
  "$cc" -rdc=true -dc main.cu
  "$cc" -rdc=true -shared -DNAME=from_library part.cu -o libpart.so 2>said
  ! grep -q warning said || fail "-shared: $(cat said)"
  "$cc" -shared -Xcompiler -fPIC -DNAME=from_plugin part.cu -o plugin.so
  "$cc" -dlink main.o unit.o -o linked_device.o -lnvshmem_device 2>said && grep -q 'writes an empty object' said || fail "-dlink: $(cat said)"
  "$cc" -rdc=true main.o unit.o linked_device.o -L. -lpart -Wl,-rpath,"$scratch" -lnvshmem_host -lnvshmem_device -ldl -o linked
  timeout 60 "$run" --no-prefix -n 2 ./linked 2>said || fail "units, a library and a plug-in: $(cat said)"
  CHIME_SIMT_SEED=7 CHIME_SIMT_WEAK=1 timeout 60 "$run" --no-prefix -n 2 ./linked 2>said || fail "with weak memory: $(cat said)"
}

# A kernel launch by <<<>>> comes first after init, on a device that was chosen before: it finds its PE.
first_launch() {
  cat >first.cu <<'CU'
#include <nvshmem.h>
__global__ void tell(int* p) { *p = 10 * nvshmem_n_pes() + nvshmem_my_pe(); }
int main() {
  int *p, answer = 0;
  if (cudaSetDevice(0) != cudaSuccess || cudaMalloc(&p, 4) != cudaSuccess) return 2;
  nvshmem_init();
  tell<<<1, 1>>>(p);
  if (cudaMemcpy(&answer, p, 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  printf("%d\n", answer);
  nvshmem_finalize();
}
CU
  "$cc" first.cu -o first
  [ "$("$run" --no-prefix -n 1 ./first)" = 10 ] || fail "the kernel does not know its PE"
}

# Without inlining, the program has functions with the names of the CPU device's in libchime.so: each side finds its own.
unoptimised() {
  cat >props.cu <<'CU'
#include <chime/chime.h>
int main() {
  chime::exec::DeviceProps props;
  void* memory;
  if (chime::exec::device_props(0, &props) || chime::exec::device_malloc(&memory, 64)) return 1;
  printf("%d\n", chime::exec::device_free(memory));
}
CU
  "$cc" -O0 props.cu -o props
  [ "$(timeout 60 ./props)" = 0 ] || fail "the program's calls and the softgpu's are mixed up"
}

# A kernel that fails while no call queries it: the job ends with an error, for PE 1 too, and PE 0 reports the failure.
failed_kernel() {
  cat >failed.cu <<'CU'
#include <nvshmem.h>
__global__ void store(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
int main() {
  nvshmem_init();
  auto* p = static_cast<char*>(nvshmem_malloc(8));
  if (nvshmem_my_pe() == 0) store<<<1, 1>>>(p);
  nvshmem_barrier_all();
  nvshmem_finalize();
}
CU
  "$cc" failed.cu -o failed
  "$run" -n 2 --timeout 60 ./failed >output 2>&1 && fail "the job ended well: $(cat output)"
  grep -q '^\[0\] chime: PE 0: nvshmem_finalize: .*a kernel that ran before may have failed' output ||
    fail "PE 0 did not say it: $(cat output)"
}

# Cooperative groups: the grid meets, so that each block sees the writes of all others; tiles and blocks have the right ranks.
groups() {
  cat >groups.cu <<'CU'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int kBlocks = 3, kRounds = 20;
__global__ void meet(int* written, int* wrong) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  for (int round = 1; round <= kRounds; ++round) {
    if (block.thread_rank() == 0) written[grid.block_rank()] = round;
    grid.sync();
    if (block.thread_rank() == 5)
      for (int b = 0; b < kBlocks; ++b)
        if (static_cast<volatile int*>(written)[b] != round) atomicAdd(wrong, 1);
    cg::sync(grid);
  }
  auto tile = cg::tiled_partition<8>(block);
  const unsigned first = tile.shfl(block.thread_rank(), 0);
  const bool is_right = tile.thread_rank() == threadIdx.x % 8 && first == block.thread_rank() / 8 * 8 && tile.size() == 8 &&
                        tile.ballot(tile.thread_rank() == 3) == 8 && tile.any(tile.thread_rank() == 7) && !tile.all(threadIdx.x == 0) &&
                        tile.meta_group_rank() == block.thread_rank() / 8 && tile.shfl_xor(tile.thread_rank(), 1) == (tile.thread_rank() ^ 1) &&
                        grid.size() == kBlocks * 64 && block.size() == 64 && grid.thread_rank() == blockIdx.x * 64 + block.thread_rank();
  if (!is_right) atomicAdd(wrong, 1);
  // Kept as a tile of no parent; and a tile of a tile counts within that.
  cg::thread_block_tile<8> kept = tile;
  cg::thread_block_tile<2> pair = cg::tiled_partition<2>(kept);
  if (kept.meta_group_rank() != block.thread_rank() / 8 || kept.meta_group_size() != 8 || pair.meta_group_size() != 4 ||
      pair.meta_group_rank() != threadIdx.x % 8 / 2)
    atomicAdd(wrong, 1);
}
__global__ void is_alone(int* answer) { *answer = cg::this_grid().is_valid() ? 1 : 2; }
int main() {
  int *p, *wrong, found[2] = {};
  if (cudaMalloc(&p, (kBlocks + 2) * sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(p, 0, (kBlocks + 2) * sizeof(int));
  wrong = p + kBlocks;
  void* arguments[] = {&p, &wrong};
  if (cudaLaunchCooperativeKernel((const void*)meet, dim3(kBlocks), dim3(32, 2), arguments, 0, 0) != cudaSuccess) return 2;
  is_alone<<<1, 1>>>(wrong + 1);
  if (cudaMemcpy(found, wrong, sizeof(found), cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  printf("%d %d\n", found[0], found[1]);
}
CU
  "$cc" groups.cu -o groups
  local seed said
  for seed in 0 1 2 3 4 5; do
    said=$(CHIME_SIMT_SEED=$seed CHIME_SIMT_WEAK=1 ./groups)
    [ "$said" = '0 2' ] || fail "groups with seed $seed: $said"
  done
}

# Things that nvcc provides by default and accepts as written: the standard library's names, two types in min, one byte in a shuffle, braces at a
# launch, conversions by name, and headers of missing tools. With the options of a Makefile for several GPUs.
habits() {
  cat >habits.cu <<'CU'
#include <cuda_profiler_api.h>
#include <initializer_list>
#include <nvml.h>
#include <nvtx3/nvToolsExt.h>
// A type of the program's that can be added is no number: its min is the program's.
struct Own { int x; };
__device__ Own operator+(Own a, Own b) { return {a.x + b.x}; }
template <class A, class B> concept HaveMin = requires(A a, B b) { min(a, b); };
static_assert(!HaveMin<Own, Own> && !HaveMin<__int128, __int128> && HaveMin<short, unsigned>);
__global__ void compute(int* p, unsigned u, float f, double d) {
  assert(blockDim.y == 2);
  if (threadIdx.x + threadIdx.y != 0) return;
  p[0] = min(u, -1) == 7 && max(3, 4L) == 4 && min(f, 9.0) == 2.5 && min(blockDim.x, 40 - p[9]) == 32;
  p[1] = __float2int_rd(f) == 2 && __float2int_ru(f) == 3 && __float2int_rn(f) == 2 && __float2int_rz(-f) == -2;
  p[2] = __double2int_rd(-d) == -4 && __double2ll_ru(d) == 4 && __double2uint_rz(d) == 3 && __double2ull_rn(d) == 4;
  p[3] = __int2float_rd(16777217) == 16777216 && __uint2float_ru(16777217u) == 16777218 && __ll2double_rn(5) == 5;
  p[4] = llmax(1, 2) == 2 && ullmin(1, 2) == 1 && umax(1u, 2u) == 2;
}
// In host code, too: of all types that nvcc has, of two, by names with the type in them, and beside the standard library's.
__host__ __device__ int clamped(int x) { return max(0, min(x, 9)); }
bool host_has_least_and_greatest() {
  using namespace std;
  const size_t bytes = sizeof(int);
  const short small = 3;
  return clamped(-4) == 0 && clamped(12) == 9 && min(7u, 9u) == 7 && max(-1L, 4L) == 4 && min(bytes, 9ul) == 4 && max(1LL, 2LL) == 2 &&
         max(3ull, 2ull) == 3 && min(2.5f, 9.f) == 2.5f && max(1.0, 2.0) == 2.0 && min(2.5f, 9.0) == 2.5 && max(bytes, 9) == 9 &&
         min(small, small) == 3 && std::min(4, 5) == 4 && ::max(4, 5) == 5 && umin(1u, 2u) == 1 && llmax(1, 2) == 2 && ullmin(1, 2) == 1;
}
template <class, unsigned n> constexpr unsigned number() { return n; }
__global__ void shuffle(int* p) {
  const bool is_odd = __shfl_sync(~0u, threadIdx.x % 2 == 1, 3);
  const signed char small = __shfl_xor_sync(~0u, static_cast<signed char>(-threadIdx.x), 1);
  if (threadIdx.x == 4) p[5] = is_odd && small == -5;
}
int main() {
  int *p, answers[10] = {}, found = 0;
  if (!host_has_least_and_greatest()) exit(8);
  nvtxEventAttributes_t attributes = {};
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  nvtxRangePushEx(&attributes);
  nvmlDevice_t device;
  char name[NVML_DEVICE_NAME_BUFFER_SIZE] = "";
  if (nvmlInit() != NVML_SUCCESS || nvmlDeviceGetHandleByIndex(0, &device) != NVML_SUCCESS ||
      nvmlDeviceGetName(device, name, sizeof(name)) != NVML_SUCCESS || strlen(name) == 0 ||
      nvmlDeviceGetHandleByIndex(999, &device) == NVML_SUCCESS)
    exit(2);
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.memoryClockRate <= 0) exit(3);
  if (cudaProfilerStart() != cudaSuccess || cudaMallocAsync(&p, sizeof(answers), cudaStream_t(0)) != cudaSuccess) exit(4);
  cudaMemset(p, 0, sizeof(answers));
  const unsigned threads = 32;
  compute<<<{1, 1}, {threads, 2, 1}, 0, 0>>>(p, 7, 2.5f, 3.5);
  shuffle<<<1,
            {threads}>>>(p);
  if (strcmp("\"<<<, {" /* <<<{ */, R"("<<<, {)") != 0 || sizeof("<<<{") != 5 || '"' == 0) exit(7);  // <<<1, {
  shuffle<<<1, {threads}>>>(p);
  // A comma between template arguments ends no argument; nor does < where it compares.
  shuffle<<<number<int, 1>(), {threads}>>>(p);
  shuffle<<<number<decltype(std::initializer_list<int>{}.size()), number<int, 1>()>(), {threads}>>>(p), shuffle<<<0<threads, {threads}>>>(p);
  // Braces within an argument are no dim3's.
  const auto first_of = [](std::initializer_list<unsigned> all) { return *all.begin(); };
  shuffle<<<1, (first_of({threads, 64}) + first_of({0, 2}))>>>(p);
  shuffle<<<{first_of({1, 9})}, {first_of({threads, 3}), [] { return 1u; }()}, first_of({0, 1})>>>(p);
  if (cudaMemcpy(answers, p, sizeof(answers), cudaMemcpyDeviceToHost) != cudaSuccess) exit(5);
  for (int i = 0; i < 6; ++i)
    if (!answers[i]) printf("%d\n", i);
    else ++found;
  if (cudaFreeAsync(p, 0) != cudaSuccess) exit(6);
  nvtxRangePop();
  free(malloc(1));
  return found == 6 ? 0 : 1;
}
CU
  "$cc" -dc -std=c++17 -gencode arch=compute_70,code=sm_70 -gencode arch=compute_90,code=sm_90 -MD habits.cu -c -o habits.o 2>said ||
    fail "what nvcc takes is not taken: $(cat said)"
  grep -q -- '-std=c++17 is raised to c++20' said && grep -q -- '-dc is taken as -c' said || fail "what is done otherwise is not said: $(cat said)"
  grep -q '^  habits.cu' habits.d && ! grep -q launches habits.d || fail "the list for make has another source: $(cat habits.d)"
  "$cc" habits.o -lnvidia-ml -lnvToolsExt -lcudart -o habits
  ./habits || fail "answers that are wrong: $?"
  cat >devices.c <<'C'
#include <nvml.h>
#include <string.h>
int main(void) {
  nvmlDevice_t device;
  unsigned count = 0;
  char name[NVML_DEVICE_NAME_BUFFER_SIZE] = "";
  if (nvmlInit() != NVML_SUCCESS || nvmlDeviceGetCount(&count) != NVML_SUCCESS || count == 0) return 1;
  if (nvmlDeviceGetHandleByIndex(count, &device) == NVML_SUCCESS) return 2;
  if (nvmlDeviceGetHandleByIndex(0, &device) != NVML_SUCCESS) return 3;
  return nvmlDeviceGetName(device, name, sizeof(name)) == NVML_SUCCESS && strlen(name) > 0 ? 0 : 4;
}
C
  "$cc" devices.c -lnvidia-ml -o devices && ./devices || fail "a C program that asks for devices: $?"
  printf '#include <nvtx3/nvToolsExt.h>\nint main(void) { return nvtxRangePop(); }\n' >marks.c
  "$cc" -c marks.c -o marks.o 2>said || fail "no C program has marks: $(cat said)"
  # An error names the source and its line, though a copy was compiled.
  printf '#include "beside.h"\n__global__ void k() {}\nint main() {\n  k<<<{1}, {1}>>>();\n  return not_declared;\n}\n' >bad.cu
  touch beside.h
  ! "$cc" bad.cu -o refused 2>said && grep -q '^bad.cu:5:.*not_declared' said || fail "the error's place: $(cat said)"
}

# A Makefile's host compiler stands for an MPI; by Open MPI's option for its flags, and by MPICH's.
mpi() {
  mkdir -p of_mpi bin
  echo 'inline int of_mpi() { return 42; }' >of_mpi/of_mpi.h
  printf '#!/bin/sh\n[ "$1" = --showme:link ] && echo "-lm" && exit\n[ "$1" = --showme:compile ] && echo "-I%s"\n' "$scratch/of_mpi" >bin/mpione
  printf '#!/bin/sh\n[ "$1" = -compile_info ] && echo "gcc -I%s" && exit\n[ "$1" = -link_info ] && echo "gcc -lm" && exit\nexit 1\n' \
    "$scratch/of_mpi" >bin/mpitwo
  printf '#!/bin/sh\nexit 1\n' >bin/mpimute
  chmod +x bin/*
  printf '#include <of_mpi.h>\n__global__ void k() {}\nint main() { return of_mpi() == 42 ? 0 : 1; }\n' >program.cu
  for option in -ccbin=mpione '-ccbin mpitwo'; do
    # shellcheck disable=SC2086
    PATH=$scratch/bin:$PATH "$cc" $option program.cu -o program && ./program || fail "$option adds nothing of MPI's"
    rm -f program
  done
  PATH=$scratch/bin:$PATH names 'name MPI.s folders' -ccbin=mpimute program.cu
}

# The same from an installed prefix that has been moved since.
installed() {
  . "$tests/../../install/prefix.sh"
  local prefix
  prefix=$(installed_and_moved "$BUILD" "$scratch/moved")
  "$prefix/bin/chime-cc" "$tests/ring.cu" -o ring
  run=$prefix/bin/chime-run
  ring_runs 2
  # A program that chime-cc did not compile has not loaded the softgpu: one of nvcc's, for example.
  echo 'void chime_init(void); int main(void) { chime_init(); }' >foreign.c
  cc foreign.c -o foreign -L"$prefix/lib" -lchime -Wl,-rpath,"$prefix/lib"
  ! ./foreign 2>said && grep -q 'runs no kernel that nvcc compiled: compile the program with this prefix.s chime-cc, or install' said ||
    fail "a program of another compiler: $(cat said)"
  # A build for NVSHMEM, whose folder the prefix has: by its Makefile's options, or by the names of the files.
  local home
  home=$(dirname "$(find "$prefix" -path '*nvshmem-compat/lib')")
  in_nvshmems_words >in_nvshmem.cu
  sed -i '1i #include <host/nvshmem_api.h>\n#include <device/nvshmemx_defines.h>' in_nvshmem.cu
  for libraries in '-lnvshmem_host -lnvshmem_device' "$home/lib/libnvshmem_host.so $home/lib/libnvshmem_device.a" "$home/lib/libnvshmem.a"; do
    # shellcheck disable=SC2086
    "$prefix/bin/chime-cc" -rdc=true -I"$home/include" in_nvshmem.cu -L"$home/lib" $libraries -o ring
    ring_runs 2
  done
}

# In two steps, with a file of host code and one of C; and the kernels alone.
steps() {
  echo 'extern "C" int from_c(void); int from_host(); int from_host() { return from_c() + 1; }' >host.cpp
  echo 'int from_c(void) { return 41; }' >c.c
  cat >main.cu <<'CU'
#include <cstdio>
int from_host();
__global__ void add(int* p, int n) { atomicAdd(p, n); }
int main() {
  int *p, answer = 0;
  if (cudaMalloc(&p, 4) != cudaSuccess || cudaMemset(p, 0, 4) != cudaSuccess) return 1;
  add<<<2, 1>>>(p, from_host() / 2);
  if (cudaMemcpy(&answer, p, 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  std::printf("%d\n", answer);
  return answer == 42 ? 0 : 1;
}
CU
  "$cc" -c host.cpp c.c main.cu
  "$cc" host.o c.o main.o -o steps
  [ "$(./steps)" = 42 ] || fail "objects that were linked later do not run"
  "$cc" --ptx -arch=sm_80 main.cu
  grep -q '^\.target sm_80' main.ptx || fail "--ptx -arch=sm_80 gives no PTX for it"
}

# Programs name a toolkit's headers and Makefiles its folder; the declarations are the softgpu's, in host files too. Other files of the folder are
# found.
headers() {
  a_toolkit
  echo 'constexpr int kFromMine = 40;' >toolkit/mine.h
  cat >program.cu <<'CU'
#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>
#include <mine.h>
#include <vector_functions.h>
int devices();
__global__ void add(int* p, int2 n) { *p = n.x + n.y + threadIdx.x; }
int main() {
  int *p, answer = 0;
  if (devices() != 1 || cudaMalloc(&p, 4) != cudaSuccess) return 1;
  add<<<1, 1>>>(p, make_int2(kFromMine, 2));
  return cudaMemcpy(&answer, p, 4, cudaMemcpyDeviceToHost) == cudaSuccess && answer == 42 ? 0 : 1;
}
CU
  printf '#include <cuda_runtime_api.h>\n#include <driver_types.h>\n%s\n' \
    'int devices() { int n = 0; return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0; }' >devices.cpp
  CPATH=$scratch/toolkit: CPLUS_INCLUDE_PATH=$scratch/toolkit "$cc" program.cu devices.cpp -Itoolkit -I toolkit -isystem toolkit \
    -Xcompiler -Wall,-Itoolkit -o program 2>said || fail "a program is not compiled where a toolkit is named: $(cat said)"
  [ "$(grep -c 'it is looked in last' said)" = 5 ] || fail "what is looked in last is not said: $(cat said)"
  ./program || fail "the program fails"

  # In two parts, as for nvcc; and other options for the host's compiler.
  "$cc" -Xcompiler -isystem -Xcompiler toolkit -Xcompiler -Wl,-rpath,/nowhere -c program.cu -o program.o 2>said ||
    fail "-Xcompiler by halves: $(cat said)"
  # A folder of the program's does not come before Chime's headers.
  mkdir -p mine/chime
  echo '#error "this was read"' >mine/chime/chime.h
  printf '#define CHIME_HOST_ONLY\n#include <chime/chime.h>\n' >chimes.cpp
  "$cc" -c -I mine -isystem mine chimes.cpp 2>said || fail "Chime's own header is not found first: $(cat said)"
}

# The list of read files is written for make: for both parts of a file with kernels, for all files of a program.
lists() {
  for name in a b host device; do echo "// $name" >"$name.h"; done
  printf '#ifdef __CUDA_ARCH__\n#include "device.h"\n#else\n#include "host.h"\n#endif\n__global__ void k() {}\nint f();\nint main() { return f(); }\n' >both.cu
  printf '#include "a.h"\n#include "b.h"\nint f() { return 0; }\n' >f.cpp
  mkdir -p 'out of it'
  "$cc" -MD both.cu f.cpp -o 'out of it/p' && for name in a b host device; do
    grep -q "^  $name.h" 'out of it/p.d' || fail "$name.h is not in the list of the program: $(cat 'out of it/p.d')"
  done
  "$cc" -MMD -MP -c f.cpp -o f.o && grep -q '^a.h:$' f.d && grep -q '^f.o:' f.d || fail "-MP: $(cat f.d)"
  printf 'rule touch\n  command = touch $out\n  depfile = f.d\nbuild f.o: touch\n' >build.ninja
  ninja >said && ninja -n | grep -q 'no work' || fail "ninja does not read the list: $(cat said f.d)"
  touch -d tomorrow b.h
  ! ninja -n | grep -q 'no work' || fail "a header that is newer makes nothing stale"
  for option in '-MD -MF other.d -MT it' '-MD -MFother.d -MTit' '-Wp,-MMD,other.d -MQ it' '-Xcompiler -MMD,-MF,other.d,-MT,it'; do
    rm -f other.d
    # shellcheck disable=SC2086
    "$cc" $option -c f.cpp && grep -q '^it:' other.d && grep -q '^  b.h' other.d || fail "$option: $(cat other.d)"
  done
  "$cc" -MD -MF all.d -c f.cpp both.cu 2>said && fail "one list of two objects is taken"
  grep -q 'of one list' said || fail "one list of two objects: $(cat said)"
  "$cc" -MD --ptx both.cu && grep -q '^both.ptx:' both.d && grep -q '^  device.h' both.d || fail "--ptx: $(cat both.d)"
}
# A folder with headers that stop any compiler that reads one.
a_toolkit() {
  mkdir -p toolkit/cooperative_groups
  for header in cuda_runtime_api cuda_runtime cooperative_groups cooperative_groups/reduce device_launch_parameters driver_types \
    vector_functions mma cublas_v2; do
    echo '#error "this was read"' >"toolkit/$header.h"
  done
}

# names <word of the message> <line of a program, or options>: refused with this word.
names() {
  local word=$1
  shift
  if "$cc" "$@" -o refused 2>errors; then
    fail "taken: $*"
  else
    grep -Eq "^(chime-cc|check_headers): .*$word" errors || fail "'$word' is not named: $(cat errors)"
  fi
  [ ! -e refused ] || fail "something was made of what was refused: $*"
  rm -f refused
}
refused() {
  local word=$1
  printf '%s\n' "${@:2}" >bad.cu
  names "$word" bad.cu
}
refuses() {
  refused cooperative_groups '#include <cooperative_groups/reduce.h>' 'int main() {}'
  refused coalesced_threads '#include <cooperative_groups.h>' '__global__ void k() { cooperative_groups::coalesced_threads().sync(); }' 'int main() {}'
  refused cublas '#include <cublas_v2.h>' 'int main() {}'
  # No header is read, wherever a toolkit lies.
  a_toolkit
  for header in cooperative_groups/reduce.h mma.h cublas_v2.h; do
    printf '#include <%s>\nint main() {}\n' "$header" >bad.cu
    CPATH=$scratch/toolkit CPLUS_INCLUDE_PATH=$scratch/toolkit names "<$header>" bad.cu -I toolkit
    grep -q 'this was read' errors && fail "$header of a toolkit was read: $(cat errors)"
  done
  refused tex2D '__global__ void k(float* f) { *f = tex2D<float>(0, 1, 2); }' 'int main() {}'
  refused __managed__ '__device__ __managed__ int shared_by_all[2] = {1, 2};' 'int main() {}'
  [ "$(grep -c 'error:' errors)" = 1 ] || fail "__managed__ is one error: $(cat errors)"
  refused cudaGraphCreate 'int main() { cudaGraphCreate(0, 0); }'
  refused nvshmemx_qp_quiet '#include <nvshmem.h>' 'int main() { nvshmemx_qp_quiet(0); }'
  grep -q 'nvshmemx_qp_quiet: no such name of NVSHMEM.s is there' errors || fail "a name of NVSHMEM's that is not there: $(cat errors)"
  refused 'kernels that launch' '__global__ void inner() {}' '__global__ void outer() { inner<<<1, 1>>>(); }' 'int main() {}'
  refused cudaNoSuchCall 'int main() { return cudaNoSuchCall(); }'
  refused __vabsdiffu4 '__global__ void k(unsigned* p) { *p = __vabsdiffu4(p[0], p[1]); }' 'int main() {}'
  echo 'int main() {}' >good.cu
  names NVIDIA good.cu -lcublas
  names sm_80 good.cu -arch=sm_70
  names '-dlink takes objects' -dlink good.cu
  names 'no such compiler' -ccbin=mpi_of_nobody good.cu
  names 'no file' absent.cu
  # A program's own file is refused as such, the second like the first, and before anything is compiled.
  echo '// Copyright (c) 2024 NVIDIA CORPORATION. All rights reserved.' >closed.cu
  echo 'int main() { return not_declared; }' >>closed.cu
  for sources in closed.cu 'good.cu closed.cu' 'closed.cu good.cu'; do
    # shellcheck disable=SC2086
    names 'closed.cu of your program .* licence' -v $sources
    [ "$(wc -l <errors)" = 1 ] || fail "something was compiled before closed.cu was refused: $(cat errors)"
  done
  sed -i '1i // SPDX-License-Identifier: BSD-3-Clause' closed.cu
  ! "$cc" closed.cu -o refused 2>errors && grep -q 'error:.*not_declared' errors || fail "a file under an open licence is not compiled: $(cat errors)"
  # Also in host files, and in the host part of a file with kernels.
  mkdir -p 'a toolkit'
  echo '// Copyright NVIDIA Corporation. All rights reserved.' >'a toolkit/planted.h'
  echo '#include "planted.h"' >host.cpp
  printf '#ifndef __CUDA_ARCH__\n#include "planted.h"\n#endif\nint main() {}\n' >both.cu
  names planted.h host.cpp good.cu -I 'a toolkit'
  names planted.h both.cu -I 'a toolkit'
  printf '#include "planted.h"\nint main() { return not_declared; }\n' >fails.cu
  names planted.h fails.cu -I 'a toolkit'
  # A list for make that leaves out the system's headers hides nothing.
  names planted.h host.cpp good.cu -isystem 'a toolkit' -MMD
  names planted.h host.cpp good.cu -isystem 'a toolkit' -MFhost.d -MD
  names planted.h host.cpp good.cu -isystem 'a toolkit' -Wp,-MMD,host.d
  names planted.h host.cpp good.cu -isystem 'a toolkit' --write-user-dependencies
  names planted.h host.cpp good.cu -isystem 'a toolkit' -Xcompiler -MMD
  echo '#include <cuda_runtime_api.h>' >words.c
  names 'cuda_runtime_api.h>' -c words.c
  names '-MD writes' -M good.cu
  names 'known by its name' "$tests/chime_cc_test.sh"
  CHIME_CC_CLANG=no-such-clang names 'clang-19' good.cu
}

"$what"
exit $failed
