// Operations as values: the work to be done at a PE. They name no path; each path carries them out
// (path/README.md).
//
// Addresses at the PE are symmetric addresses. Elements come in the unsigned word of their size.
#ifndef CHIME_DEVICE_OP_CUH_
#define CHIME_DEVICE_OP_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/amo_op.h"
#include "chime/device/copy.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime {

// When an operation returns.
enum class Until {
  kPosted,  // nbi: the operation uses the memory here until quiet
  kLocal    // memory here may be used again
};

struct Put {
  void* dst;  // at the PE
  const void* src;
  std::size_t bytes;
  Until until;
};

struct Get {
  void* dst;
  const void* src;  // at the PE
  std::size_t bytes;
  Until until;
};

// How a signal word is updated: the values of CHIME_SIGNAL_*.
enum class SignalOp : int { kSet = 0, kAdd = 1 };

// A signal word at the PE and how it is updated.
struct SignalUpdate {
  std::uint64_t* word;
  std::uint64_t value;
  SignalOp op = SignalOp::kSet;
};

CHIME_DEVICE constexpr bool signal_op_exists(SignalOp op) {
  return op == SignalOp::kSet || op == SignalOp::kAdd;
}

// An atomic update of a word of 4 or 8 bytes at the PE.
template <AmoOp kWhich, class W>
struct Amo {
  using Word = W;
  static constexpr AmoOp kOp = kWhich;

  W* word;
  W operand = 0;
  W compare = 0;  // of kCompareSwap
};

// ---- Elements as words --------------------------------------------------------------------------

// An element in the unsigned type of its size: what stores and atomics work on.
template <class T>
CHIME_DEVICE detail::Word<sizeof(T)> to_word(T value) {
  detail::Word<sizeof(T)> word;
  memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
CHIME_DEVICE T from_word(detail::Word<sizeof(T)> word) {
  T value;
  memcpy(&value, &word, sizeof(T));
  return value;
}
template <class T>
CHIME_DEVICE detail::Word<sizeof(T)>* word_ptr(T* p) {
  return reinterpret_cast<detail::Word<sizeof(T)>*>(p);
}
template <class T>
CHIME_DEVICE const detail::Word<sizeof(T)>* word_ptr(const T* p) {
  return reinterpret_cast<const detail::Word<sizeof(T)>*>(p);
}

}  // namespace chime

#endif  // CHIME_DEVICE_OP_CUH_
