// Every atomic of chime_amo_op by its number, as the host half of the API asks for it. The side
// that may touch the word carries it out: host code on the CPU device (host/ops/amo.cpp), a kernel
// of the library on a GPU.
#pragma once

#include "chime/device/amo.cuh"
#include "chime/host_ops.h"
#include "host/gpu/library_kernel.hpp"

namespace chime::host {

// The operations of elements of 2 bytes.
inline bool is_of_half(int op) {
  return op == CHIME_AMO_FETCH || op == CHIME_AMO_SET || op == CHIME_AMO_SWAP ||
         op == CHIME_AMO_FLOAT_ADD;
}
inline bool amo_exists(int op) { return op >= CHIME_AMO_FETCH && op <= CHIME_AMO_FLOAT_ADD; }

// By what name: row chime_amo_op, without and with the old value.
inline constexpr Operation kAmoOperations[][2] = {
    {Operation::kAtomicFetch, Operation::kAtomicFetch},
    {Operation::kAtomicSet, Operation::kAtomicSet},
    {Operation::kAtomicAdd, Operation::kAtomicFetchAdd},
    {Operation::kAtomicAnd, Operation::kAtomicFetchAnd},
    {Operation::kAtomicOr, Operation::kAtomicFetchOr},
    {Operation::kAtomicXor, Operation::kAtomicFetchXor},
    {Operation::kAtomicSwap, Operation::kAtomicSwap},
    {Operation::kAtomicCompareSwap, Operation::kAtomicCompareSwap},
    {Operation::kAtomicInc, Operation::kAtomicFetchInc},
    {Operation::kAtomicAdd, Operation::kAtomicFetchAdd},
};

inline Operation operation_of(const AmoCall& call) {
  return amo_exists(call.op) ? kAmoOperations[call.op][call.fetch != 0] : Operation::kNone;
}

// Each returns the word's old bits, or 0 where the operation gives none.

// The operations of integers of 4 and 8 bytes.
template <class T>
CHIME_DEVICE T apply_integer_amo(const Context& ctx, const AmoCall& call) {
  T* const dst = static_cast<T*>(call.word);
  const T operand = static_cast<T>(call.operand);
  const int pe = call.pe;
  const bool fetch = call.fetch != 0;
  switch (call.op) {
    case CHIME_AMO_ADD:
      if (fetch) return atomic_fetch_add(ctx, dst, operand, pe);
      return atomic_add(ctx, dst, operand, pe), 0;
    case CHIME_AMO_INC:
      if (fetch) return atomic_fetch_inc(ctx, dst, pe);
      return atomic_inc(ctx, dst, pe), 0;
    case CHIME_AMO_AND:
      if (fetch) return atomic_fetch_and(ctx, dst, operand, pe);
      return atomic_and(ctx, dst, operand, pe), 0;
    case CHIME_AMO_OR:
      if (fetch) return atomic_fetch_or(ctx, dst, operand, pe);
      return atomic_or(ctx, dst, operand, pe), 0;
    case CHIME_AMO_XOR:
      if (fetch) return atomic_fetch_xor(ctx, dst, operand, pe);
      return atomic_xor(ctx, dst, operand, pe), 0;
    case CHIME_AMO_COMPARE_SWAP:
      return atomic_compare_swap(ctx, dst, static_cast<T>(call.compare), operand, pe);
  }
  return 0;  // amo_exists was asked before
}

// The operations of every width. T: its unsigned integer.
template <class T>
CHIME_DEVICE T apply_amo_to(const Context& ctx, const AmoCall& call) {
  T* const dst = static_cast<T*>(call.word);
  const T operand = static_cast<T>(call.operand);
  if (call.op == CHIME_AMO_FETCH) return atomic_fetch(ctx, dst, call.pe);
  if (call.op == CHIME_AMO_SET) return atomic_set(ctx, dst, operand, call.pe), 0;
  if (call.op == CHIME_AMO_SWAP) return atomic_swap(ctx, dst, operand, call.pe);
  if constexpr (sizeof(T) == 2) {
    return 0;  // check_amo was asked before
  } else {
    return apply_integer_amo<T>(ctx, call);
  }
}

// T: a floating-point type.
template <class T>
CHIME_DEVICE std::uint64_t add_float(const Context& ctx, const AmoCall& call) {
  T* const dst = static_cast<T*>(call.word);
  const T operand = from_word<T>(static_cast<chime::detail::Word<sizeof(T)>>(call.operand));
  if (call.fetch != 0) return to_word(atomic_fetch_add(ctx, dst, operand, call.pe));
  return atomic_add(ctx, dst, operand, call.pe), 0;
}

CHIME_DEVICE std::uint64_t apply_amo(const Context& ctx, const AmoCall& call) {
  const bool adds_floats = call.op == CHIME_AMO_FLOAT_ADD;
  if (call.width == 2 && adds_floats) return add_float<exec::half>(ctx, call);
  if (call.width == 4 && adds_floats) return add_float<float>(ctx, call);
  if (call.width == 8 && adds_floats) return add_float<double>(ctx, call);
  if (call.width == 2) return apply_amo_to<std::uint16_t>(ctx, call);
  if (call.width == 4) return apply_amo_to<std::uint32_t>(ctx, call);
  return apply_amo_to<std::uint64_t>(ctx, call);
}

}  // namespace chime::host
