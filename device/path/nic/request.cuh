// Work requests: how they get into a send queue, and the segments of each (chime/abi/requests.md
// has the table).
#ifndef CHIME_DEVICE_PATH_NIC_REQUEST_CUH_
#define CHIME_DEVICE_PATH_NIC_REQUEST_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/abi/channel.h"
#include "chime/abi/wqe.h"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/submit.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/channel.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/small_data.cuh"

namespace chime::nic {

using channel::Alone;
using channel::is_stopped;
using channel::Ticket;
using channel::wait_for_word;
using channel::wait_on;

CHIME_DEVICE bool may_post(const Context& ctx, Channel& queue) {
  return channel::may_post<Path::kNic>(ctx, queue);
}
CHIME_DEVICE bool await_done(const Context& ctx, Channel& queue, std::uint64_t target) {
  return channel::await_done<Path::kNic>(ctx, queue, target);
}
CHIME_DEVICE bool wait_for(const Context& ctx, Channel& queue, Ticket ticket) {
  return channel::wait_for<Path::kNic>(ctx, queue, ticket);
}

// `write(view, index, is_last)` writes the requests of one thread: see channel::submit.
template <class Group, class Write>
CHIME_DEVICE Ticket submit(const Context& ctx, Group group, Channel& queue, const Shape& shape,
                           Write write) {
  return channel::submit<Path::kNic>(ctx, group, queue, shape, write);
}

// Writes one request: the segments one after the other, and at last the control segment, which has
// their number.
class Request {
 public:
  // `index`: the request's first WQEBB. `is_reported`: a CQE reports its completion, and with it
  // that of all earlier requests; else only that it is the first to fail.
  CHIME_DEVICE Request(const QueueView& view, std::uint64_t index, bool is_reported)
      : view_(view), index_(index), flags_(is_reported ? abi::kCqeAlways : abi::kCqeOnFirstError) {}

  CHIME_DEVICE void segment(const abi::WqeSegment& value) { put(segments_++, value); }
  CHIME_DEVICE void remote(const Remote& remote) {
    segment(abi::remote_segment(remote.address, remote.rkey_be));
  }
  CHIME_DEVICE void data(const Local& local, std::uint32_t bytes) {
    segment(abi::data_segment(bytes, local.lkey_be, local.address));
  }
  // Data that several threads write. The thread that writes the other segments calls inline_header
  // with the size; any thread writes the `rank`-th element.
  CHIME_DEVICE void inline_header(std::uint32_t bytes) {
    put_word(kInlineAt, abi::inline_header(bytes));
    segments_ += abi::inline_segments_of(bytes);
  }
  template <class W>
  CHIME_DEVICE void inline_element(unsigned rank, W value) const {
    const unsigned at = kInlineAt + abi::kInlineHeaderBytes + rank * sizeof(W);
    if constexpr (sizeof(W) <= 4) {
      put_word(at, value);
    } else {  // aligned to 4 bytes here, and may go around the ring's end
      static_assert(sizeof(W) == 8);
      std::uint32_t half[2];
      memcpy(half, &value, sizeof(W));
      put_word(at, half[0]);
      put_word(at + 4, half[1]);
    }
  }
  // Delays the request until all earlier reads have ended.
  CHIME_DEVICE void after_reads() { flags_ |= abi::kFenceReads; }

  CHIME_DEVICE void end(abi::WqeOpcode opcode, abi::AtomicSize size = abi::AtomicSize::kPlain,
                        std::uint32_t immediate_be = 0) const {
    put(0, abi::control_segment({.opcode = opcode,
                                 .segments = static_cast<std::uint8_t>(segments_),
                                 .flags = flags_,
                                 .size = size,
                                 .immediate_be = immediate_be},
                                index_, view_.head.number_be));
  }

 private:
  // One 16-byte store. At the ring's end a request continues at the start.
  CHIME_DEVICE void put(unsigned at, const abi::WqeSegment& value) const {
    constexpr unsigned kInOne = abi::kWqebbBytes / abi::kSegmentBytes;
    const std::uint32_t wqebb =
        (static_cast<std::uint32_t>(index_) + at / kInOne) & (view_.head.depth - 1u);
    exec::st16(view_.head.ring + wqebb * abi::kWqebbBytes + at % kInOne * abi::kSegmentBytes,
               {{value.word[0], value.word[1], value.word[2], value.word[3]}});
  }

