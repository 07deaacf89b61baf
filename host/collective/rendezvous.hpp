// Collective host calls meet here: nobody returns before every PE has made the same call, and a
// difference is an error on all of them that names both PEs and what each asked for. A call that
// one PE gives up has met for nobody, so what calls do, allocate above all, is done on all PEs or
// on none.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"
#include "chime/abi/context.h"
#include "host/collective/collective_call.hpp"
#include "host/collective/elsewhere.hpp"
#include "host/peers/peer_table.hpp"
#include "host/settings/env.hpp"

namespace chime::host {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Collective. Throws Error{MISMATCH} on every PE if any two PEs brought different calls; TIMEOUT
  // and ABORTED like every wait, then too on every PE, those that come later included. After that
  // every call throws at once, and names the first that failed.
  virtual void meet(const CollectiveCall& call) = 0;
};

// By words on the control pages, where all PEs of the job are mapped here; else by messages.
// `bootstrap`, `peers`, `abort` and what `beside` asks outlive it. Where other PEs stand in a
// barrier and this one waits in another call, the job is aborted by MISMATCH.
std::unique_ptr<Rendezvous> make_rendezvous(bootstrap::Bootstrap& bootstrap, const PeerTable& peers,
                                            abi::AbortWord& abort, const Settings& settings,
                                            const Beside& beside);

// The one call of PEs that have no device, by messages: chime_finalize. Bounded by
// CHIME_INIT_TIMEOUT, and ended when the launcher tells of a PE that is gone.
void meet_without_device(bootstrap::Bootstrap& bootstrap, const Settings& settings,
                         const CollectiveCall& call);

}  // namespace chime::host
