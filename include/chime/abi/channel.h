// A channel: one queue of requests, and what became of them. A queue pair of a NIC is one, to a
// peer; a FIFO of requests to the proxy is another, to many. What is the same for all kinds stands
// here; what is the path's in nic_queue.h and proxy_fifo.h.
//
// Posters take room and hand in (Producer), pollers tell how far the requests are complete
// (Progress). device/channel/README.md has the protocol. "Host" as an owner means: written before
// the structure is published, read-only from then on.
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
// behind its first.
inline constexpr std::uint64_t kOwed = 1ull << 63;  // what is before is still to be told of
inline constexpr unsigned kTailShift = 60;
inline constexpr unsigned kMostTail = 7;  // units: what three bits below kOwed can tell

// The upper bits of Progress::done. A poster looks there for room, and finds them in the same load:
// with one of them set there is none.
inline constexpr std::uint64_t kStopped = 1ull << 63;   // out of use, and why is written
inline constexpr std::uint64_t kFresh = 1ull << 62;     // nobody has posted yet: set by the host
inline constexpr std::uint64_t kSomeLost = 1ull << 61;  // of a FIFO: a request failed, and its peer
                                                        // is lost; for others it is in use

// What is left of both for the index.
inline constexpr std::uint64_t kIndexBits = (1ull << kTailShift) - 1;
static_assert(kIndexBits < kSomeLost && std::uint64_t{kMostTail} << kTailShift < kOwed);

// Indices count units of the ring (WQEBBs, slots) since the channel was made, in 64 bits.
struct alignas(128) Producer {
  std::uint64_t resv;    // reserved by posters; owner: atomic add of the poster
  std::uint64_t ready;   // written, in order; owner: the poster whose base it equals. FIFO: as resv
  std::uint64_t mapped;  // FIFO: not 0 when an update without a result went to a mapped peer by it;
                         // owner: its posters
  std::uint64_t limited;  // FIFO: not 0 while some peer may be at its limit, so that posters look;
                          // owner: its posters
  std::uint64_t reserved[12];
};

// A wait that was given up, in the words of ErrorRecord.
struct GivenUp {
  std::uint64_t address, expected, seen, waited_ns;
  std::int32_t status, pe;
};

// The owner of what is behind `status`: whoever turns it from 0. kStopped publishes it.
struct alignas(128) Progress {
  std::uint64_t done;    // one past the first unit of the last request known to be complete; atomic
                         // max
  std::uint64_t failed;  // as `done`, of what ends, well or not, once it is stopped; atomic max
  std::uint64_t taken;   // completions that pollers took; atomic compare-and-swap. FIFO: slots that
                         // the proxy took, as far as posters know; atomic max
  std::uint32_t status;  // 0 in use, else why not: words.h
  std::uint32_t cause[3];  // kError, in the path's words: a NIC's CQE: tail, syndrome, opcode
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
inline constexpr std::uint32_t kFaultClaimed = 1;  // somebody writes it
inline constexpr std::uint32_t kFaultWhole = 2;    // the other fields are there
inline constexpr std::uint32_t kFaultTold = 3;     // and in the ErrorRecord, if that was free

// The first failure of a channel, in host-visible memory. Owner: the thread that turned `published`
// from 0, which is the first to leave the channel (kernel or host). `published` goes up with
// release, for the host's reader, and for others who leave: they record nothing before it is told.
struct alignas(64) ChannelFault {
  std::uint32_t published;
  std::uint32_t status;  // Progress's, as it was set
  std::int32_t pe;       // the peer of the request that failed
  std::uint32_t context;
  std::uint32_t path;     // Path
  std::uint32_t number;   // of Stop::kError, as what follows. NIC: of the queue pair
  std::uint8_t opcode;    // NIC: WqeOpcode. Proxy: ProxyKind
  std::uint8_t syndrome;  // NIC: CqeSyndrome
  std::uint8_t vendor_error;
  std::uint8_t first_lost;  // 1: flushed; the cause was overwritten (collapsed CQ)
  std::uint16_t request;    // NIC: low 16 bits of its index
  std::uint16_t reserved;
  std::uint64_t address;  // what it names at the peer, as an address of the heap here
  std::uint64_t bytes;
  std::uint64_t time_ns;  // exec::clock_ns
  std::int32_t error;     // chimex_status of what failed
  std::uint32_t reserved2;
};
static_assert(sizeof(ChannelFault) == 64 && offsetof(ChannelFault, address) == 32);

// What waits have found out about all channels of a pool.
struct alignas(128) Watch {
  std::uint64_t looked_ns;  // when one was polled last (exec::clock_ns); compare-and-swap
  std::uint64_t next;       // index of the one to poll next; owner: who has moved looked_ns
  std::uint64_t lost;       // 1 + the index of the first with a fault, 0: none; 0 -> 1 once
};

// What posts, in one load, and polls read of a channel.
struct alignas(16) ChannelHead {
  std::byte* ring;          // `depth` units: of a queue pair the send queue, 64-byte aligned; of a
                            // FIFO ProxySlots, in host memory that the device maps
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
  std::int32_t pe;  // the peer; -1: requests say which
  std::uint32_t reserved;
  ChannelFault* fault;    // host-visible
  Watch* watch;           // of its pool
  std::uint32_t index;    // in its pool
  std::uint32_t context;  // id of the one it belongs to
  Producer producer;
  Progress progress;
};
static_assert(sizeof(Producer) == 128 && sizeof(Progress) == 128);
static_assert(sizeof(Channel) == 384 && offsetof(Channel, producer) == 128 &&
              offsetof(Channel, progress) == 256 && offsetof(Channel, nic) == 16 &&
              offsetof(Channel, fifo) == 16);

// ---- What a Context says of them
// -----------------------------------------------------------------

// Channels that lie side by side, of all contexts that have their channels in this memory. A bit of
// `touched` is set by the first who posts to its channel, and never cleared.
struct ChannelPool {
  Channel* channels = nullptr;       // null: there are none
  std::uint64_t* touched = nullptr;  // a bit for each
  Watch* watch = nullptr;
  std::uint32_t count = 0;  // a multiple of 64
  std::uint32_t reserved = 0;
};

// Those of one context. Blocks share the channels to a peer by rank.
struct Channels {
  ChannelPool pool;
  const std::uint32_t* route = nullptr;  // [n_pes] words.h
  const Channels* kernels = nullptr;     // of the host's: what kernels send by, for which it waits
                                         // and looks, too
  std::uint32_t first = 0;  // of the pool: this context's begin here, at a multiple of 64
  std::uint32_t count = 0;  // and are so many, a multiple of 64, those included that lead nowhere
  std::uint32_t slots = 0;  // to each peer: a power of two, at most 64
  std::uint32_t id = 0;     // of the context: 0 is that of kernels
  // Of peers that `route` has no word for: [n_pes] words.h, 0 until one is opened. Null: none will
  // be. Owner: who carries an answer over.
  std::uint32_t* opened = nullptr;
  const Openings* openings = nullptr;
  // The faults of the host's channels for kernels, of kernels' for the host: a place has so many,
  // behind those of the places before. Host-visible.
  const ChannelFault* other_faults = nullptr;
  std::uint32_t other_slots = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(ChannelPool) == 32 && sizeof(Channels) == 96);

}  // namespace chime::abi

#endif  // CHIME_ABI_CHANNEL_H_
