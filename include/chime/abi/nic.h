// What a kernel sees of the NIC: queue pairs, keys of memory here and at the peers, staging slots,
// and where failures are written. The host (host/transport/mlx5) fills it at init; kernels
// (device/path/nic) post and poll. README.md has the pictures, device/path/README.md the protocol.
//
// All pointers are addresses for device code. Names that end in _be are big-endian in memory, as
// work requests carry them. "Host" as an owner means: written before the structure is published,
// read-only from then on.
#ifndef CHIME_ABI_NIC_H_
#define CHIME_ABI_NIC_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic_context.h"
#include "chime/abi/wqe.h"
#include "chime/cxx20.h"

namespace chime::abi {

// ---- Queue pairs --------------------------------------------------------------------------------

// The widest set of threads that may post to a queue at the same time: the scope of its atomics.
enum class NicSharing : std::uint8_t {
  kExclusive = 0,  // one thread: no atomics
  kBlock = 1,      // threads of one block
  kGpu = 2,        // any
};

enum class NicCqMode : std::uint32_t {
  kCollapsed = 0,  // one CQE that every completion overwrites (DevX)
  kRing = 1,       // more CQEs than WQEBBs in the send queue, with owner bits (verbs)
};

// How a queue's memory lies, and what its NIC does.
inline constexpr std::uint32_t kNicAllOnGpu = 1 << 0;    // ring, record and sources: gpu fences do
inline constexpr std::uint32_t kNicResult4Big = 1 << 1;  // 4-byte results land big-endian
inline constexpr std::uint32_t kNicResult8Big = 1 << 2;  // 8-byte results land big-endian
inline constexpr std::uint32_t kNicFlushReads = 1 << 3;  // a CQE may overtake a read's data: DUMP
inline constexpr std::uint32_t kNicUnorderedWrites = 1 << 4;  // a peer may see writes out of order
inline constexpr std::uint32_t kNicUnorderedData = 1 << 5;    // only those under NicPeer::rkey_be
inline constexpr std::uint32_t kNicSwapsSignals = 1 << 6;  // unordered: put_signal sets by a swap

inline constexpr unsigned kNicBatch = 32;       // WQEBBs after which a doorbell is rung in any case
inline constexpr unsigned kNicMostAtOnce = 96;  // WQEBBs of a submission: 3 of each lane of a warp
inline constexpr std::uint32_t kNicLeastDepth = 128;        // WQEBBs: see device/path/README.md
inline constexpr std::uint32_t kNicMostDepth = 32768;       // half of what a 16-bit index can tell
inline constexpr std::uint64_t kNicMostBytes = 1ull << 30;  // of one work request

// The upper bits of NicProducer::ready.
inline constexpr std::uint64_t kNicOwed = 1ull << 63;  // a doorbell is owed for what is before
inline constexpr std::uint64_t kNicWide = 1ull << 62;  // the last WQE takes two WQEBBs

// The upper bits of NicConsumer::done. A poster looks there for room, and finds them in the same
// load: with one of them set there is none.
inline constexpr std::uint64_t kNicStopped = 1ull << 63;  // out of use, and why is written
inline constexpr std::uint64_t kNicFresh = 1ull << 62;    // nobody has posted yet: set by the host

inline constexpr std::uint64_t kNicIndexBits = kNicFresh - 1;

// Indices count WQEBBs since the queue was made, in 64 bits; the NIC sees the low 16.
struct alignas(128) NicProducer {
  std::uint64_t resv;   // reserved by posters; owner: atomic add of the poster
  std::uint64_t ready;  // written, in order; owner: the poster whose base it equals
  std::uint64_t reserved[14];
};

// A wait that was given up, in the words of ErrorRecord.
struct NicGivenUp {
  std::uint64_t address, expected, seen, waited_ns;
  std::int32_t status, pe;
};

// The owner of what is behind `status`: whoever turns it from 0. kNicStopped publishes it.
struct alignas(128) NicConsumer {
  std::uint64_t done;  // one past the first WQEBB of the last WQE known to be complete; atomic max
  std::uint64_t
      failed;  // as `done`, of what ends, well or not, once the queue is stopped; atomic max
  std::uint64_t cqes;    // ring mode: CQEs taken; atomic compare-and-swap
  std::uint32_t status;  // 0 in use, else a NicStatus word
  std::uint32_t cqe_tail, cqe_syndrome, cqe_opcode;  // kError: words of the first error CQE
  NicGivenUp wait;                                   // kGaveUp
  std::uint32_t reserved[12];
};

// Where results of fetching atomics land: slot i belongs to the WQE whose first WQEBB has index i
// (mod depth).
struct alignas(16) NicFetchSlot {
  std::uint64_t value;  // owner: the NIC while busy
  std::uint64_t busy;   // 0 -> 1 by the poster, 1 -> 0 by the reader, when it has the value
};
static_assert(sizeof(NicFetchSlot) == 16);

struct NicFault;

// One queue pair to one peer. Owner of the first 128 bytes: the host. What a post reads stands
// first, in two pieces of 16 bytes.
struct alignas(128) NicQueue {
  std::byte* sq;            // depth WQEBBs, a power of two, 64-byte aligned
  std::uint32_t* record;    // the send half of the doorbell record
  std::uint64_t* doorbell;  // register; or a mailbox that a host thread empties into it
  std::uint32_t qpn_be;     // be32(qpn << 8)
  std::uint16_t depth;      // WQEBBs of the send queue
  std::uint8_t flags;
  NicSharing sharing;
  std::byte* cq;            // CQEs, filled with 0xff at the start
  std::uint32_t cqe_count;  // CQEs, a power of two: 1, or at least 2 * depth
  NicCqMode cq_mode;
  NicFetchSlot* fetch;      // [depth + 1]; the last one takes results that nobody wants
  std::uint64_t fetch_nic;  // its address in work requests
  std::uint32_t fetch_lkey_be;
  std::int32_t pe;        // the peer
  NicFault* fault;        // host-visible
  std::uint32_t index;    // among the queues of its context
  std::uint32_t context;  // id of that
  std::uint32_t reserved[8];
  NicProducer producer;
  NicConsumer consumer;
};
static_assert(sizeof(NicProducer) == 128 && sizeof(NicConsumer) == 128);
static_assert(sizeof(NicQueue) == 384 && offsetof(NicQueue, producer) == 128 &&
              offsetof(NicQueue, consumer) == 256 && offsetof(NicQueue, doorbell) == 16 &&
              offsetof(NicQueue, cq) == 32);

// Why a queue is no longer used.
enum class NicStop : std::uint32_t {
  kNone = 0,
  kError = 1,   // an error CQE; its syndrome is in the low byte
  kGaveUp = 2,  // a thread left a wait between reservation and completion
  kClosed = 3,  // the host took it out of use
};
CHIME_ABI_FN std::uint32_t nic_status(NicStop stop, std::uint32_t syndrome = 0) {
  return static_cast<std::uint32_t>(stop) << 8 | (syndrome & 0xff);
}
CHIME_ABI_FN NicStop nic_stop(std::uint32_t status) { return static_cast<NicStop>(status >> 8); }

// ---- Peers and memory ---------------------------------------------------------------------------

// One PE as this one reaches it. Owner: the host.
struct alignas(16) NicPeer {
  std::uint64_t heap;            // address of its heap's start in work requests
  std::uint32_t rkey_be;         // for data
  std::uint32_t strict_rkey_be;  // for signals, atomics and small puts: never overtakes
};
static_assert(sizeof(NicPeer) == 16);

// Registered buffers beside the heap, sorted by `begin`, apart from each other. Owner: the host.
struct NicBufferTable {
  std::uint64_t count;
  NicBuffer* buffers;  // [kNicMostBuffers]
};
inline constexpr std::uint32_t kNicMostBuffers = 1024;

// `tables[generation % 2]` is the one in use. Registering and unregistering fill the other one and
// then make it the one in use by adding 1 to `generation` (release; pairs with the acquire in
// device/path/nic/memory.cuh). So a table changes only after another has been in use since: what a
// reader found is true if `generation` is still what it was before.
struct NicBuffers {
  std::uint64_t generation;
  std::uint64_t reserved;
  NicBufferTable tables[2];
};
static_assert(sizeof(NicBuffers) == 48 && offsetof(NicBuffers, tables) == 16);

// The word of a staging slot: free, with a thread, or left to the NIC: by a thread that failed
// while a request on the slot was on its way, and until the NIC is through with this request.
inline constexpr std::uint64_t kNicSlotFree = 0, kNicSlotTaken = 1;
inline constexpr std::uint64_t kNicSlotLeft = 1ull << 63;
CHIME_ABI_FN std::uint64_t nic_left_slot(std::uint64_t queue_index, std::uint64_t target) {
  return kNicSlotLeft | queue_index << 32 | (target & 0xffffffff);
}
CHIME_ABI_FN std::uint64_t nic_queue_of_left_slot(std::uint64_t word) {
  return (word & ~kNicSlotLeft) >> 32;
}
// `through`: how far the queue's requests are complete, failed or flushed.
CHIME_ABI_FN bool nic_left_slot_is_free(std::uint64_t word, std::uint64_t through) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(through) -
                                   static_cast<std::uint32_t>(word)) >= 0;
}

