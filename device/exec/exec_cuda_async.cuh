// exec under nvcc: asynchronous copies, of sm_90 and newer. Included by exec_cuda.cuh alone.
#ifndef CHIME_DEVICE_EXEC_CUDA_ASYNC_CUH_
#define CHIME_DEVICE_EXEC_CUDA_ASYNC_CUH_

#include <cstdint>

#include "chime/device/exec/exec_cuda_threads.cuh"
#include "chime/device/exec/ptx.cuh"

namespace chime::exec {

// Lies in shared memory.
struct Mbarrier {
  std::uint64_t word;
};

namespace detail {

// Below sm_90 the first bulk operation traps.
template <class Operation>
CHIME_DEVICE void on_hopper([[maybe_unused]] Operation operation) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  operation();
#else
  trap("chime: bulk copies need a GPU of compute capability 9.0, and code compiled for it");
#endif
}

}  // namespace detail

// `arrivals`: calls of mbarrier_expect_tx per phase. Other threads use it after a sync_block.
CHIME_DEVICE void mbarrier_init(Mbarrier* barrier, unsigned arrivals) {
  detail::on_hopper([=] {
    ptx::mbarrier_init(&barrier->word, arrivals);
    ptx::fence_proxy_async();
  });
}

// Arrives, and adds `bytes` to what the phase waits for.
CHIME_DEVICE void mbarrier_expect_tx(Mbarrier* barrier, unsigned bytes) {
  detail::on_hopper([=] { ptx::mbarrier_arrive_expect_tx(&barrier->word, bytes); });
}

// Whether the phase of this parity is complete; may first wait for a time that the GPU bounds.
CHIME_DEVICE bool mbarrier_try_wait(Mbarrier* barrier, unsigned parity) {
  bool done = false;
  detail::on_hopper([&] { done = ptx::mbarrier_try_wait(&barrier->word, parity); });
  return done;
}

// Addresses and `bytes` are multiples of 16.
CHIME_DEVICE void bulk_to_shared(void* shared, const void* global, unsigned bytes,
                                 Mbarrier* barrier) {
  detail::on_hopper([=] { ptx::bulk_to_shared(shared, global, bytes, &barrier->word); });
}

// Copies what this thread, and threads it met at a barrier before, have stored to `shared`.
CHIME_DEVICE void bulk_from_shared(void* global, const void* shared, unsigned bytes) {
  detail::on_hopper([=] {
    ptx::fence_proxy_async();
    ptx::bulk_from_shared(global, shared, bytes);
  });
}
CHIME_DEVICE void bulk_commit() {
  detail::on_hopper([] { ptx::bulk_commit(); });
}
CHIME_DEVICE void bulk_wait_all() {
  detail::on_hopper([] { ptx::bulk_wait_all(); });
}

}  // namespace chime::exec

#endif  // CHIME_DEVICE_EXEC_CUDA_ASYNC_CUH_
