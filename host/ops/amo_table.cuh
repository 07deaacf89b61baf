// Every atomic of chime_amo_op by its number: what the host half of the API asks for, done by
// whoever may touch the word. Host code on the CPU device (ops.cpp), a kernel of the library on a
// GPU.
#pragma once

#include "chime/device/amo.cuh"
#include "chime/host_ops.h"
#include "host/gpu/library_kernel.hpp"

namespace chime::host {

inline bool amo_exists(int op) { return op >= CHIME_AMO_FETCH && op <= CHIME_AMO_INC; }

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
};

inline Operation operation_of(const AmoCall& call) {
  return amo_exists(call.op) ? kAmoOperations[call.op][call.fetch != 0] : Operation::kNone;
}

// Returns the word's old bits, or 0 where the operation gives none.
template <class T>
CHIME_DEVICE T apply_amo_to(const Context& ctx, const AmoCall& call) {
  T* const dst = static_cast<T*>(call.word);
  const T operand = static_cast<T>(call.operand);
  const int pe = call.pe;
  const bool fetch = call.fetch != 0;
  switch (call.op) {
    case CHIME_AMO_FETCH:
      return atomic_fetch(ctx, dst, pe);
    case CHIME_AMO_SET:
      return atomic_set(ctx, dst, operand, pe), 0;
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
    case CHIME_AMO_SWAP:
      return atomic_swap(ctx, dst, operand, pe);
    case CHIME_AMO_COMPARE_SWAP:
      return atomic_compare_swap(ctx, dst, static_cast<T>(call.compare), operand, pe);
  }
  return 0;  // amo_exists was asked before
}

CHIME_DEVICE std::uint64_t apply_amo(const Context& ctx, const AmoCall& call) {
  if (call.width == 4) return apply_amo_to<std::uint32_t>(ctx, call);
  return apply_amo_to<std::uint64_t>(ctx, call);
}

}  // namespace chime::host
