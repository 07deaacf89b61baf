// What a channel that is a FIFO of requests to the proxy has of its own: how far they are complete,
// where results come back, and what became of peers. The slots are in proxy_request.h.
//
// A FIFO leads to all peers of its path (Channel::pe is -1), so the loss of one of them does not
// put it out of use: requests to a lost peer end as all others do, and change nothing.
#ifndef CHIME_ABI_PROXY_FIFO_H_
#define CHIME_ABI_PROXY_FIFO_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/amo_op.h"
#include "chime/cxx20.h"

namespace chime::abi {

enum class ProxyKind : std::uint8_t {
  kPut = 0,          // of memory here
  kPutValue = 1,     // of up to 16 bytes that are in the request
  kGet = 2,          // into memory here
  kGetValue = 3,     // of up to 16 bytes, into the result of its first slot
  kAtomic = 4,       // without a result
  kFetchAtomic = 5,  // the word before goes into the result of its first slot
};

// ChannelHead::flags of a FIFO.
// Whether what goes to one peer may pass what was posted to it before, the data of a put_signal
// aside.
inline constexpr std::uint32_t kProxyUnordered = 1 << 0;
inline constexpr std::uint32_t kProxyUnorderedAtomics = 1 << 1;  // two atomics, and signals

inline constexpr std::uint32_t kProxyMostAtOnce = 64;  // slots of a submission: 2 of each lane
inline constexpr std::uint32_t kProxyLeastDepth = kProxyMostAtOnce;  // slots
inline constexpr std::uint32_t kProxyMostDepth = 32768;

// The first request that failed.
struct ProxyFailure {
  std::int32_t status;  // chimex_status
  std::int32_t pe;
  ProxyKind kind;
  AmoOp op;
  std::uint16_t reserved[3];
  std::uint64_t at;  // offset in the peer's heap
  std::uint64_t bytes;
};
static_assert(sizeof(ProxyFailure) == 32 && offsetof(ProxyFailure, at) == 16);

// What the proxy tells: in host memory that the device maps. Owner: the proxy.
struct alignas(128) ProxyTold {
  // One past the last slot of those requests that are complete without a gap, and kSomeLost. Store
  // release: results, data of gets and what stands below come before it.
  std::uint64_t through;
  ProxyFailure failure;  // whole when `through` has kSomeLost
  std::uint64_t reserved[11];
};
static_assert(sizeof(ProxyTold) == 128 && offsetof(ProxyTold, failure) == 8);

// Where results come back: that of slot i belongs to the request whose first slot has index i (mod
// depth). In host memory that the device maps. Owner: the proxy, until `through` tells of it.
struct alignas(16) ProxyResult {
  std::uint64_t value[2];  // low bytes first
};
static_assert(sizeof(ProxyResult) == 16);

// Owner: the host.
struct ProxyFifo {
  const ProxyTold* told;
  const ProxyResult* results;  // [depth]
  std::uint64_t* busy;  // [depth] of a result: 0 -> 1 by the poster, 1 -> 0 by the reader, when
                        // it has the value. As the counters, where posters are
  const std::uint64_t* lost;  // a bit for each PE: requests to it fail. In host memory; whole, for
                              // what was posted to this FIFO, when `through` has kSomeLost
  std::uint64_t reserved[4];
};
static_assert(sizeof(ProxyFifo) == 64);

}  // namespace chime::abi

#endif  // CHIME_ABI_PROXY_FIFO_H_
