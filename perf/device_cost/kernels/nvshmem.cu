// The calls of kernels/chime.cu, by NVSHMEM's public device API.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstddef>
#include <cstdint>

extern "C" {

__global__ void p(uint64_t* dst, uint64_t value, int pe) { nvshmem_uint64_p(dst, value, pe); }

__global__ void put_64(uint64_t* dst, const uint64_t* src, int pe) {
  nvshmem_uint64_put_nbi(dst, src, 8, pe);
}
__global__ void put_64_block(uint64_t* dst, const uint64_t* src, int pe) {
  nvshmemx_uint64_put_nbi_block(dst, src, 8, pe);
}

__global__ void put(void* dst, const void* src, size_t bytes, int pe) {
  nvshmem_putmem_nbi(dst, src, bytes, pe);
}
__global__ void put_block(void* dst, const void* src, size_t bytes, int pe) {
  nvshmemx_putmem_nbi_block(dst, src, bytes, pe);
}

__global__ void put_signal_set(void* dst, const void* src, size_t bytes, uint64_t* sig,
                               uint64_t value, int pe) {
  nvshmem_putmem_signal_nbi(dst, src, bytes, sig, value, NVSHMEM_SIGNAL_SET, pe);
}
__global__ void put_signal_set_block(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                     uint64_t value, int pe) {
  nvshmemx_putmem_signal_nbi_block(dst, src, bytes, sig, value, NVSHMEM_SIGNAL_SET, pe);
}
__global__ void put_signal_add(void* dst, const void* src, size_t bytes, uint64_t* sig,
                               uint64_t value, int pe) {
  nvshmem_putmem_signal_nbi(dst, src, bytes, sig, value, NVSHMEM_SIGNAL_ADD, pe);
}
__global__ void put_signal_add_block(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                     uint64_t value, int pe) {
  nvshmemx_putmem_signal_nbi_block(dst, src, bytes, sig, value, NVSHMEM_SIGNAL_ADD, pe);
}

__global__ void fetch_add(uint64_t* word, uint64_t value, int pe, uint64_t* result) {
  *result = nvshmem_uint64_atomic_fetch_add(word, value, pe);
}

__global__ void quiet() { nvshmem_quiet(); }

}  // extern "C"
