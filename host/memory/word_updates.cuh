// Updates of words of this PE's heap that peers have asked its host for. A kernel of the library
// does them where the heap is a GPU's, and the host where a NIC updates its words.
#pragma once

#include <type_traits>

#include "chime/device/amo.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/order.cuh"
#include "chime/device/path/nic/atomics.cuh"
#include "chime/device/route.cuh"
#include "host/gpu/library_kernel.hpp"

namespace chime::host {
namespace detail {

// `update(constant)` with the operation as a constant.
template <class Update>
CHIME_DEVICE auto with_operation(AmoOp op, Update update) {
  switch (op) {
    case AmoOp::kFetch:
      return update(std::integral_constant<AmoOp, AmoOp::kFetch>());
    case AmoOp::kSet:
      return update(std::integral_constant<AmoOp, AmoOp::kSet>());
    case AmoOp::kAdd:
      return update(std::integral_constant<AmoOp, AmoOp::kAdd>());
    case AmoOp::kAnd:
      return update(std::integral_constant<AmoOp, AmoOp::kAnd>());
    case AmoOp::kOr:
      return update(std::integral_constant<AmoOp, AmoOp::kOr>());
    case AmoOp::kXor:
      return update(std::integral_constant<AmoOp, AmoOp::kXor>());
    case AmoOp::kCompareSwap:
      break;  // the reader of requests has looked at `op`
  }
  return update(std::integral_constant<AmoOp, AmoOp::kCompareSwap>());
}

// Scope of the system, as all atomics of kernels have it: those and these are atomic with each
// other.
template <class Word>
CHIME_DEVICE Word update_here(AmoOp op, Word* word, Word operand, Word compare) {
  using enum exec::Order;
  using enum exec::Scope;
  return with_operation(op, [&](auto which) -> Word {
    constexpr AmoOp kOp = which.value;
    if constexpr (kOp == AmoOp::kFetch) {
      return exec::ld<kRelaxed, kSystem>(word);
    } else if constexpr (kOp == AmoOp::kSet) {
      return exec::atomic_exchange<kRelaxed, kSystem>(word, operand);
    } else if constexpr (kOp == AmoOp::kAdd) {
      return exec::atomic_add<kRelaxed, kSystem>(word, operand);
    } else if constexpr (kOp == AmoOp::kAnd) {
      return exec::atomic_and<kRelaxed, kSystem>(word, operand);
    } else if constexpr (kOp == AmoOp::kOr) {
      return exec::atomic_or<kRelaxed, kSystem>(word, operand);
    } else if constexpr (kOp == AmoOp::kXor) {
      return exec::atomic_xor<kRelaxed, kSystem>(word, operand);
    } else {
      return exec::atomic_cas<kRelaxed, kSystem>(word, compare, operand);
    }
  });
}

}  // namespace detail

// By this PE's NIC, through the queue pair that leads back to itself. False: it updates no words
// any more.
template <class Word>
CHIME_DEVICE bool update_by_nic(const Context& ctx, AmoOp op, Word* word, Word operand,
                                Word compare, Word* before) {
  const Route route = route_by_channel(ctx, Traffic::kAtomic, ctx.pe.my_pe);
  if (route.path != Path::kNic) return false;
  return detail::with_operation(op, [&](auto which) {
    const Amo<which.value, Word> amo{word, operand, compare};
    return nic::fetch_atomic(ctx, *route.channel, word, nic::request_of(amo), before);
  });
}

namespace detail {

template <class Word>
CHIME_DEVICE void update_one(const Context* by_nic, const UpdateCall& call,
                             const UpdateCall::Update& update) {
  Word* const word = static_cast<Word*>(update.word);
  const auto operand = static_cast<Word>(update.operand),
             compare = static_cast<Word>(update.compare);
  Word before = 0;
  if (by_nic == nullptr) {
    before = update_here(update.op, word, operand, compare);
  } else if (!update_by_nic(*by_nic, update.op, word, operand, compare, &before)) {
    *call.has_failed = 1;
  }
  if (update.before != nullptr) *update.before = before;
}

}  // namespace detail

// One fence before all updates: a reader that sees one sees everything that came before this
// kernel. One fence behind all: the host reads `before` words and reports their end to peers that
// may look for more. `by_nic`: null, or a context of kernels.
CHIME_DEVICE void update_words(const Context* by_nic, const UpdateCall& call) {
  order::puts_visible();
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const UpdateCall::Update& update = call.updates[i];
    if (update.bytes == 4) {
      detail::update_one<std::uint32_t>(by_nic, call, update);
    } else {
      detail::update_one<std::uint64_t>(by_nic, call, update);
    }
  }
  order::puts_visible();
}

}  // namespace chime::host
