#include "proxy/carrier.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chime::proxy {
namespace {

using host::HostRequest;
using host::WordUpdate;

bool is_inside(std::uint64_t at, std::uint64_t bytes, std::uint64_t heap) {
  return at <= heap && bytes <= heap - at;
}

// Whether all that the request names at its PE lies in the heap there, and words at multiples of
// their size: kernels look at ends only where CHIME_CHECK asks for it.
bool is_well(const abi::ProxyRequest& what, std::uint64_t heap) {
  const bool is_atomic =
      what.kind == abi::ProxyKind::kAtomic || what.kind == abi::ProxyKind::kFetchAtomic;
  if (!is_inside(what.at, what.bytes, heap)) return false;
  if (is_atomic && ((what.bytes != 4 && what.bytes != 8) || what.at % what.bytes != 0))
    return false;
  return !what.has_signal || (is_inside(what.signal.at, 8, heap) && what.signal.at % 8 == 0);
}

WordUpdate update_of(const abi::ProxyRequest& what) {
  return {what.signal.op, 8, what.signal.operand, 0};
}

HostRequest signal_of(const abi::ProxyRequest& what) {
  return {.kind = HostRequest::Kind::kAtomic,
          .pe = what.pe,
          .at = what.signal.at,
          .here = nullptr,
          .bytes = 8,
          .update = update_of(what)};
}

HostRequest first_part_of(const Fifo::Request& request) {
  const abi::ProxyRequest& what = request.what;
  HostRequest part{.kind = HostRequest::Kind::kPut,
                   .pe = what.pe,
                   .at = what.at,
                   .here = request.here,
                   .bytes = what.bytes};
  switch (what.kind) {
    case abi::ProxyKind::kPut:
    case abi::ProxyKind::kPutValue:
      break;
    case abi::ProxyKind::kGet:
    case abi::ProxyKind::kGetValue:
      part.kind = HostRequest::Kind::kGet;
      break;
    case abi::ProxyKind::kAtomic:
    case abi::ProxyKind::kFetchAtomic:
      part.kind = HostRequest::Kind::kAtomic;
      part.update = {what.op, static_cast<std::uint32_t>(what.bytes), what.operand, what.compare};
      break;
  }
  return part;
}

// As the timeline names it.
const char* name_of(const abi::ProxyRequest& what) {
  switch (what.kind) {
    case abi::ProxyKind::kPut:
    case abi::ProxyKind::kPutValue:
      return what.has_signal ? "put and signal" : "put";
    case abi::ProxyKind::kGet:
    case abi::ProxyKind::kGetValue:
      return "get";
    case abi::ProxyKind::kAtomic:
      return "atomic";
    case abi::ProxyKind::kFetchAtomic:
      return "fetching atomic";
  }
  return "request";
}

trace::Event* trace_request(const abi::ProxyRequest& what, int my_pe) {
  return trace::begin_event(trace::EventKind::kProxyRequest, [&](trace::Event& event) {
    event.name = trace::number_of(name_of(what));
    event.pe = what.pe;
    event.bytes = what.bytes;
    if (my_pe >= 0) event.my_pe = my_pe;
  });
}

void end_traced(trace::Event* event, chimex_status status) {
  if (event == nullptr) return;
  event->has_failed = status != CHIMEX_OK;
  trace::end_event(event);
}

}  // namespace

Carrier::Carrier(host::HostDriven& fabric, std::span<Fifo> fifos, const Limits& limits,
                 Counts& counts)
    : fabric_(fabric),
      limits_(limits),
      room_(fabric.room()),
      last_look_(Clock::now()),
      counts_(counts) {
  for (Fifo& fifo : fifos) sources_.push_back({&fifo, {}});
}

Carrier::Line& Carrier::line_of(Source& source, int pe) {
  Line& line = source.lines[pe];
  if (line.fifo == nullptr) line = {.fifo = source.fifo, .peer = &peers_[pe]};
  return line;
}

Carrier::Flight& Carrier::board(Source& source, Fifo::Request& request) {
  if (free_.empty()) {
    const std::uint64_t id = flights_.size();
    free_.push_back(&flights_.emplace_back());
    free_.back()->id = id;
  }
  Flight& flight = *free_.back();
  free_.pop_back();
  const std::uint16_t parts = request.what.has_signal ? 2 : 1;
  flight = {.id = flight.id,
            .request = &request,
            .line = &line_of(source, request.what.pe),
            .left_to_post = parts,
            .left_to_end = parts,
            .traced = trace_request(request.what, limits_.my_pe)};
  counts_.under_way.set(++under_way_);
  counts_.most_under_way.raise_to(under_way_);
  return flight;
}

