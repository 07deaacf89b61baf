// Decides by which path a PE is reached, once per call, and nowhere else.
//
// Loads and stores reach memory that is mapped here (path/p2p). A channel reaches other memory, if
// one leads to the PE. An operation continues in the callback of the decision (path/ops.cuh); a
// Route is for callers that only ask.
#ifndef CHIME_DEVICE_ROUTE_CUH_
#define CHIME_DEVICE_ROUTE_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/words.h"
#include "chime/device/bounds.cuh"
#include "chime/device/channel/opening.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/paths.cuh"
#include "chime/device/symmetric.cuh"

namespace chime {

// Updates of one word are atomic with each other only if one agent makes them all. So if a PE of
// the job is out of reach of loads and stores, the NIC or proxy of the word's owner makes them for
// every PE, mapped or not: Pe::amo_path is one answer for the whole job. One channel writes the
// words by which a team meets in a lane, whichever thread calls: otherwise a later arrival could
// overtake an earlier one. Other lanes and teams use other channels where a peer has several.
enum class Traffic : unsigned { kData, kAtomic, kMeeting };  // and from kMeeting on: each lane

CHIME_DEVICE constexpr Traffic traffic_of_meeting(std::int32_t team) {
  const auto number = static_cast<unsigned>(abi::team_index(team) + abi::team_lane(team));
  return static_cast<Traffic>(static_cast<unsigned>(Traffic::kMeeting) + number);
}

CHIME_DEVICE constexpr Traffic traffic_of(SignalOp op) {
  return op == SignalOp::kAdd ? Traffic::kAtomic : Traffic::kData;
}

// ---- Channels -----------------------------------------------------------------------------------

// Which of a context's channels to a peer the calling thread uses. It is always the same one, so
// that the thread's operations stay in order. The blocks are spread over the channels.
CHIME_DEVICE unsigned slot_for(const abi::Channels& all, Traffic traffic) {
  constexpr auto kMeeting = static_cast<unsigned>(Traffic::kMeeting);
  const auto kind = static_cast<unsigned>(traffic);
  if (kind >= kMeeting) return (kind - kMeeting) & (all.slots - 1);
  return exec::in_kernel() ? exec::block_rank() & (all.slots - 1) : 0;
}

namespace detail {

CHIME_DEVICE bool has_channels(const Context& ctx) {
  return kHasChannels && ctx.channels.pool.channels != nullptr;
}

}  // namespace detail

// Calls `go(path, channel)`; false if no channel leads to the PE.
template <class Go>
CHIME_DEVICE bool by_channel(const Context& ctx, Traffic traffic, int pe, Go go) {
  const abi::Channels& all = ctx.channels;
  if (!detail::has_channels(ctx)) return false;
  std::uint32_t word = exec::ld_settled(all.route + pe);  // set at init, or never
  if (word == 0 && (all.opened == nullptr || (word = channel::open_route(ctx, pe)) == 0)) {
    return false;
  }
  const std::uint32_t index = abi::first_of_route(word) + slot_for(all, traffic);
  return go(abi::path_of_route(word), all.pool.channels[index]);
}

// ---- Mapped memory ------------------------------------------------------------------------------

// The PE's heap as it is mapped here; null: loads and stores may not carry the traffic. The answer
// for a peer never changes. REQUIRES: pe_exists(ctx, pe).
CHIME_DEVICE std::byte* mapped_heap(const Context& ctx, Traffic traffic, int pe) {
  const bool by_its_owner = traffic == Traffic::kAtomic && ctx.pe.amo_path != Path::kP2p;
  return by_its_owner ? nullptr : exec::ld_settled(ctx.pe.peer_heap + pe);
}

// ---- What an operation touches ------------------------------------------------------------------

// The symmetric memory that an operation touches at a PE.
struct Target {
  const void* address;
  std::size_t bytes;
  std::uint32_t alignment;     // what the address must be a multiple of
  bool is_chimes = false;      // Chime's own memory: bounds do not concern it
  const void* here = nullptr;  // the local memory, as many bytes; null: only values move
};

template <class T>
CHIME_DEVICE Target target_word(const T* word) {
  return {word, sizeof(T), sizeof(T)};
}

// CHIME_CHECK=2 checks both ends.
CHIME_DEVICE bool are_in_bounds(const Context& ctx, const Target& target) {
  return target.is_chimes || (is_in_bounds(ctx, target.address, target.bytes) &&
                              is_in_bounds(ctx, target.here, target.bytes));
}

// No memory has so many bytes: the count is negative, or its bytes overflow (CHIME_BYTES).
CHIME_DEVICE bool has_too_many_bytes(const Target& target) {
  return static_cast<std::int64_t>(target.bytes) < 0;
}

// The checks of a checked job. CHIME_CHECK=1: the end of memory that begins in the heap, and the
// alignment. CHIME_CHECK=2: also that both ends keep to one allocation. Out of line: a job without
// checks pays no register for it.
CHIME_DEVICE_OUT_OF_LINE bool passes_checks(const Context& ctx, Target target) {
  const std::uint64_t offset = heap_offset(ctx, target.address);
  const bool ends_right =
      target.is_chimes || offset >= ctx.pe.heap_bytes || target.bytes <= ctx.pe.heap_bytes - offset;
  return ends_right && is_aligned(target.address, target.alignment) && are_in_bounds(ctx, target);
}

// Whether the target is in the heap, in a job that makes no other checks. Has no branch: three
// comparisons become one.
CHIME_DEVICE bool is_in_unchecked_heap(const Context& ctx, const Target& target) {
  const unsigned in_heap = target.is_chimes || heap_offset(ctx, target.address) < ctx.pe.heap_bytes;
  const unsigned not_too_many = !has_too_many_bytes(target), unchecked = checks_of(ctx) == 0;
  return (in_heap & not_too_many & unchecked) != 0;
}

// Whether the target is in the heap; CHIME_CHECK=1 also checks its end and its alignment,
// CHIME_CHECK=2 the bounds of allocations.
CHIME_DEVICE bool may_touch(const Context& ctx, const Target& target) {
  const bool in_heap = target.is_chimes || heap_offset(ctx, target.address) < ctx.pe.heap_bytes;
  return in_heap && !has_too_many_bytes(target) &&
         (checks_of(ctx) == 0 || passes_checks(ctx, target));
}

// Whether the target is memory of the calling PE that is not symmetric. An operation on the calling
// PE uses such an address as it is. REQUIRES: !may_touch(ctx, target).
CHIME_DEVICE bool is_own_memory(const Context& ctx, const Target& target, int pe) {
  return ctx.abi_version != 0 && pe == ctx.pe.my_pe &&
         heap_offset(ctx, target.address) >= ctx.pe.heap_bytes && target.address != nullptr &&
         !exec::is_no_memory(target.address) && !has_too_many_bytes(target) &&
         (checks_of(ctx) == 0 || passes_checks(ctx, target));
}

// The same for an operation's second target at `pe`; `is_mapped`: whether loads and stores reach
// it.
// REQUIRES: !is_in_unchecked_heap(ctx, target).
CHIME_DEVICE bool may_touch_too(const Context& ctx, const Target& target, int pe, bool is_mapped) {
  return may_touch(ctx, target) || (is_mapped && is_own_memory(ctx, target, pe));
}

// ---- The decision -------------------------------------------------------------------------------

namespace detail {

// No memory has this address.
CHIME_DEVICE std::byte* nowhere() { return reinterpret_cast<std::byte*>(~std::uintptr_t{0}); }

// The heap by which loads and stores reach the target; null: a channel reaches it; nowhere(): the
// operation may not touch it, or the PE does not exist.
CHIME_DEVICE std::byte* checked_heap(const Context& ctx, Traffic traffic, const Target& target,
                                     int pe) {
  if (!may_touch(ctx, target)) return is_own_memory(ctx, target, pe) ? ctx.pe.heap : nowhere();
  return pe_exists(ctx, pe) ? mapped_heap(ctx, traffic, pe) : nowhere();
}

}  // namespace detail

// Calls `by_stores(heap)` if loads and stores reach the target, else `by_requests(path, channel)`;
// each returns whether there is such a path. False: no path leads there, or the operation may not
// touch the target.
//
// Loads and stores reach memory of the calling PE that is not symmetric, whichever agent updates
// the heap's words: no other PE reaches such memory. The distance of an address from the heap leads
// to it, so the path need not know the difference. A channel carries no misaligned words.
template <class ByStores, class ByRequests>
CHIME_DEVICE bool decide(const Context& ctx, Traffic traffic, const Target& target, int pe,
                         ByStores by_stores, ByRequests by_requests) {
  std::byte* heap = nullptr;
  const unsigned in_heap = is_in_unchecked_heap(ctx, target), exists = pe_exists(ctx, pe);
  if ((in_heap & exists) != 0) {
    heap = mapped_heap(ctx, traffic, pe);
  } else {
    heap = detail::checked_heap(ctx, traffic, target, pe);
    if (heap == detail::nowhere()) return false;
  }
  if (heap != nullptr) return by_stores(heap);
  if (!is_aligned(target.address, target.alignment)) return false;
  return by_channel(ctx, traffic, pe, by_requests);
}

struct Route {
  Path path = Path::kNone;
  int pe = -1;
  std::byte* mapped = nullptr;      // kP2p: the PE's heap, as it is mapped here
  abi::Channel* channel = nullptr;  // other paths: the channel that the calling thread uses
};

CHIME_DEVICE Route route_by_channel(const Context& ctx, Traffic traffic, int pe) {
  Route route;
  by_channel(ctx, traffic, pe, [&](Path path, abi::Channel& channel) {
    route = {.path = path, .pe = pe, .channel = &channel};
    return true;
  });
  return route;
}

// For a caller that only asks for the path.
CHIME_DEVICE Route route_to(const Context& ctx, Traffic traffic, int pe) {
  if (!pe_exists(ctx, pe)) return {};
  if (std::byte* const mapped = mapped_heap(ctx, traffic, pe)) {
    return {.path = Path::kP2p, .pe = pe, .mapped = mapped};
  }
  return route_by_channel(ctx, traffic, pe);
}

// ---- Errors -------------------------------------------------------------------------------------

// The memory is in the heap of `pe`, which may be this PE, and no single allocation has all of it.
CHIME_DEVICE void fail_bounds(const Context& ctx, const void* address, std::size_t bytes, int pe,
                              Operation operation) {
  fail(ctx, {.status = CHIMEX_ERR_INVALID,
             .operation = operation,
             .pe = pe,
             .fault = Fault::kBounds,
             .address = address,
             .expected = bytes});
}

// Finds and reports the reason, and leaves. A Context that is not filled has no path to any PE.
CHIME_DEVICE_OUT_OF_LINE void fail_route(const Context& ctx, Target target, int pe,
                                         Operation operation) {
  need_filled(ctx);
  const bool is_outside = heap_offset(ctx, target.address) >= ctx.pe.heap_bytes;
  const bool is_own =
      is_outside && pe == ctx.pe.my_pe && target.address != nullptr && !has_too_many_bytes(target);
  const bool exists =
      pe_exists(ctx, pe) && (target.is_chimes || is_in_heap(ctx, target.address, target.bytes));
  const bool is_misaligned = (exists || is_own) && !is_aligned(target.address, target.alignment);
  if ((exists || is_own) && !is_misaligned && !are_in_bounds(ctx, target)) {
    const bool is_there = !is_in_bounds(ctx, target.address, target.bytes);
    return fail_bounds(ctx, is_there ? target.address : target.here, target.bytes,
                       is_there ? pe : ctx.pe.my_pe, operation);
  }
  fail(ctx, {.status = exists && !is_misaligned ? CHIMEX_ERR_UNREACHABLE : CHIMEX_ERR_INVALID,
             .operation = operation,
             .pe = pe,
             .fault = is_misaligned ? Fault::kAlignment : Fault::kPlace,
             .address = target.address,
             .expected = is_misaligned ? target.alignment : target.bytes});
}

// Whether this PE has memory at the local address of an operation. False after an error with
// CHIME_ON_ERROR=return. On a GPU the first load finds an error.
CHIME_DEVICE bool is_memory(const Context& ctx, const void* here, std::size_t bytes,
                            Operation operation) {
  if (!exec::is_no_memory(here)) return true;
  fail(ctx, {.status = CHIMEX_ERR_INVALID,
             .operation = operation,
             .pe = ctx.pe.my_pe,
             .fault = Fault::kNoMemory,
             .address = here,
             .expected = bytes});
  return false;
}

CHIME_DEVICE_OUT_OF_LINE bool check_bounds_here(const Context& ctx, const void* here,
                                                std::size_t bytes, Operation operation) {
  if (is_in_bounds(ctx, here, bytes)) return true;
  fail_bounds(ctx, here, bytes, ctx.pe.my_pe, operation);
  return false;
}

// Checks the local memory of a strided operation: it has other bytes than the target. False after
// an error with CHIME_ON_ERROR=return.
CHIME_DEVICE bool check_here(const Context& ctx, const void* here, std::size_t bytes,
                             Operation operation) {
  return checks_of(ctx) == 0 || check_bounds_here(ctx, here, bytes, operation);
}

// An operation on no bytes touches nothing, but in a checked job its PE must exist. False after an
// error with CHIME_ON_ERROR=return.
CHIME_DEVICE bool check_pe(const Context& ctx, int pe, Operation operation) {
  if (checks_of(ctx) == 0 || pe_exists(ctx, pe)) return true;
  fail_route(ctx, {nullptr, 0, 1}, pe, operation);
  return false;
}

}  // namespace chime

#endif  // CHIME_DEVICE_ROUTE_CUH_
