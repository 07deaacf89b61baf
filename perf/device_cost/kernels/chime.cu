// One call of Chime in each kernel; every argument comes at run time. Names are those of
// rules/chime.toml.
#include "chime/chime.h"

extern "C" {

CHIME_KERNEL void p(uint64_t* dst, uint64_t value, int pe) { chime_uint64_p(dst, value, pe); }

CHIME_KERNEL void put_64(uint64_t* dst, const uint64_t* src, int pe) {
  chime_uint64_put_nbi(dst, src, 8, pe);
}
CHIME_KERNEL void put_64_block(uint64_t* dst, const uint64_t* src, int pe) {
  chimex_uint64_put_nbi_block(dst, src, 8, pe);
}

CHIME_KERNEL void put(void* dst, const void* src, size_t bytes, int pe) {
  chime_putmem_nbi(dst, src, bytes, pe);
}
// The same from memory that the program has registered, such as a tensor's.
CHIME_KERNEL void put_registered(void* dst, const void* src, size_t bytes, int pe) {
  chime_putmem_nbi(dst, src, bytes, pe);
}
CHIME_KERNEL void put_block(void* dst, const void* src, size_t bytes, int pe) {
  chimex_putmem_nbi_block(dst, src, bytes, pe);
}

CHIME_KERNEL void put_signal_set(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                 uint64_t value, int pe) {
  chime_putmem_signal_nbi(dst, src, bytes, sig, value, CHIME_SIGNAL_SET, pe);
}
CHIME_KERNEL void put_signal_set_block(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                       uint64_t value, int pe) {
  chimex_putmem_signal_nbi_block(dst, src, bytes, sig, value, CHIME_SIGNAL_SET, pe);
}
CHIME_KERNEL void put_signal_add(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                 uint64_t value, int pe) {
  chime_putmem_signal_nbi(dst, src, bytes, sig, value, CHIME_SIGNAL_ADD, pe);
}
CHIME_KERNEL void put_signal_add_block(void* dst, const void* src, size_t bytes, uint64_t* sig,
                                       uint64_t value, int pe) {
  chimex_putmem_signal_nbi_block(dst, src, bytes, sig, value, CHIME_SIGNAL_ADD, pe);
}

// The result must be used, or the kernel would not wait for it: one more store of 8 bytes.
CHIME_KERNEL void fetch_add(uint64_t* word, uint64_t value, int pe, uint64_t* result) {
  *result = chime_uint64_atomic_fetch_add(word, value, pe);
}

CHIME_KERNEL void quiet() { chime_quiet(); }

}  // extern "C"
