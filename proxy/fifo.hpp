// A FIFO as the proxy sees it. Requests are taken out in their order and end in any order. A
// request that names an answer gets its end reported there. The FIFO also reports up to where all
// requests have ended without a gap. The other side is device/path/proxy.
//
// A slot is free when its request was taken. Requests in flight are kept here, so that a peer that
// does not answer keeps no slot from others.
//
// By one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

#include "chime/abi/proxy_fifo.h"
#include "chime/abi/proxy_request.h"
#include "chime/error.h"
#include "proxy/lost_peers.hpp"
#include "proxy/peers_at_limit.hpp"

namespace chime::proxy {

// The memory that the two sides share. All of it begins as zeros.
struct FifoMemory {
  std::span<const abi::ProxySlot> slots;  // a power of two of them
  std::span<abi::ProxyAnswer> answers;    // abi::proxy_answers()
  abi::ProxyReport* report;
};

class Fifo {
 public:
  // For one peer: slots of requests that were taken and have not ended.
  struct UnderWay {
    std::uint64_t slots = 0;
    bool is_at_limit = false;
  };
  // A request that was taken. It stays where it is until it has ended.
  struct Request {
    abi::ProxyRequest what = {};
    // The source of a put, and the destination of a get or of a fetching atomic: an address as
    // device code names it, or of this FIFO's own. Null: an atomic without a result.
    std::byte* here = nullptr;
    std::uint64_t index = 0;  // of its first slot, since the FIFO was made
    unsigned slots = 0;
    UnderWay* of_peer = nullptr;                   // null: there is no such PE
    Request *before = nullptr, *behind = nullptr;  // of those that have not ended, in their order
  };

  // `lost`, `at_limit`: of the PE. They outlive this.
  Fifo(const FifoMemory& memory, LostPeers& lost, PeersAtLimit& at_limit);

  // The next request; null: there is none yet. All that its poster stored before is visible.
  // Requests to lost peers end here.
  Request* take();
  // Whether there may be one: one load.
  bool has_request() const;

  // The request has ended: its data is in the peer's memory, or its result is at `here`. A failed
  // request loses its peer: later requests to that peer fail, and all others go on.
  // CHIMEX_ERR_INVALID is the request's own fault: its result is zero, and its peer is as well as
  // before. ProxyReport reports both to kernels at once.
  void complete(Request& request, chimex_status status);

  std::uint64_t depth() const { return memory_.slots.size(); }
  // Slots, since the FIFO was made: taken out, and reported.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t through() const { return first_ ? first_->index : taken_; }

 private:
  bool read(std::uint64_t index, abi::ProxySlot& slot) const;
  Request* next();
  Request* take_one();
  Request& keep(const abi::ProxyRequest& what, unsigned slots);
  void let_go(Request& request);
  void count(Request& request);
  void uncount(const Request& request);
  void tell_at_limit(int change);
  std::byte* here_of(const abi::ProxyRequest& what);
  bool refuse_if_lost(Request& request);
  void record(const Request& failed, chimex_status status);
  void tell();
  void answer(const Request& request, chimex_status status);

  const FifoMemory memory_;
  LostPeers& lost_;
  PeersAtLimit& at_limit_;
  std::deque<Request> requests_;  // as many as were ever in flight at once
  std::vector<Request*> free_;
  Request *first_ = nullptr, *last_ = nullptr;  // in flight
  std::unordered_map<int, UnderWay> under_way_;
  std::uint64_t taken_ = 0;
  bool some_lost_ = false;
};

}  // namespace chime::proxy
