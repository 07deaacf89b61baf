// nvshmem_names: the time of calls under NVSHMEM's names in a kernel, from one PE to itself on one
// GPU. One source for two libraries: beside_nvshmem compiles it with Chime and with NVSHMEM, and
// runs both in turns. Prints a line for each figure: its name, the figure, its unit.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kMe = 0;
constexpr int kWarm = 3, kRepeats = 15;  // a figure is the best of the repeats
constexpr unsigned kBlockThreads = 256;
constexpr std::size_t kWords = std::size_t{32} << 20;  // symmetric words of 8 bytes, for each side

// Symmetric memory.
struct Board {
  std::uint64_t *dst, *src, *signals;
};

void need(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

// ---- Calls of a thread, cycles each ----------------------------------------------------------

struct P {
  static __device__ void call(const Board& b, int i) { nvshmem_uint64_p(b.dst + (i & 63), i, kMe); }
};
struct PAndQuiet {
  static __device__ void call(const Board& b, int i) {
    nvshmem_uint64_p(b.dst + (i & 63), i, kMe);
    nvshmem_quiet();
  }
};
struct PAndFence {
  static __device__ void call(const Board& b, int i) {
    nvshmem_uint64_p(b.dst + (i & 63), i, kMe);
    nvshmem_fence();
  }
};
struct G {
  static __device__ void call(const Board& b, int i) {
    b.dst[64] = nvshmem_uint64_g(b.src + (i & 63), kMe);
  }
};
struct Put {
  static __device__ void call(const Board& b, int i) {
    nvshmem_uint64_put_nbi(b.dst + (i & 63), b.src, 1, kMe);
  }
};
struct PutSignal {
  static __device__ void call(const Board& b, int i) {
    nvshmem_uint64_put_signal_nbi(b.dst + (i & 63), b.src, 1, b.signals, i, NVSHMEM_SIGNAL_SET,
                                  kMe);
  }
};
struct PutSignalAdd {
  static __device__ void call(const Board& b, int i) {
    nvshmem_uint64_put_signal_nbi(b.dst + (i & 63), b.src, 1, b.signals, 1, NVSHMEM_SIGNAL_ADD,
                                  kMe);
  }
};
struct SignalOp {
  static __device__ void call(const Board& b, int i) {
    nvshmemx_signal_op(b.signals, i, NVSHMEM_SIGNAL_SET, kMe);
  }
};
struct AtomicAdd {
  static __device__ void call(const Board& b, int) { nvshmem_uint64_atomic_add(b.dst, 1, kMe); }
};
struct FetchAdd {
  static __device__ void call(const Board& b, int) {
    b.dst[64] = nvshmem_uint64_atomic_fetch_add(b.dst, 1, kMe);
  }
};
struct WaitThatHolds {
  static __device__ void call(const Board& b, int) {
    nvshmem_signal_wait_until(b.signals, NVSHMEM_CMP_GE, 0);
  }
};
struct MyPe {
  static __device__ void call(const Board& b, int i) {
    reinterpret_cast<volatile std::uint64_t*>(b.dst)[i & 63] = nvshmem_my_pe();
  }
};

// ---- Calls of a warp and of a block ----------------------------------------------------------

template <int kBytes>
struct PutWarp {
  static __device__ void call(const Board& b, int) {
    nvshmemx_putmem_nbi_warp(b.dst, b.src, kBytes, kMe);
  }
};
template <int kBytes>
struct PutBlock {
  static __device__ void call(const Board& b, int) {
    nvshmemx_putmem_nbi_block(b.dst, b.src, kBytes, kMe);
  }
};
template <int kBytes>
struct PutSignalBlock {
  static __device__ void call(const Board& b, int i) {
    nvshmemx_putmem_signal_nbi_block(b.dst, b.src, kBytes, b.signals, i, NVSHMEM_SIGNAL_SET, kMe);
  }
};
template <int kBytes>
struct GetBlock {
  static __device__ void call(const Board& b, int) {
    nvshmemx_getmem_block(b.dst, b.src, kBytes, kMe);
  }
};

template <class Call>
__global__ void call_often(Board board, int calls, long long* cycles) {
  __syncthreads();
  const long long start = clock64();
  for (int i = 0; i < calls; ++i) Call::call(board, i);
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
}

template <class Call>
void measure(const char* name, unsigned threads, const Board& board, int calls = 1000) {
  static long long* const cycles = [] {
    long long* memory = nullptr;
    need(cudaMallocHost(&memory, sizeof(*memory)), "cudaMallocHost");
    return memory;
  }();
  long long best = INT64_MAX;
  for (int r = 0; r < kWarm + kRepeats; ++r) {
    call_often<Call><<<1, threads>>>(board, calls, cycles);
    need(cudaGetLastError(), name);
    need(cudaDeviceSynchronize(), name);
    if (r >= kWarm) best = std::min(best, *cycles);
  }
  std::printf("%s %.1f cycles\n", name, static_cast<double>(best) / calls);
  std::fflush(stdout);
}

// ---- All blocks at once, GB a second ---------------------------------------------------------

__global__ void put_from_all(Board board, std::size_t bytes) {
  const std::size_t from = blockIdx.x * (bytes / 8);
  nvshmemx_putmem_nbi_block(board.dst + from, board.src + from, bytes, kMe);
  nvshmem_quiet();
}

__global__ void copy_from_all(Board board, std::size_t bytes) {
  const std::size_t from = blockIdx.x * (bytes / 8);
  auto* const to = reinterpret_cast<ulonglong2*>(board.dst + from);
  const auto* const source = reinterpret_cast<const ulonglong2*>(board.src + from);
  for (std::size_t i = threadIdx.x; i < bytes / 16; i += blockDim.x) to[i] = source[i];
}

template <class Kernel>
void measure_all(const char* name, Kernel kernel, unsigned blocks, std::size_t bytes,
                 const Board& board) {
  cudaEvent_t start, end;
  need(cudaEventCreate(&start), name);
  need(cudaEventCreate(&end), name);
  float best = 1e30f;
  for (int r = 0; r < kWarm + kRepeats; ++r) {
    need(cudaEventRecord(start), name);
    kernel<<<blocks, kBlockThreads>>>(board, bytes);
    need(cudaEventRecord(end), name);
    need(cudaEventSynchronize(end), name);
    float ms = 0;
    need(cudaEventElapsedTime(&ms, start, end), name);
    if (r >= kWarm) best = std::min(best, ms);
  }
  std::printf("%s %.1f GB/s\n", name, static_cast<double>(blocks) * bytes / 1e6 / best);
  std::fflush(stdout);
}

void join() {
  need(cudaSetDevice(0), "cudaSetDevice");
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (nvshmemx_get_uniqueid(&id) != 0 || nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attr) != 0 ||
      nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) != 0) {
    std::fprintf(stderr, "the job of one PE cannot start\n");
    std::exit(1);
  }
}

}  // namespace

