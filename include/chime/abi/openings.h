// Ways to peers that are opened while kernels run: at the first touch of a peer that was not
// connected at init. Who asks, and the answers.
//
//   asker    wanted (a bit), asked + 1 (release)  ->  host looks, and connects
//   host     peers[place], answers[pe] (release)  ->  who waits acquires, and one of them claims
//   the
//                                                     place: channels, opened[pe] (release)
//   poster   opened[pe] (acquire), the channels
//
// Where no way of its own is opened, the answer may name channels that lead to many PEs, which were
// there from the beginning: those of a FIFO to the proxy. Then nothing is to be carried over but
// the route.
//
// What askers write nobody else writes, and kernels and host operations have words of their own: a
// GPU's atomics on the host's memory need not be atomic with a processor's.
//
// A GPU's memory cannot be written by the host while kernels run: so what it answers lies in memory
// of its own, and the first thread that finds it carries it over.
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

// Whom the channels of a place lead to.
struct alignas(32) OpenedPeer {
  NicPeer nic;
  std::int32_t pe;
  std::uint32_t flags;  // ChannelHead's
  std::uint64_t reserved;
};
static_assert(sizeof(OpenedPeer) == 32);

// Of one context; contexts of a PE share the answers. A place is `slots` channels of each
// context. Pointers are addresses for device code.
struct Openings {
  std::uint64_t* asked;          // how often somebody was; host-visible. Owner: askers, atomic add
  std::uint64_t* wanted;         // a bit for each PE, set once; host-visible. Owner: askers
  const std::uint32_t* answers;  // [n_pes]; host-visible. Owner: the host, each once
  const OpenedPeer* peers;       // [places] of a NIC; host-visible. Owner: the host, before the
                                 // answer
  std::uint32_t* claims;         // [places] 0 -> 1 by who carries it over
};
static_assert(sizeof(Openings) == 40);

}  // namespace chime::abi

#endif  // CHIME_ABI_OPENINGS_H_