  // One store of up to 4 bytes, `at` bytes after the request's start.
  template <class W>
  CHIME_DEVICE void put_word(unsigned at, W word) const {
    const auto first = static_cast<std::uint32_t>(index_) * abi::kWqebbBytes;
    const std::uint32_t from_ring = (first + at) & (view_.head.depth * abi::kWqebbBytes - 1);
    exec::st<Order::kRelaxed, Scope::kSystem>(reinterpret_cast<W*>(view_.head.ring + from_ring),
                                              word);
  }

  static constexpr unsigned kInlineAt = 2 * abi::kSegmentBytes;  // after control and remote

  const QueueView& view_;
  const std::uint64_t index_;
  std::uint8_t flags_;
  unsigned segments_ = 1;  // with the control segment
};

// A write from, or a read into, memory that the NIC knows.
CHIME_DEVICE void put_transfer(Request request, abi::WqeOpcode opcode, const Remote& remote,
                               const Local& local, std::uint32_t bytes) {
  request.remote(remote);
  request.data(local, bytes);
  request.end(opcode);
}

// Data in registers, as a request carries it.
template <class T>
CHIME_DEVICE abi::InlineData inline_data_of(const T& value) {
  return small_data_of<abi::InlineData>(value);
}
template <std::size_t kLeast>
CHIME_DEVICE abi::InlineData load_inline(const std::byte* from, std::uint32_t bytes) {
  return load_small_data<abi::InlineData, kLeast>(from, bytes);
}

// A write that carries its data in the request.
CHIME_DEVICE void put_inline_write(Request request, const Remote& remote, std::uint32_t bytes,
                                   const abi::InlineData& data) {
  request.remote(remote);
  request.segment(abi::inline_segment(bytes, data));
  if (bytes > abi::kInlineInOneSegment) request.segment(abi::inline_rest_segment(data));
  request.end(abi::WqeOpcode::kWrite);
}

// Reads the memory at `local` after all earlier reads: then their data has arrived.
CHIME_DEVICE void put_dump(Request request, const Local& local) {
  request.after_reads();
  request.data(local, 1);
  request.end(abi::WqeOpcode::kDump);
}

// ---- Atomics ------------------------------------------------------------------------------------
// Each type has its opcode, and writes its segments after the remote one.

struct FetchAdd8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::kPlain;
  static constexpr unsigned kSegments = 1;
  std::uint64_t add;

  CHIME_DEVICE void put(Request& request) const { request.segment(abi::fetch_add_segment(add)); }
};

struct CompareSwap8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::kPlain;
  static constexpr unsigned kSegments = 1;
  std::uint64_t swap, compare;

  CHIME_DEVICE void put(Request& request) const {
    request.segment(abi::compare_swap_segment(swap, compare));
  }
};

struct MaskedAdd4 {
  using Word = std::uint32_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k4;
  static constexpr unsigned kSegments = 1;
  std::uint32_t add, boundary;

  CHIME_DEVICE void put(Request& request) const {
    request.segment(abi::masked_add4_segment(add, boundary));
  }
};

struct MaskedAdd8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedFetchAdd;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k8;
  static constexpr unsigned kSegments = 1;
  std::uint64_t add, boundary;

  CHIME_DEVICE void put(Request& request) const {
    request.segment(abi::masked_add8_segment(add, boundary));
  }
};

struct MaskedSwap4 {
  using Word = std::uint32_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k4;
  static constexpr unsigned kSegments = 1;
  abi::MaskedSwap<std::uint32_t> masked;

  CHIME_DEVICE void put(Request& request) const {
    request.segment(abi::masked_swap4_segment(masked));
  }
};

struct MaskedSwap8 {
  using Word = std::uint64_t;
  static constexpr abi::WqeOpcode kOpcode = abi::WqeOpcode::kMaskedCompareSwap;
  static constexpr abi::AtomicSize kSize = abi::AtomicSize::k8;
  static constexpr unsigned kSegments = 2;
  abi::MaskedSwap<std::uint64_t> masked;

  CHIME_DEVICE void put(Request& request) const {
    request.segment(abi::masked_swap8_segment(masked));
    request.segment(abi::masked_swap8_masks_segment(masked));
  }
};

template <class Atomic>
inline constexpr unsigned kWqebbsOf =
    abi::wqebbs_of(3 + Atomic::kSegments);  // plus control, remote, result

template <class Atomic>
CHIME_DEVICE void put_atomic(Request request, const Remote& remote, const Atomic& atomic,
                             const Local& result) {
  request.remote(remote);
  atomic.put(request);
  request.data(result, sizeof(typename Atomic::Word));
  request.end(Atomic::kOpcode, Atomic::kSize);
}

}  // namespace chime::nic

#endif  // CHIME_DEVICE_PATH_NIC_REQUEST_CUH_
