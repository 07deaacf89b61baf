// A channel: a queue of requests, and their progress. It is a queue pair of a NIC, which leads to
// one peer, or a FIFO of requests to the proxy, which leads to many. This file has what all kinds
// share; nic_queue.h and proxy_fifo.h have what differs by path.
//
// Posters reserve units and commit them (Producer); pollers publish how far the requests are
// complete (Progress). device/channel/README.md has the protocol. "Owner: the host" means: written
// before the structure is published, read-only from then on.
#ifndef CHIME_ABI_CHANNEL_H_
#define CHIME_ABI_CHANNEL_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic_queue.h"
#include "chime/abi/openings.h"
#include "chime/abi/pe.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/cxx20.h"

namespace chime::abi {

// The upper bits of Producer::ready (words.h). The last request's tail: the units that it takes
// after its first.
inline constexpr std::uint64_t kOwed = 1ull << 63;  // earlier requests need a notification
inline constexpr unsigned kTailShift = 60;
inline constexpr unsigned kMostTail = 7;  // units: the range of three bits below kOwed

// The upper bits of Progress::done. A poster that looks for room reads them in the same load: while
// one of them is set, there is no room.
inline constexpr std::uint64_t kStopped = 1ull << 63;   // out of use; the cause is written
inline constexpr std::uint64_t kFresh = 1ull << 62;     // never posted to; set by the host
inline constexpr std::uint64_t kSomeLost = 1ull << 61;  // FIFO: a request failed, its peer is lost

// The bits of both that remain for the index.
inline constexpr std::uint64_t kIndexBits = (1ull << kTailShift) - 1;
static_assert(kIndexBits < kSomeLost && std::uint64_t{kMostTail} << kTailShift < kOwed);

// Indices count units of the ring (WQEBBs, slots) since the channel was made, in 64 bits.
struct alignas(128) Producer {
  std::uint64_t resv;    // reserved by posters; owner: atomic add of the poster
  std::uint64_t ready;   // written, in order; owner: the poster whose base it equals. FIFO: as resv
  std::uint64_t mapped;  // FIFO: not 0 when it sent an update without a result to a mapped peer;
                         // owner: its posters
  std::uint64_t limited;  // FIFO: not 0 while a peer may be at its limit, so that posters look;
                          // owner: its posters
  std::uint64_t
      announced;  // words.h: the last announcements of meetings; relaxed, by their posters
  std::uint64_t reserved[11];
};

// A wait that was given up, in the terms of ErrorRecord.
struct GivenUp {
  std::uint64_t address, expected, seen, waited_ns;
  std::int32_t status, pe;
};

// The thread that changes `status` from 0 owns the fields after it. kStopped publishes them.
struct alignas(128) Progress {
  std::uint64_t done;    // one past the first unit of the last request known to be complete; atomic
                         // max
  std::uint64_t failed;  // as `done`, once it is stopped, and with failed requests; atomic max
  std::uint64_t taken;   // completions that pollers took; atomic compare-and-swap. FIFO: slots that
                         // the proxy took, as far as posters know; atomic max
  std::uint32_t status;  // 0 in use, else the cause: words.h
  std::uint32_t cause[3];  // kError, by path; a NIC's CQE: tail, syndrome, opcode
  GivenUp wait;            // kGaveUp
  std::uint32_t reserved[12];
};

// Why a channel is no longer used.
enum class Stop : std::uint32_t {
  kNone = 0,
  kError = 1,   // a request failed; the path's syndrome is in the low byte
  kGaveUp = 2,  // a thread left a wait between reservation and completion
  kClosed = 3,  // the host took it out of use
};

// ChannelFault::published, once it is not 0.
inline constexpr std::uint32_t kFaultClaimed = 1;  // a thread writes it
inline constexpr std::uint32_t kFaultWhole = 2;    // the other fields are complete
inline constexpr std::uint32_t kFaultReported =
    3;  // and it is in the ErrorRecord, if that was free

// The first failure of a channel, in host-visible memory. Owner: the thread that changed
// `published` from 0, which is the first to leave the channel (kernel or host). `published`
// increases with release: for the host's reader, and for other threads that leave. These record
// nothing before it is reported.
struct alignas(64) ChannelFault {
  std::uint32_t published;
  std::uint32_t status;  // Progress::status at that time
  std::int32_t pe;       // the peer of the request that failed
  std::uint32_t context;
  std::uint32_t path;     // Path
  std::uint32_t number;   // of Stop::kError, as the fields below. NIC: number of the queue pair
  std::uint8_t opcode;    // NIC: WqeOpcode. Proxy: ProxyKind
  std::uint8_t syndrome;  // NIC: CqeSyndrome
  std::uint8_t vendor_error;
  std::uint8_t first_lost;  // 1: flushed; the cause was overwritten (collapsed CQ)
  std::uint16_t request;    // NIC: low 16 bits of its index
  std::uint16_t reserved;
  std::uint64_t address;  // the request's address at the peer, translated to the heap here
  std::uint64_t bytes;
  std::uint64_t time_ns;  // exec::clock_ns
  std::int32_t error;     // chimex_status of the failure
  std::uint32_t reserved2;
};
static_assert(sizeof(ChannelFault) == 64 && offsetof(ChannelFault, address) == 32);

// The findings of waits about all channels of a pool.
struct alignas(128) Watch {
  std::uint64_t looked_ns;  // when a channel was polled last (exec::clock_ns); compare-and-swap
  std::uint64_t next;       // index of the next to poll; owner: the thread that changed looked_ns
  std::uint64_t lost;  // 1 + the index of the first with a fault, 0: none; changes once, from 0
};

// The fields of a channel that posts read, in one load, and polls read.
struct alignas(16) ChannelHead {
  std::byte* ring;  // `depth` units. Queue pair: the send queue, 64-byte aligned. FIFO: ProxySlots,
                    // in host memory that the device maps
  std::uint32_t number_be;  // NIC: be32(number of the queue pair << 8)
  std::uint16_t depth;      // a power of two
  std::uint8_t flags;
  Path path;
};
static_assert(sizeof(ChannelHead) == 16);

// Owner of the first 128 bytes: the host.
struct alignas(128) Channel {
  ChannelHead head;
  union {  // the path's part
    NicQueue nic;
    ProxyFifo fifo;
  };
  std::int32_t pe;  // the peer; -1: each request names its own
  std::uint32_t reserved;
  ChannelFault* fault;    // host-visible
  Watch* watch;           // of its pool
  std::uint32_t index;    // in its pool
  std::uint32_t context;  // id of its context
  Producer producer;
  Progress progress;
};
static_assert(sizeof(Producer) == 128 && sizeof(Progress) == 128);
static_assert(sizeof(Channel) == 384 && offsetof(Channel, producer) == 128 &&
              offsetof(Channel, progress) == 256 && offsetof(Channel, nic) == 16 &&
              offsetof(Channel, fifo) == 16);

// ---- The channels of a Context ------------------------------------------------------------------

// Consecutive channels, of all contexts that have their channels in this memory. The first poster
// of a channel sets its bit in `touched`, which is never cleared.
struct ChannelPool {
  Channel* channels = nullptr;       // null: there are none
  std::uint64_t* touched = nullptr;  // a bit for each
  Watch* watch = nullptr;
  std::uint32_t count = 0;  // a multiple of 64
  std::uint32_t reserved = 0;
};

// The channels of one context. Blocks share the channels to a peer by rank.
struct Channels {
  ChannelPool pool;
  const std::uint32_t* route = nullptr;  // [n_pes] words.h
  const Channels* kernels = nullptr;     // in a Context of the host: the channels of kernels, for
                                         // which it also waits and looks
  std::uint32_t first = 0;  // this context's first channel in the pool: a multiple of 64
  std::uint32_t count = 0;  // how many it has: a multiple of 64, with those that lead nowhere
  std::uint32_t slots = 0;  // to each peer: a power of two, at most 64
  std::uint32_t id = 0;     // of the context: kernels have 0
  // For peers without a word in `route`: [n_pes] words.h, 0 until a path is opened. Null: none will
  // be opened. Owner: the thread that carries an answer over.
  std::uint32_t* opened = nullptr;
  const Openings* openings = nullptr;
  // The faults of the host's channels, for kernels, or of kernels' channels, for the host:
  // `other_slots` for each place, in the order of places. Host-visible.
  const ChannelFault* other_faults = nullptr;
  std::uint32_t other_slots = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ChannelPool) == 32 && sizeof(Channels) == 96);

}  // namespace chime::abi

#endif  // CHIME_ABI_CHANNEL_H_
