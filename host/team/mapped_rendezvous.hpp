// Collective calls where every PE sees every other's control page: post mine, read theirs.
#pragma once

#include <cstdint>
#include <memory>

#include "host/team/rendezvous.hpp"

namespace chime::host {

// `p2p` maps the control pages of all `n_pes`, and outlives it. `timeout_ns` bounds each call; 0:
// nothing does.
std::unique_ptr<Rendezvous> make_mapped_rendezvous(const P2pTransport& p2p, int my_pe, int n_pes,
                                                   std::uint64_t timeout_ns);

}  // namespace chime::host
