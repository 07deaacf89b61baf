// A FIFO as the proxy sees it: requests are taken out in their order, end in any, and what is told
// is how far they have ended without a gap. The other side is device/path/proxy.
//
// By one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "chime/abi/proxy_fifo.h"
#include "chime/abi/proxy_request.h"
#include "chime/error.h"
#include "proxy/lost_peers.hpp"

namespace chime::proxy {

// What the two sides share. All of it begins as zeros.
struct FifoMemory {
  std::span<const abi::ProxySlot> slots;  // a power of two of them
  std::span<abi::ProxyResult> results;    // as many
  abi::ProxyTold* told;
};

class Fifo {
 public:
  // A request that was taken. It stays where it is until it has ended.
  struct Request {
    abi::ProxyRequest what;
    // What a put reads, and where a get or a fetching atomic writes: an address as device code
    // names it, or of this FIFO's own. Null: an atomic without a result.
    std::byte* here;
    std::uint64_t index;  // of its first slot, since the FIFO was made
    unsigned slots;
    bool has_ended;
  };

  // `lost`: of the PE. It outlives this.
  Fifo(const FifoMemory& memory, LostPeers& lost);

  // The next request; null: there is none yet. What its poster stored before is there. Requests to
  // lost peers end here.
  Request* take();
  // Whether there may be one: one load.
  bool has_request() const;

  // The request has ended: its data is in the peer's memory, or its result is at `here`. One that
  // failed makes its peer a lost one: what is posted to it later fails, and all others go on. Not
  // so CHIMEX_ERR_INVALID, which is the request's own fault: its result is zero, and its peer is
  // as well as before. Kernels are told of both at once, by ProxyTold.
  void complete(Request& request, chimex_status status);

  std::uint64_t depth() const { return memory_.slots.size(); }
  // Slots, since the FIFO was made: taken out, and told of.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t through() const { return through_; }

 private:
  Request* next();
  Request& record_of(std::uint64_t index) { return records_[index & (depth() - 1)]; }
  bool read(std::uint64_t index, abi::ProxySlot& slot) const;
  std::byte* here_of(Request& request);
  bool is_refused(Request& request);
  void record(const Request& failed, chimex_status status);
  void tell();

  const FifoMemory memory_;
  LostPeers& lost_;
  std::vector<Request> records_;  // that of a request is at its first slot's place
  std::uint64_t taken_ = 0, through_ = 0;
  bool some_lost_ = false;
};

}  // namespace chime::proxy