// ---- Failures -----------------------------------------------------------------------------------

// NicFault::published, once it is not 0.
inline constexpr std::uint32_t kNicFaultClaimed = 1;  // somebody writes it
inline constexpr std::uint32_t kNicFaultWhole = 2;    // the other fields are there
inline constexpr std::uint32_t kNicFaultTold = 3;     // and in the ErrorRecord, if that was free

// The first failure of a queue, in host-visible memory. Owner: the thread that turned `published`
// from 0, which is the first to leave the queue (kernel or host). `published` goes up with release,
// for the host's reader, and for others who leave the queue: they record nothing before it is told.
struct alignas(64) NicFault {
  std::uint32_t published;
  std::uint32_t status;  // NicQueue's, as it was set
  std::int32_t pe;       // the peer
  std::uint32_t context;
  std::uint32_t slot;
  std::uint32_t qpn;
  std::uint8_t opcode;    // WqeOpcode
  std::uint8_t syndrome;  // CqeSyndrome
  std::uint8_t vendor_error;
  std::uint8_t first_lost;  // 1: flushed; the cause was overwritten (collapsed CQ)
  std::uint16_t wqe_index;
  std::uint16_t reserved;
  std::uint64_t remote_address;
  std::uint64_t bytes;
  std::uint64_t time_ns;  // exec::clock_ns
};
static_assert(sizeof(NicFault) == 64 && offsetof(NicFault, remote_address) == 32);

// What waits have found out about all queues of a context.
struct alignas(128) NicWatch {
  std::uint64_t looked_ns;  // when a queue was polled last (exec::clock_ns); compare-and-swap
  std::uint64_t next;       // index of the queue to poll next; owner: who has moved looked_ns
  std::uint64_t lost;       // 1 + the index of the first queue with a fault, 0: none; 0 -> 1 once
};

// ---- Contexts -----------------------------------------------------------------------------------

// The queue of a slot to a peer. Queues of one peer are neighbours, so that a word of `touched`
// holds all of a peer's.
CHIME_ABI_FN std::uint64_t nic_queue_index(std::uint32_t slots, std::uint32_t slot,
                                           std::uint32_t pe) {
  return static_cast<std::uint64_t>(pe) * slots + slot;
}
CHIME_ABI_FN std::uint64_t nic_touched_words(const NicContext& context) {
  return (static_cast<std::uint64_t>(context.n_pes) * context.slots + 63) / 64;
}

}  // namespace chime::abi

#endif  // CHIME_ABI_NIC_H_
