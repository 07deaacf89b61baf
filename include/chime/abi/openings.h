// Paths to peers that are opened while kernels run, at the first touch of a peer that was not
// connected at init: the requests and the answers.
//
//   initiator  wanted (a bit), asked + 1 (release)  ->  host looks, and connects
//   host       peers[place], answers[pe] (release)  ->  a waiting thread acquires, and one claims
//                                                       the place: channels, opened[pe] (release)
//   poster     opened[pe] (acquire), the channels
//
// If the peer gets no channels of its own, the answer may name channels that lead to many PEs and
// have existed since init: those of a FIFO to the proxy. Then only the route is carried over.
//
// Only initiators write the initiators' words, and kernels and host operations have separate ones:
// a GPU's atomics on the host's memory need not be atomic with a processor's.
//
// The host cannot write a GPU's memory while kernels run. So its answer lies in the host's own
// memory, and the first thread that finds it carries it over.
#ifndef CHIME_ABI_OPENINGS_H_
#define CHIME_ABI_OPENINGS_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/nic_queue.h"
#include "chime/cxx20.h"

namespace chime::abi {

// An answer that names no place (words.h): there is none yet, or there will be none.
inline constexpr std::uint32_t kNotAnswered = 0;
inline constexpr std::uint32_t kRefused = ~std::uint32_t{0};

// The peer of the channels of a place.
struct alignas(32) OpenedPeer {
  NicPeer nic;
  std::int32_t pe;
  std::uint32_t flags;  // ChannelHead's
  std::uint64_t reserved;
};
static_assert(sizeof(OpenedPeer) == 32);

// For one context; contexts of a PE share the answers. A place is `slots` channels of each context.
// Pointers are addresses for device code.
struct Openings {
  std::uint64_t* asked;          // number of requests; host-visible. Owner: initiators, atomic add
  std::uint64_t* wanted;         // a bit for each PE, set once; host-visible. Owner: initiators
  const std::uint32_t* answers;  // [n_pes]; host-visible. Owner: the host, each once
  const OpenedPeer* peers;       // [places] of a NIC; host-visible. Owner: the host, before the
                                 // answer
  std::uint32_t* claims;         // [places] 0 -> 1 by the thread that carries it over
};
static_assert(sizeof(Openings) == 40);

}  // namespace chime::abi

#endif  // CHIME_ABI_OPENINGS_H_
