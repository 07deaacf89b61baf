// The file in which a process records its part of a timeline: a page with the process's data, the
// names of its calls and kernels, then chunks of events. README.md says which process writes what,
// and when.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chime::trace {

inline constexpr char kPartMagic[8] = {'C', 'H', 'I', 'M', 'E', 'T', 'L', '1'};
inline constexpr std::uint32_t kPartVersion = 2;

// A comparison with PE 0's clock.
struct ClockOffset {
  std::uint64_t at_ns;     // 0: there was none
  std::int64_t offset_ns;  // what to add to get the time of PE 0's clock
  std::uint64_t doubt_ns;  // how far off that may be
};

// Owner of all fields but those that are atomic: the thread that makes the file.
struct PartHeader {
  char magic[8];
  std::uint32_t version;
  std::int32_t n_pes;
  std::int32_t first_pe;  // of this process
  std::int32_t process;
  std::int32_t pes_here;  // how many have joined in this process; atomic
  std::int32_t reserved;
  std::uint64_t job;  // a hash of its name
  std::uint64_t most_chunks;
  std::uint64_t clock;      // which clock the times are of: equal numbers, equal times
  std::uint64_t opened_ns;  // when recording began
  ClockOffset first, last;  // between them the clocks drift apart evenly; set before closed_ns
  char host[64];
  std::uint64_t chunks;     // taken; atomic
  std::uint64_t dropped;    // events for which there was no room; atomic
  std::uint64_t closed_ns;  // when recording ended; 0: not yet, or the process was killed. Release
};
static_assert(sizeof(PartHeader) <= 4096);

// Zero-terminated texts, one after another. A name is the offset of its first byte; 0 is the text
// of names for which there was no room.
inline constexpr std::size_t kHeaderBytes = 4096, kNamesBytes = 64 * 1024;

enum class EventKind : std::uint8_t {
  kNone = 0,  // the event is not complete yet
  kCall,      // a host thread is in a function of the library
  kKernel,    // a launch
  kWork,      // an operation (chime::Operation), of a kernel's thread or a host thread
  kNicRequest,
  kProxyRequest
};

struct Event {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;   // 0: it has not ended
  std::uint64_t address;  // of the word: an offset in the heap, or kNotInHeap
  std::uint64_t bytes;    // of a launch: its blocks
  std::uint64_t value;    // abi::TracedWork; of a launch: threads of a block
  std::uint64_t seen;     // if has_seen: the value that ended a wait; of a meeting: rank 0's PE
  std::uint32_t name;     // kCall, kKernel, kNicRequest, kProxyRequest
  std::int32_t pe;        // the other PE; -1: none, or not known
  std::int32_t my_pe;
  std::uint32_t launch;  // of a kernel's thread; 0: a host thread
  std::uint32_t block;
  std::uint16_t thread;
  std::uint16_t operation;  // kWork: chime::Operation
  EventKind kind;           // stored last when the event begins (release)
  std::uint8_t how;         // abi::TracedWork
  std::uint8_t has_seen;
  std::uint8_t has_failed;  // kNicRequest, kProxyRequest
};
static_assert(sizeof(Event) == 80);
inline constexpr std::uint64_t kNotInHeap = ~std::uint64_t{0};

// A chunk has the events of one thread, which fills it in order.
inline constexpr std::size_t kChunkBytes = 16 * 1024;
inline constexpr std::size_t kChunkEvents = 204;
struct Chunk {
  std::int32_t thread;  // the system's number of it
  std::uint32_t reserved[15];
  Event events[kChunkEvents];
};
static_assert(sizeof(Chunk) == kChunkBytes);

constexpr std::size_t part_bytes(std::uint64_t chunks) {
  return kHeaderBytes + kNamesBytes + static_cast<std::size_t>(chunks) * kChunkBytes;
}

}  // namespace chime::trace
