// As the first program of NVSHMEM's tutorials, with Chime's names and plain CUDA: each PE sends its
// right neighbour a number, then a block of them, which the block there sums in shared memory.
#include <chime/chime.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kThreads = 64;

__global__ void shift(int* destination) {
  const int me = chime_my_pe(), right = (me + 1) % chime_n_pes();
  chime_int_p(destination, me, right);
}

__global__ void sum_of_left(const int* mine, int* inbox, uint64_t* arrived, int* sum) {
  __shared__ int partial[kThreads];
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chimex_int_put_signal_nbi_block(inbox, mine, kThreads, arrived, 1, CHIME_SIGNAL_SET, right);
  if (threadIdx.x == 0) chime_signal_wait_until(arrived, CHIME_CMP_EQ, 1);
  __syncthreads();
  partial[threadIdx.x] = inbox[threadIdx.x];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
  chime_quiet();
}

#define CHECK(call)                                                     \
  if (cudaError_t error = (call); error != cudaSuccess) {               \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
    return 1;                                                           \
  }

int main() {
  chime_init();
  const int me = chime_my_pe(), n = chime_n_pes(), left = (me + n - 1) % n;
  cudaStream_t stream;
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreate(&stream));
  int* const destination = static_cast<int*>(chime_malloc(sizeof(int)));
  int* const mine = static_cast<int*>(chime_malloc(kThreads * sizeof(int)));
  int* const inbox = static_cast<int*>(chime_malloc(kThreads * sizeof(int)));
  auto* const arrived = static_cast<uint64_t*>(chime_calloc(1, sizeof(uint64_t)));
  int numbers[kThreads], got = -1, sum = 0, *sum_there;
  for (int i = 0; i < kThreads; ++i) numbers[i] = 1000 * me + i;
  CHECK(cudaMalloc(&sum_there, sizeof sum));
  CHECK(cudaMemset(sum_there, 0, sizeof sum));
  CHECK(cudaMemcpy(mine, numbers, sizeof numbers, cudaMemcpyHostToDevice));

  shift<<<1, 1, 0, stream>>>(destination);
  chimex_barrier_all_on_stream(stream);
  CHECK(cudaMemcpyAsync(&got, destination, sizeof got, cudaMemcpyDeviceToHost, stream));
  sum_of_left<<<1, kThreads, 0, stream>>>(mine, inbox, arrived, sum_there);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(&sum, sum_there, sizeof sum, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));

  const int expected = kThreads * 1000 * left + kThreads * (kThreads - 1) / 2;
  std::printf("PE %d: got %d from the left, and a sum of %d\n", me, got, sum);
  const bool is_right = got == left && sum == expected;
  if (!is_right) std::fprintf(stderr, "PE %d expected %d and %d\n", me, left, expected);
  chime_barrier_all();
  chime_free(arrived);
  chime_free(inbox);
  chime_free(mine);
  chime_free(destination);
  CHECK(cudaFree(sum_there));
  chime_finalize();
  return is_right ? 0 : 1;
}
