#include "proxy/fifo.hpp"

#include <atomic>

#include "chime/abi/channel.h"

namespace chime::proxy {

namespace {

// Acquire, each: pairs with the poster's fence before its first word (device/path/proxy).
std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

}  // namespace

Fifo::Fifo(const FifoMemory& memory, LostPeers& lost)
    : memory_(memory), lost_(lost), records_(memory.slots.size()) {}

// Whether the slot is whole.
bool Fifo::read(std::uint64_t index, abi::ProxySlot& slot) const {
  const abi::ProxySlot& from = memory_.slots[index & (depth() - 1)];
  const std::uint64_t lap = abi::proxy_lap(index, depth());
  for (unsigned i = 0; i < std::size(slot.word); ++i) {
    slot.word[i] = load(from.word[i]);
    if (!abi::proxy_has_lap(slot.word[i], lap)) return false;
  }
  return true;
}

bool Fifo::has_request() const {
  const abi::ProxySlot& from = memory_.slots[taken_ & (depth() - 1)];
  return abi::proxy_has_lap(load(from.word[0]), abi::proxy_lap(taken_, depth()));
}

std::byte* Fifo::here_of(Request& request) {
  switch (request.what.kind) {
    case abi::ProxyKind::kPut:
    case abi::ProxyKind::kGet:
      return reinterpret_cast<std::byte*>(request.what.here);
    case abi::ProxyKind::kPutValue:
      return reinterpret_cast<std::byte*>(request.what.value);
    case abi::ProxyKind::kGetValue:
    case abi::ProxyKind::kFetchAtomic:
      return reinterpret_cast<std::byte*>(&memory_.results[request.index & (depth() - 1)]);
    case abi::ProxyKind::kAtomic:
      break;
  }
  return nullptr;
}

Fifo::Request* Fifo::next() {
  abi::ProxySlot first, second = {};
  if (!read(taken_, first)) return nullptr;
  const unsigned slots = abi::proxy_slots_of(first.word[0]);
  if (slots == 2 && !read(taken_ + 1, second)) return nullptr;
  Request& request = record_of(taken_);
  request = {abi::proxy_request(first, second), nullptr, taken_, slots, false};
  request.here = here_of(request);
  taken_ += slots;
  return &request;
}

// Ends a request that is not to be carried out.
bool Fifo::is_refused(Request& request) {
  const bool exists = lost_.exists(request.what.pe);
  if (exists && !lost_.has(request.what.pe)) return false;
  complete(request, exists ? CHIMEX_ERR_NETWORK : CHIMEX_ERR_INVALID);
  return true;
}

Fifo::Request* Fifo::take() {
  // No more than a lap: others want to be visited, too.
  for (const std::uint64_t end = taken_ + depth(); taken_ < end;) {
    Request* const request = next();
    if (request == nullptr || !is_refused(*request)) return request;
  }
  return nullptr;
}

// A request that is not well says nothing of its peer.
void Fifo::record(const Request& failed, chimex_status status) {
  if (status == CHIMEX_ERR_INVALID) {
    memory_.results[failed.index & (depth() - 1)] = {};
  } else {
    lost_.add(failed.what.pe);
  }
  if (some_lost_) return;
  some_lost_ = true;
  memory_.told->failure = {.status = status,
                           .pe = failed.what.pe,
                           .kind = failed.what.kind,
                           .op = failed.what.op,
                           .reserved = {},
                           .at = failed.what.at,
                           .bytes = failed.what.bytes};
}

// Release: pairs with the acquire of who polls (device/path/proxy/channel.cuh).
void Fifo::tell() {
  std::atomic_ref(memory_.told->through)
      .store(through_ | (some_lost_ ? abi::kSomeLost : 0), std::memory_order_release);
}

void Fifo::complete(Request& request, chimex_status status) {
  request.has_ended = true;
  if (status != CHIMEX_OK) record(request, status);
  while (through_ != taken_ && record_of(through_).has_ended) through_ += record_of(through_).slots;
  tell();
}

}  // namespace chime::proxy
