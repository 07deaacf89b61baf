// The fields of a channel that is a FIFO of requests to the proxy: how far requests are taken and
// complete, where the end of a single request is published, and the state of peers. The slots are
// in proxy_request.h.
//
// A FIFO leads to all peers of its path (Channel::pe is -1), so the loss of one peer does not put
// it out of use: requests to a lost peer end as all others do, and change nothing.
#ifndef CHIME_ABI_PROXY_FIFO_H_
#define CHIME_ABI_PROXY_FIFO_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/amo_op.h"
#include "chime/cxx20.h"

namespace chime::abi {

enum class ProxyKind : std::uint8_t {
  kPut = 0,          // from memory here
  kPutValue = 1,     // up to 16 bytes that are in the request
  kGet = 2,          // into memory here
  kGetValue = 3,     // up to 16 bytes, into its answer
  kAtomic = 4,       // without a result
  kFetchAtomic = 5,  // the word before goes into its answer
};

// ChannelHead::flags of a FIFO.
// Whether requests to one peer may overtake earlier ones, except the data of a put_signal.
inline constexpr std::uint32_t kProxyUnordered = 1 << 0;
inline constexpr std::uint32_t kProxyUnorderedAtomics = 1 << 1;  // the same of atomics and signals

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

// The state that the proxy publishes, in host memory that the device maps. Owner: the proxy.
struct alignas(128) ProxyReport {
  // One past the last slot of the requests that are complete without a gap, and kSomeLost. Store
  // release: results, data of gets and the fields below come before it.
  std::uint64_t through;
  ProxyFailure failure;    // complete when `through` has kSomeLost
  std::uint64_t taken;     // one past the last slot that was read, and may be written again
  std::uint64_t at_limit;  // peers that hold half of this FIFO's slots, taken and not ended
  std::uint64_t reserved[9];
};
static_assert(sizeof(ProxyReport) == 128 && offsetof(ProxyReport, failure) == 8 &&
              offsetof(ProxyReport, taken) == 40);

// The answer to a request that names it: its poster waits there. In host memory that the device
// maps. Owner: the proxy, from the request until the store of `ended`.
struct alignas(32) ProxyAnswer {
  std::uint64_t value[2];  // low bytes first
  // 1 + the index of the request's first slot, and kAnswerFailed. It answers only this request:
  // indices never repeat, so the value that an earlier one has left does not match. Store release:
  // the value, data of gets, and the loss that `through` reports come before it.
  std::uint64_t ended;
  std::uint64_t reserved;
};
static_assert(sizeof(ProxyAnswer) == 32 && offsetof(ProxyAnswer, ended) == 16);
inline constexpr std::uint64_t kAnswerFailed = 1ull << 63;  // its peer is lost

// How a host thread that posts learns whether the proxy sleeps. In host memory.
struct alignas(64) ProxySleep {
  // 1: it sleeps, or is about to. Changed only by exchanges: the later of the poster's and the
  // proxy's exchange acquires the earlier, and finds what that side has stored
  // (device/path/proxy/wake.cuh).
  std::uint32_t is_asleep;
  std::int32_t event;  // an eventfd: ends the sleep. Owner: the proxy, before it first sleeps
};
static_assert(sizeof(ProxySleep) == 64);

// Owner: the host.
struct ProxyFifo {
  const ProxyReport* report;
  const ProxyAnswer* answers;  // [proxy_answers(depth, staging slots)], proxy_request.h
  // [depth] Of an answer: 0 -> 1 by the poster, before it reserves a slot; 1 -> 0 by the same
  // thread, when it has the value. In the posters' memory, as the counters are.
  std::uint64_t* busy;
  // A bit for each PE: requests to it fail. In host memory; complete for requests that were posted
  // to this FIFO, when `through` has kSomeLost.
  const std::uint64_t* lost;
  const std::uint64_t* at_limit;  // a bit for each PE: requests to it hold half of the slots of
                                  // some FIFO of this PE, taken and not ended. In host memory
  ProxySleep* sleep;              // of a host's FIFO; null: the proxy is not woken
  std::uint64_t reserved[2];
};
static_assert(sizeof(ProxyFifo) == 64);

}  // namespace chime::abi

#endif  // CHIME_ABI_PROXY_FIFO_H_
