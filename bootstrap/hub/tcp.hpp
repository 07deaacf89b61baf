// Unique ids: PEs that no launcher introduces meet at a rendezvous over TCP.
//
// The process that makes an id holds the hub, on a thread, until the process ends or all PEs have
// joined and left. The id carries the hub's addresses, port and token. A process that has the id is
// in the job; no other process is. Both sides prove the token without sending it, so a PE may try
// every address: a stranger that listens at one of them is not believed. Traffic behind the proof
// is not encrypted: on a network where others can listen, so they can here.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"

#ifndef CHIME_HOST_ONLY
#define CHIME_HOST_ONLY
#include "chime/chime.h"
#undef CHIME_HOST_ONLY
#else
#include "chime/chime.h"
#endif

namespace chime::bootstrap {

// Starts a rendezvous in this process. `interface`: the network interface that PEs reach it by
// ("eth0", "lo"); empty: every one. Throws BootstrapError, listing the interfaces, if there is no
// such. The rendezvous ends when all PEs have joined and left, and none has come back for
// `idle_limit`.
inline constexpr std::chrono::seconds kIdleLimit{60};
inline constexpr std::chrono::seconds kForEver{0};  // it lasts as long as the process
chimex_uniqueid_t create_unique_id(const std::string& interface = "",
                                   std::chrono::seconds idle_limit = kIdleLimit);

// Joins the job of `id` as `pe` of `n_pes`. Threads of one process may each join.
std::unique_ptr<Bootstrap> join_unique_id(const chimex_uniqueid_t& id, int pe, int n_pes,
                                          const Settings& settings = {});

}  // namespace chime::bootstrap
