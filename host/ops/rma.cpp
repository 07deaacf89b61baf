// Puts and gets of the host.
#define CHIME_HOST_ONLY
#include "chime/device/rma.cuh"

#include <cstring>

#include "chime/chime.h"
#include "chime/host_ops.h"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/run.hpp"
#include "host/ops/typed.cuh"

namespace chime::host {
namespace {

// Calls `body` with a value of the unsigned type of `bytes`.
template <class Body>
void with_word(std::size_t bytes, Body body) {
  check_element(bytes);
  with_element(bytes, body);
}

}  // namespace
}  // namespace chime::host

using namespace chime;        // NOLINT: this file only forwards into it
using namespace chime::host;  // NOLINT

extern "C" {

void chime_host_put(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kPut, [=](const Context& ctx) { putmem(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::put(runtime, dst, src, bytes, pe); });
}

void chime_host_put_nbi(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kPutNbi,
      [=](const Context& ctx) { putmem_nbi(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::put(runtime, dst, src, bytes, pe); });
}

void chime_host_get(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kGet, [=](const Context& ctx) { getmem(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::get(runtime, dst, src, bytes, pe); });
}

void chime_host_get_nbi(void* dst, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kGetNbi,
      [=](const Context& ctx) { getmem_nbi(ctx, Thread{}, dst, src, bytes, pe); },
      [=](Runtime& runtime) { gpu_ops::get(runtime, dst, src, bytes, pe); });
}

void chime_host_p(void* dst, const void* value, size_t bytes, int pe) {
  transfer(
      Operation::kP,
      [=](const Context& ctx) {
        with_word(bytes, [&]<class T>(T word) {
          memcpy(&word, value, sizeof(T));
          p(ctx, static_cast<T*>(dst), word, pe);
        });
      },
      [=](Runtime& runtime) { gpu_ops::put_element(runtime, dst, value, bytes, pe); });
}

void chime_host_g(void* value, const void* src, size_t bytes, int pe) {
  transfer(
      Operation::kG,
      [=](const Context& ctx) {
        with_word(bytes, [&]<class T>(T) {
          const T word = g(ctx, static_cast<const T*>(src), pe);
          memcpy(value, &word, sizeof(T));
        });
      },
      [=](Runtime& runtime) { gpu_ops::get_element(runtime, value, src, bytes, pe); });
}

void chime_host_iput(void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                     size_t count, size_t element_bytes, int pe) {
  transfer(
      Operation::kIput,
      [=](const Context& ctx) {
        with_word(element_bytes, [&]<class T>(T) {
          iput(ctx, Thread{}, static_cast<T*>(dst), static_cast<const T*>(src), dst_stride,
               src_stride, count, pe);
        });
      },
      [=](Runtime& runtime) {
        gpu_ops::put_strided(runtime, dst, src, {dst_stride, src_stride, count, element_bytes}, pe);
      });
}

void chime_host_iget(void* dst, const void* src, ptrdiff_t dst_stride, ptrdiff_t src_stride,
                     size_t count, size_t element_bytes, int pe) {
  transfer(
      Operation::kIget,
      [=](const Context& ctx) {
        with_word(element_bytes, [&]<class T>(T) {
          iget(ctx, Thread{}, static_cast<T*>(dst), static_cast<const T*>(src), dst_stride,
               src_stride, count, pe);
        });
      },
      [=](Runtime& runtime) {
        gpu_ops::get_strided(runtime, dst, src, {dst_stride, src_stride, count, element_bytes}, pe);
      });
}

}  // extern "C"
