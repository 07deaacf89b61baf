// Operations of a stream on a word of memory: it writes a value, or waits for one.
#pragma once

#include <cuda.h>
#include <time.h>

#include <atomic>
#include <type_traits>

#include "chime/device/simt/threads/thread.hpp"
#include "softgpu/driver/context.hpp"

namespace softgpu::driver {

// `is_release`: after all earlier work of the stream, for a reader that acquires the word.
template <class T>
void write_word(T* word, T value, bool is_release) {
  std::atomic_ref(*word).store(value,
                               is_release ? std::memory_order_release : std::memory_order_relaxed);
}

// `how`: CU_STREAM_WAIT_VALUE_*.
template <class T>
bool is_what_a_stream_waits_for(T seen, T value, unsigned how) {
  switch (how) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return seen == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (seen & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return static_cast<T>(~(seen | value)) != 0;
    default:  // GEQ, cyclically
      return static_cast<std::make_signed_t<T>>(static_cast<T>(seen - value)) >= 0;
  }
}

// Acquire: the work that follows sees what was written before the word. Ends without its value if
// the context is lost.
template <class T>
void wait_for_word(const T* word, T value, unsigned how, const Context& context) {
  constexpr int kAwake = 2'000;
  for (int turn = 0;; ++turn) {
    const T seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (is_what_a_stream_waits_for(seen, value, how) || context.failure() != CUDA_SUCCESS) return;
    if (turn < kAwake) {
      chime::simt::yield();
    } else {
      const timespec nap{0, 50'000};
      ::nanosleep(&nap, nullptr);
    }
  }
}

}  // namespace softgpu::driver
