// Collective calls where every PE sees every other's control page: post mine, read theirs.
#pragma once

#include <cstdint>
#include <memory>

#include "host/collective/rendezvous.hpp"

namespace chime::host {

// `peers` has the control pages of all, which outlive it. `timeout_ns` bounds each call; 0: nothing
// does.
std::unique_ptr<Rendezvous> make_mapped_rendezvous(const PeerTable& peers, std::uint64_t timeout_ns,
                                                   const Beside& beside = {});

}  // namespace chime::host
