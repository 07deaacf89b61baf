#include "proxy/fifo.hpp"

#include <atomic>

#include "chime/abi/channel.h"

namespace chime::proxy {

namespace {

// Acquire, each: pairs with the poster's fence before its first word (device/path/proxy).
std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

bool has_result(abi::ProxyKind kind) {
  return kind == abi::ProxyKind::kGetValue || kind == abi::ProxyKind::kFetchAtomic;
}

}  // namespace

Fifo::Fifo(const FifoMemory& memory, LostPeers& lost, PeersAtLimit& at_limit)
    : memory_(memory), lost_(lost), at_limit_(at_limit) {}

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

std::byte* Fifo::here_of(const abi::ProxyRequest& what) {
  switch (what.kind) {
    case abi::ProxyKind::kPut:
    case abi::ProxyKind::kGet:
      return reinterpret_cast<std::byte*>(what.here);
    case abi::ProxyKind::kGetValue:
    case abi::ProxyKind::kFetchAtomic:
      if (what.has_answer) return reinterpret_cast<std::byte*>(&memory_.answers[what.answer]);
      break;                         // which is refused
    case abi::ProxyKind::kPutValue:  // where it is kept
    case abi::ProxyKind::kAtomic:
      break;
  }
  return nullptr;
}

// ---- In flight
// -----------------------------------------------------------------------------------

Fifo::Request& Fifo::keep(const abi::ProxyRequest& what, unsigned slots) {
  if (free_.empty()) free_.push_back(&requests_.emplace_back());
  Request& request = *free_.back();
  free_.pop_back();
  request = {.what = what, .here = here_of(what), .index = taken_, .slots = slots, .before = last_};
  if (what.kind == abi::ProxyKind::kPutValue)
    request.here = reinterpret_cast<std::byte*>(request.what.value);
  (last_ ? last_->behind : first_) = &request;
  last_ = &request;
  count(request);
  return request;
}

void Fifo::let_go(Request& request) {
  uncount(request);
  (request.before ? request.before->behind : first_) = request.behind;
  (request.behind ? request.behind->before : last_) = request.before;
  free_.push_back(&request);
}

// The limit is half of the slots. A peer is below it again when it has a quarter of them: its
// posters, which then come back together, find room for some time.
void Fifo::count(Request& request) {
  if (!lost_.exists(request.what.pe)) return;
  UnderWay& of_peer = under_way_[request.what.pe];
  request.of_peer = &of_peer;
  of_peer.slots += request.slots;
  if (of_peer.is_at_limit || of_peer.slots < depth() / 2) return;
  of_peer.is_at_limit = true;
  at_limit_.add(request.what.pe);
  tell_at_limit(+1);
}

void Fifo::uncount(const Request& request) {
  if (request.of_peer == nullptr) return;
  UnderWay& of_peer = *request.of_peer;
  of_peer.slots -= request.slots;
  if (!of_peer.is_at_limit || of_peer.slots > depth() / 4) return;
  of_peer.is_at_limit = false;
  at_limit_.remove(request.what.pe);
  tell_at_limit(-1);
}

void Fifo::tell_at_limit(int change) {
  std::atomic_ref(memory_.report->at_limit)
      .fetch_add(static_cast<std::uint64_t>(change), std::memory_order_relaxed);
}

// ---- In -----------------------------------------------------------------------------------------

Fifo::Request* Fifo::next() {
  abi::ProxySlot first, second = {};
  if (!read(taken_, first)) return nullptr;
  const unsigned slots = abi::proxy_slots_of(first.word[0]);
  if (slots == 2 && !read(taken_ + 1, second)) return nullptr;
  Request& request = keep(abi::proxy_request(first, second), slots);
  taken_ += slots;
  return &request;
}

// Ends a request that is not to be carried out; true if it did.
bool Fifo::refuse_if_lost(Request& request) {
  const abi::ProxyRequest& what = request.what;
  const bool is_well = lost_.exists(what.pe) &&
                       (!what.has_answer || what.answer < memory_.answers.size()) &&
                       (!has_result(what.kind) || what.has_answer);
  if (is_well && !lost_.has(what.pe)) return false;
  complete(request, is_well ? CHIMEX_ERR_NETWORK : CHIMEX_ERR_INVALID);
  return true;
}

Fifo::Request* Fifo::take_one() {
  // No more than a lap: others want to be visited, too.
  for (const std::uint64_t end = taken_ + depth(); taken_ < end;) {
    Request* const request = next();
    if (request == nullptr || !refuse_if_lost(*request)) return request;
  }
  return nullptr;
}

Fifo::Request* Fifo::take() {
  const std::uint64_t before = taken_;
  Request* const request = take_one();
  if (taken_ == before) return nullptr;
  // Release: the slots were read before. Pairs with the load in await_room
  // (device/path/proxy/channel.cuh), as far as a poster's stores depend on it.
  std::atomic_ref(memory_.report->taken).store(taken_, std::memory_order_release);
  return request;
}

// ---- Out ----------------------------------------------------------------------------------------

// A request that is not well says nothing of its peer.
void Fifo::record(const Request& failed, chimex_status status) {
  if (status != CHIMEX_ERR_INVALID) lost_.add(failed.what.pe);
  if (some_lost_) return;
  some_lost_ = true;
  memory_.report->failure = {.status = status,
                             .pe = failed.what.pe,
                             .kind = failed.what.kind,
                             .op = failed.what.op,
                             .reserved = {},
                             .at = failed.what.at,
                             .bytes = failed.what.bytes};
}

// Release: pairs with the acquire of the thread that polls (device/path/proxy/channel.cuh).
void Fifo::tell() {
  std::atomic_ref(memory_.report->through)
      .store(through() | (some_lost_ ? abi::kSomeLost : 0), std::memory_order_release);
}

// Release: pairs with the acquire in await_end (device/path/proxy/answer.cuh). A loss is reported
// before.
void Fifo::answer(const Request& request, chimex_status status) {
  const abi::ProxyRequest& what = request.what;
  if (!what.has_answer || what.answer >= memory_.answers.size()) return;
  abi::ProxyAnswer& answer = memory_.answers[what.answer];
  if (status == CHIMEX_ERR_INVALID) answer.value[0] = answer.value[1] = 0;
  const bool has_failed = status != CHIMEX_OK && status != CHIMEX_ERR_INVALID;
  std::atomic_ref(answer.ended)
      .store((request.index + 1) | (has_failed ? abi::kAnswerFailed : 0),
             std::memory_order_release);
}

void Fifo::complete(Request& request, chimex_status status) {
  if (status != CHIMEX_OK) record(request, status);
  const bool is_first = &request == first_;
  let_go(request);
  if (is_first || status != CHIMEX_OK) tell();
  answer(request, status);  // it is free, and as it was
}

}  // namespace chime::proxy
