// A CUDA user's program, with CUDA's own syntax: each PE puts numbers into its right neighbour. It
// chooses its GPU by its place on the node before the heap exists.
#include <chime/chime.h>
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kNumbers = 32;

__global__ void put_numbers(int* slots) {
  const int right = (chime_my_pe() + 1) % chime_n_pes();
  chime_int_p(slots + threadIdx.x, 100 * chime_my_pe() + int(threadIdx.x), right);
  chime_quiet();
}

int main() {
  chime_init();
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) return 1;
  if (cudaSetDevice(chimex_node_my_pe() % gpus) != cudaSuccess) return 1;
  int* slots = static_cast<int*>(chime_calloc(kNumbers, sizeof(int)));
  put_numbers<<<1, kNumbers>>>(slots);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  chime_barrier_all();

  int got[kNumbers];
  if (cudaMemcpy(got, slots, sizeof got, cudaMemcpyDefault) != cudaSuccess) return 1;
  const int left = (chime_my_pe() + chime_n_pes() - 1) % chime_n_pes();
  int wrong = 0;
  for (int i = 0; i < kNumbers; ++i) wrong += got[i] != 100 * left + i;
  std::printf("PE %d of %d got %d...\n", chime_my_pe(), chime_n_pes(), got[0]);
  chime_free(slots);
  chime_finalize();
  return wrong == 0 ? 0 : 1;
}