// The next part of what is left: the signal last, or, where the fabric takes it so, with its put.
HostRequest Carrier::next_part(Flight& flight) const {
  const Fifo::Request& request = *flight.request;
  const abi::ProxyRequest& what = request.what;
  if (!what.has_signal) return first_part_of(request);
  if (flight.left_to_post == 1) return signal_of(what);
  HostRequest put = first_part_of(request);
  if (!fabric_.joins_signal(put)) return put;
  put.has_signal = true;
  put.signal_at = what.signal.at;
  put.update = update_of(what);
  return put;
}

bool Carrier::may_have_more(const Peer& peer) const {
  return peer.with_fabric < room_ - with_fabric_;
}

// Posts what of it is left. False: there is no room for it.
bool Carrier::post(Flight& flight) {
  while (flight.left_to_post != 0) {
    if (!may_have_more(*flight.line->peer)) return false;
    const HostRequest part = next_part(flight);
    if (!fabric_.post(part, flight.id)) {
      counts_.refused.add();
      return false;
    }
    ++flight.line->peer->with_fabric;
    ++with_fabric_;
    if (part.has_signal) flight.left_to_post = flight.left_to_end = 1;  // both
    --flight.left_to_post;
  }
  return true;
}

// Now, or behind what the same FIFO has for the same peer.
void Carrier::send(Flight& flight) {
  Line& line = *flight.line;
  if (!line.is_waiting() && post(flight)) return;
  if (!line.is_waiting()) waiting_.push_back(&line);
  (line.first ? line.last->behind : line.first) = &flight;
  line.last = &flight;
}

// At most a batch, as of a visit. Whether something of it went.
bool Carrier::send_line(Line& line) {
  Flight* const before = line.first;
  for (unsigned sent = 0; sent < limits_.batch && line.is_waiting() && post(*line.first); ++sent)
    line.first = line.first->behind;
  return line.first != before;
}

// Lines of which nothing went come first the next time: those before them may take all the room
// that came free.
bool Carrier::send_waiting() {
  bool has_moved = false;
  for (Line* const line : waiting_) has_moved |= line->was_served = send_line(*line);
  if (!has_moved) return false;
  std::erase_if(waiting_, [](const Line* line) { return !line->is_waiting(); });
  std::stable_partition(waiting_.begin(), waiting_.end(),
                        [](const Line* line) { return !line->was_served; });
  return true;
}

// Takes a FIFO's requests, in its order.
bool Carrier::visit(Source& source) {
  std::uint64_t taken = 0;
  for (; taken < limits_.batch; ++taken) {
    Fifo::Request* const request = source.fifo->take();
    if (request == nullptr) break;
    if (is_well(request->what, limits_.heap_bytes)) {
      send(board(source, *request));
    } else {
      source.fifo->complete(*request, CHIMEX_ERR_INVALID);
    }
  }
  if (taken == 0) return false;
  counts_.visits.add();
  counts_.requests.add(taken);
  counts_.most_taken.raise_to(taken);
  return true;
}

void Carrier::end_part(Flight& flight, chimex_status status) {
  --flight.line->peer->with_fabric;
  --with_fabric_;
  if (flight.status == CHIMEX_OK) flight.status = status;
  if (--flight.left_to_end != 0) return;
  end_traced(flight.traced, flight.status);
  flight.line->fifo->complete(*flight.request, flight.status);
  free_.push_back(&flight);
  counts_.under_way.set(--under_way_);
}

bool Carrier::take_ended() {
  std::array<host::HostDriven::Ended, 64> ended;
  const std::size_t count = fabric_.poll(ended);
  for (const auto& one : std::span(ended).first(count))
    end_part(flights_[one.completion], one.status);
  return count != 0 || fabric_.has_moved();
}

// Each is at all FIFOs: between two of them lies a gap for each.
void Carrier::note_look() {
  counts_.turns.add();
  const auto now = Clock::now();
  counts_.longest_gap_ns.raise_to(static_cast<std::uint64_t>(
      std::chrono::nanoseconds(now - std::exchange(last_look_, now)).count()));
}

bool Carrier::turn() {
  note_look();
  bool has_moved = send_waiting();
  for (std::size_t i = 0; i < sources_.size(); ++i)
    has_moved |= visit(sources_[(first_ + i) % sources_.size()]);
  first_ = (first_ + 1) % sources_.size();
  return take_ended() || has_moved;
}

bool Carrier::has_requests() {
  note_look();
  return std::ranges::any_of(sources_,
                             [](const Source& source) { return source.fifo->has_request(); });
}

}  // namespace chime::proxy
