// Operations on PEs whose memory is not mapped here: by the NIC, or not at all.
//
// All out of line, so that the stores to mapped peers stay as short as they are; elements come in
// the unsigned word of their size, so that types share these functions. The last decision, whether
// the NIC carries it, is peer.cuh's.
#ifndef CHIME_DEVICE_UNMAPPED_CUH_
#define CHIME_DEVICE_UNMAPPED_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/state.h"
#include "chime/device/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/path/nic/amo.cuh"
#include "chime/device/path/nic/rma.cuh"
#include "chime/device/path/nic/signal.cuh"
#include "chime/device/peer.cuh"

namespace chime::unmapped {

CHIME_DEVICE nic::Domain domain_of(const Context& ctx) { return {ctx, *nic_of(ctx)}; }

CHIME_DEVICE nic::Until until_of(Operation operation) {
  const bool is_nbi = operation == Operation::kPutNbi || operation == Operation::kGetNbi ||
                      operation == Operation::kPutSignalNbi;
  return is_nbi ? nic::Until::kPosted : nic::Until::kLocal;
}

// False if there is no way and CHIME_ON_ERROR=return.
template <std::size_t kLeast, class Group>
CHIME_DEVICE_OUT_OF_LINE bool put(const Context& ctx, Group g, void* dst, const void* src,
                                  std::size_t bytes, int pe, Operation operation) {
  if (!nic_carries(ctx, rma_path(ctx, pe), dst, bytes, kLeast)) {
    fail_unreachable(ctx, dst, bytes, pe, {operation, kLeast});
    return false;
  }
  nic::put<kLeast>(domain_of(ctx), g, dst, src, bytes, pe, until_of(operation));
  return true;
}

template <class Group>
CHIME_DEVICE_OUT_OF_LINE void get(const Context& ctx, Group g, void* dst, const void* src,
                                  std::size_t bytes, int pe, Caller caller) {
  if (!nic_carries(ctx, rma_path(ctx, pe), src, bytes, caller.alignment)) {
    return fail_unreachable(ctx, src, bytes, pe, caller);
  }
  nic::get(domain_of(ctx), g, dst, src, bytes, pe, until_of(caller.operation));
}

template <class Word>
CHIME_DEVICE_OUT_OF_LINE void p(const Context& ctx, Word* dst, Word value, int pe) {
  if (!nic_carries(ctx, rma_path(ctx, pe), dst, sizeof(Word), sizeof(Word))) {
    return fail_unreachable(ctx, dst, sizeof(Word), pe, {Operation::kP, sizeof(Word)});
  }
  nic::p(domain_of(ctx), dst, value, pe);
}

template <class Word>
CHIME_DEVICE_OUT_OF_LINE Word g(const Context& ctx, const Word* src, int pe) {
  if (nic_carries(ctx, rma_path(ctx, pe), src, sizeof(Word), sizeof(Word))) {
    return nic::g(domain_of(ctx), src, pe);
  }
  fail_unreachable(ctx, src, sizeof(Word), pe, {Operation::kG, sizeof(Word)});
  return {};
}

using nic::Strides;

// `extent`: bytes from the first to the end of the last element at the PE.
template <class Word, class Group>
CHIME_DEVICE_OUT_OF_LINE void iput(const Context& ctx, Group g, void* dst, const void* src,
                                   Strides strides, std::size_t n, std::size_t extent, int pe) {
  if (!nic_carries(ctx, rma_path(ctx, pe), dst, extent, sizeof(Word))) {
    return fail_unreachable(ctx, dst, extent, pe, {Operation::kIput, sizeof(Word)});
  }
  nic::iput<Word>(domain_of(ctx), g, dst, src, strides, n, pe);
  g.sync();
}

template <class Word, class Group>
CHIME_DEVICE_OUT_OF_LINE void iget(const Context& ctx, Group g, void* dst, const void* src,
                                   Strides strides, std::size_t n, std::size_t extent, int pe) {
  if (!nic_carries(ctx, rma_path(ctx, pe), src, extent, sizeof(Word))) {
    return fail_unreachable(ctx, src, extent, pe, {Operation::kIget, sizeof(Word)});
  }
  nic::iget<Word>(domain_of(ctx), g, dst, src, strides, n, pe);
  g.sync();
}

// `atomic`: one of path/nic/request.cuh, on the word at `dst`.
template <class Atomic, class Word = typename Atomic::Word>
CHIME_DEVICE_OUT_OF_LINE void post_amo(const Context& ctx, Word* dst, Atomic atomic, int pe,
                                       Operation operation) {
  if (!nic_carries_word(ctx, amo_path(ctx, pe), dst)) {
    return fail_unreachable(ctx, dst, sizeof(Word), pe, {operation, sizeof(Word)});
  }
  nic::post_amo(domain_of(ctx), dst, atomic, pe);
}

template <class Atomic, class Word = typename Atomic::Word>
CHIME_DEVICE_OUT_OF_LINE Word fetch_amo(const Context& ctx, Word* dst, Atomic atomic, int pe,
                                        Operation operation) {
  if (nic_carries_word(ctx, amo_path(ctx, pe), dst)) {
    return nic::fetch_amo(domain_of(ctx), dst, atomic, pe);
  }
  fail_unreachable(ctx, dst, sizeof(Word), pe, {operation, sizeof(Word)});
  return 0;
}

// How a signal is sent; data that comes with it goes the same way.
CHIME_DEVICE Path signal_path(const Context& ctx, bool adds, int pe) {
  return adds ? amo_path(ctx, pe) : rma_path(ctx, pe);
}

CHIME_DEVICE bool nic_signals(const Context& ctx, const std::uint64_t* word, bool adds, int pe) {
  return nic_carries_word(ctx, signal_path(ctx, adds, pe), word);
}

// REQUIRES: nic_signals(ctx, word, adds, pe)
template <std::size_t kLeast, class Group>
CHIME_DEVICE_OUT_OF_LINE void put_signal(const Context& ctx, Group g, void* dst, const void* src,
                                         std::size_t bytes, std::uint64_t* word,
                                         std::uint64_t value, bool adds, int pe,
                                         Operation operation) {
  if (bytes != 0 && !nic_carries(ctx, Path::kNic, dst, bytes, kLeast)) {
    return fail_unreachable(ctx, dst, bytes, pe, {operation, kLeast});
  }
  const nic::Domain domain = domain_of(ctx);
  const nic::Until until = until_of(operation);
  nic::put_signal<kLeast>(domain, g, dst, src, bytes,
                          nic::signal_update(domain, word, value, adds, pe), pe, until);
  if (until == nic::Until::kLocal) g.sync();  // any member may reuse the source
}

// REQUIRES: the same
CHIME_DEVICE_OUT_OF_LINE void signal(const Context& ctx, std::uint64_t* word, std::uint64_t value,
                                     bool adds, int pe) {
  const nic::Domain domain = domain_of(ctx);
  nic::signal_op(domain, nic::signal_update(domain, word, value, adds, pe), pe);
}

}  // namespace chime::unmapped

#endif  // CHIME_DEVICE_UNMAPPED_CUH_