int main() {
  join();
  Board board{static_cast<std::uint64_t*>(nvshmem_malloc(kWords * 8)),
              static_cast<std::uint64_t*>(nvshmem_malloc(kWords * 8)),
              static_cast<std::uint64_t*>(nvshmem_calloc(2, 8))};
  measure<MyPe>("my_pe", 1, board);
  measure<P>("p", 1, board);
  measure<PAndFence>("p_fence", 1, board);
  measure<PAndQuiet>("p_quiet", 1, board);
  measure<G>("g", 1, board);
  measure<Put>("put_8B", 1, board);
  measure<PutSignal>("put_signal_8B", 1, board);
  measure<PutSignalAdd>("put_signal_add_8B", 1, board);
  measure<SignalOp>("signal_op", 1, board);
  measure<AtomicAdd>("atomic_add", 1, board);
  measure<FetchAdd>("atomic_fetch_add", 1, board);
  measure<WaitThatHolds>("signal_wait_held", 1, board);
  measure<P>("p_of_a_warp", 32, board);
  measure<PutWarp<1024>>("put_warp_1KiB", 32, board);
  measure<PutBlock<64>>("put_block_64B", kBlockThreads, board);
  measure<PutBlock<1024>>("put_block_1KiB", kBlockThreads, board);
  measure<PutBlock<16384>>("put_block_16KiB", kBlockThreads, board);
  measure<PutBlock<262144>>("put_block_256KiB", kBlockThreads, board, 100);
  measure<GetBlock<16384>>("get_block_16KiB", kBlockThreads, board);
  measure<PutSignalBlock<1024>>("put_signal_block_1KiB", kBlockThreads, board);
  measure<PutSignalBlock<16384>>("put_signal_block_16KiB", kBlockThreads, board);
  measure_all("put_264_blocks_16KiB", put_from_all, 264, 16384, board);
  measure_all("put_264_blocks_512KiB", put_from_all, 264, 524288, board);
  measure_all("copy_264_blocks_512KiB", copy_from_all, 264, 524288, board);
  nvshmem_free(board.signals);
  nvshmem_free(board.src);
  nvshmem_free(board.dst);
  nvshmem_finalize();
  return 0;
}
