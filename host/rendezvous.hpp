// Collective host calls meet here: nobody returns before every PE has made the same call, and a
// difference is an error on all of them that names both PEs and what each asked for. A call that
// one PE gives up has met for nobody, so what calls do, allocate above all, is done on all PEs or
// on none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bootstrap/bootstrap.hpp"
#include "host/control.hpp"
#include "host/transport/p2p/p2p_transport.hpp"

namespace chime::host {

struct CollectiveCall {
  enum class Kind : std::uint64_t { kMalloc = 1, kCalloc, kAlign, kFree, kFinalize, kBarrier };
  Kind kind;
  std::uint64_t first = 0;   // bytes; for kFree the offset in the heap
  std::uint64_t second = 0;  // alignment

  bool operator==(const CollectiveCall&) const = default;
};

// "chime_malloc(4096)": the call in words.
std::string describe(const CollectiveCall& call);

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // Collective. Throws Error{MISMATCH} on every PE if any two PEs brought different calls; TIMEOUT
  // and ABORTED like every wait, then too on every PE, those that come later included. After that
  // every call throws at once, and names the first that failed.
  virtual void meet(const CollectiveCall& call) = 0;
};

// Through the control pages, when all PEs of the job are mapped here; else through the bootstrap.
std::unique_ptr<Rendezvous> make_rendezvous(bootstrap::Bootstrap& bootstrap,
                                            const P2pTransport& p2p, std::uint64_t timeout_ns);

}  // namespace chime::host
