#include "requester.hpp"

#include <algorithm>

#include "dma.hpp"
#include "softnic/kernel/qp_states.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/observer.hpp"
#include "softnic/observe/strict.hpp"
#include "softnic/observe/trace.hpp"

namespace softnic {
namespace {

constexpr std::uint64_t kMaxMessage = 1ull << 30;     // HCA capability log_max_msg
constexpr std::uint64_t kMaxDatagram = 4096;          // what the port's packets carry
constexpr std::uint64_t kMaxUnanswered = 8ull << 20;  // bytes a queue pair may have in flight
constexpr auto kPatience =
    std::chrono::seconds(10);  // with a living but slow neighbour: its engine is a thread

std::uint16_t producer(const QueuePair& qp) {
  return static_cast<std::uint16_t>(be32toh(
      static_cast<std::uint32_t>(dma_load(reinterpret_cast<const std::byte*>(&qp.records[1]), 4))));
}

Clock::duration transport_timeout(const QueuePair& qp) {
  return std::chrono::nanoseconds((4096ull << qp.timeout) * (qp.retry_count + 1ull));
}

bool blocked_by_failure(const QueuePair& qp) {
  return !qp.outstanding.empty() && qp.outstanding.back().syndrome != Syndrome::kNone &&
         qp.state != QpState::kError;
}

// Where a doorbell says that its queue ends. With the segments of a work request (libmlx5's are its
// first words) this request is posted; without (libraries of GPUs) the queue ends before this
// index.
bool is_behind_record(const QueuePair& qp, std::uint64_t doorbell) {
  const std::uint16_t index = load_be32(&doorbell) >> 8 & 0xffff;
  const bool is_request = segments_of(reinterpret_cast<const std::byte*>(&doorbell)) != 0;
  return static_cast<std::int16_t>(producer(qp) - index) >= (is_request ? 1 : 0);
}

void check_doorbell(const QueuePair& qp, std::uint32_t page, std::uint64_t doorbell) {
  if (qp.uar_page != page)
    strict::report("doorbell-wrong-page", qp.qpn, "rung on page %u, its page is %u", page,
                   qp.uar_page);
  else if (!qp.can_send() && qp.state != QpState::kError)
    strict::report("doorbell-qp-state", qp.qpn, "rung in state %s: requests are taken in RTS",
                   name_of(qp.state));
  else if (!is_behind_record(qp, doorbell))
    strict::report("doorbell-before-record", qp.qpn, "doorbell says %u, the doorbell record %u",
                   load_be32(&doorbell) >> 8 & 0xffff, producer(qp));
}

// The requests that a service can carry (IBA, table "Verb Supported for each Transport Type").
bool is_served(Transport transport, const Request& request) {
  if (transport == Transport::kRc) return true;
  if (transport == Transport::kUc) return !request.is_read();
  return request.opcode == Opcode::kNop || request.opcode == Opcode::kSend ||
         request.opcode == Opcode::kSendImm;
}

}  // namespace

std::uint32_t Requester::qpn_of(std::uint64_t doorbell) {
  return load_be32(reinterpret_cast<const std::byte*>(&doorbell) + 4) >> 8;
}

void Requester::ring(std::uint32_t page, std::uint64_t value) {
  const std::uint32_t qpn = qpn_of(value);
  trace::doorbell(page, value);
  if (const QueuePair* rung = device_.qp(qpn))
    check_doorbell(*rung, page, value);
  else
    strict::report("doorbell-unknown-qp", qpn, "no such queue pair (doorbell on page %u)", page);
  for (auto& [number, qp] : device_.qps())
    if (qp.uar_page == page)
      qp.rung = true;  // two doorbells of one page may merge: the records have all requests
}

bool Requester::run(QueuePair& qp) {
  bool progress = false;
  if (!qp.outstanding.empty() && !qp.outstanding.back().all_sent && !qp.outstanding.back().done) {
    if (!send(qp, qp.outstanding.back())) return false;
    progress = true;
  }
  while (qp.rung && may_fetch(qp)) {
    fetch(qp);
    progress = true;
    if (qp.outstanding.empty()) continue;
    Outstanding& newest = qp.outstanding.back();
    if (!newest.done && !send(qp, newest)) break;
  }
  if (qp.rung && qp.send_blocks && static_cast<std::uint16_t>(qp.send_next) == producer(qp))
    qp.rung = false;
  if (progress) completer_.retire(qp);
  return progress;
}

bool Requester::may_fetch(const QueuePair& qp) const {
  if (qp.send_blocks == 0 || !(qp.can_send() || qp.state == QpState::kError)) return false;
  if (static_cast<std::uint16_t>(qp.send_next) == producer(qp)) return false;
  if (qp.state == QpState::kError) return true;
  if (blocked_by_failure(qp) || qp.unanswered_bytes > kMaxUnanswered) return false;
  const std::byte* next =
      qp.send_ring + static_cast<std::size_t>(qp.send_next & (qp.send_blocks - 1)) * kBlock;
  const unsigned reads = qp.unanswered_reads;
  std::byte modes;
  dma_read(&modes, next + 11, 1);
  const bool fenced = std::to_integer<unsigned>(modes) >> 5 >= 2;
  return reads < qp.max_reads && !(fenced && reads > 0);
}

// Takes the next WQE from the ring and appends it to the outstanding ones; a bad one is appended as
// failed.
void Requester::fetch(QueuePair& qp) {
  const std::uint32_t mask = qp.send_blocks - 1;
  if (static_cast<std::uint16_t>(producer(qp) - qp.send_retired) > qp.send_blocks)
    strict::report("send-queue-overrun", qp.qpn,
                   "%u blocks posted and not completed, the queue has %u",
                   static_cast<std::uint16_t>(producer(qp) - qp.send_retired), qp.send_blocks);
  std::byte wqe[kMaxWqe + kBlock];
  dma_read(wqe, qp.send_ring + static_cast<std::size_t>(qp.send_next & mask) * kBlock, kBlock);
  std::uint32_t blocks = std::max(1u, (segments_of(wqe) + 3) / 4);
  for (std::uint32_t b = 1; b < blocks; ++b)
    dma_read(wqe + b * kBlock,
             qp.send_ring + static_cast<std::size_t>((qp.send_next + b) & mask) * kBlock, kBlock);

  Outstanding o;
  const std::span<const std::byte> bytes(wqe, blocks * kBlock);
  const char* wrong = decode_send_wqe(bytes, qp.transport == Transport::kUd, o.request);
  if (!wrong && settings().strict) wrong = o.request.suspicious;
  if (!wrong && !is_served(qp.transport, o.request)) wrong = "opcode-service";
  if (!wrong && o.request.qpn != qp.qpn) wrong = "wqe-qpn";
  if (!wrong && o.request.index != static_cast<std::uint16_t>(qp.send_next)) wrong = "wqe-index";
  o.request.index = static_cast<std::uint16_t>(qp.send_next);
  o.request.segments = std::max(1u, o.request.segments);
  // The queue ends at the record: a loop that ran past it would never meet it again.
  if (const auto posted = static_cast<std::uint16_t>(producer(qp) - qp.send_next);
      blocks > posted) {
    if (!wrong) wrong = "wqe-past-record";
    blocks = posted;
    o.request.segments = posted * 4u;
  }
  trace::wqe(qp, o.request, bytes);
  o.observed = observer::begin(qp, o.request);
  o.sequence = qp.next_sequence++;
  if (qp.state == QpState::kError) {
    o.syndrome = Syndrome::kFlushed;
  } else if (wrong) {
    strict::report_bytes(wrong, qp.qpn, bytes);
    o.syndrome = Syndrome::kLocalQpOperation;
  } else {
    o.syndrome = faults_.syndrome_for(qp, qp.wqes, check(qp, o.request));
  }
  ++qp.wqes;
  o.done = o.syndrome != Syndrome::kNone;
  o.fingerprint = strict::fingerprint(qp, qp.send_next, blocks);
  if (!o.request.is_read()) qp.unanswered_bytes += o.request.bytes;
  if (o.request.is_read() && !o.done) ++qp.unanswered_reads;
  qp.send_next += blocks;
  qp.outstanding.push_back(std::move(o));
}

Syndrome Requester::check(const QueuePair& qp, const Request& request) {
  const bool is_datagram = qp.transport == Transport::kUd;
  if (request.bytes > (is_datagram ? kMaxDatagram : kMaxMessage)) return Syndrome::kLocalLength;
  if (request.is_atomic() && request.bytes < request.atomic.bytes) return Syndrome::kLocalLength;
  const std::uint32_t need = request.is_read() ? std::uint32_t{kLocalWrite} : 0u;
  for (const ScatterEntry& entry : request.list) {
    if (entry.is_inline) continue;
    const char* why = device_.refusal(entry.lkey, entry.address, entry.bytes, need, qp.pd);
    if (!why) continue;
    strict::report_access(why, qp.qpn, {"lkey", entry.lkey, entry.address, entry.bytes});
    return Syndrome::kLocalProtection;
  }
  return Syndrome::kNone;
}

PacketHeader Requester::header_for(const QueuePair& qp, const Outstanding& o) const {
  const Request& r = o.request;
  PacketHeader h;
  h.dst_qpn = qp.transport == Transport::kUd ? r.destination.qpn : qp.remote_qpn;
  h.src_qpn = qp.qpn;
  h.sequence = o.sequence;
  h.rkey = r.rkey;
  h.address = r.remote_address;
  h.total = r.bytes;
  h.rnr_retry = qp.rnr_retry;
  h.path_mtu = qp.path_mtu;
  h.max_reads = qp.max_reads;
  h.psn = qp.sq_psn;
  h.immediate = r.immediate;
  h.qkey = static_cast<std::int32_t>(r.destination.qkey) < 0 ? qp.qkey : r.destination.qkey;
  if (r.has_immediate()) h.flags |= kImmediate;
  if (r.opcode == Opcode::kSendInvalidate) h.flags |= kInvalidate;
  if (r.solicited) h.flags |= kSolicited;
  if (qp.transport != Transport::kRc) h.flags |= kUnreliable;
  if (qp.transport == Transport::kUd) h.flags |= kDatagram;
  return h;
}

bool Requester::send(QueuePair& qp, Outstanding& o) {
  if (faults_.holds_back(qp)) return false;
  const Request& r = o.request;
  if (r.opcode == Opcode::kNop || r.opcode == Opcode::kDump) {
    o.all_sent = o.done = true;
    return true;
  }
  const bool is_lost =
      qp.transport == Transport::kUd ? !leads_to_port(r.destination.path) : qp.path_leads_nowhere;
  if (is_lost) {
    mark_sent(qp, o);
    o.done = qp.transport != Transport::kRc;
    return true;
  }
  return r.is_read() ? send_query(qp, o) : send_payload(qp, o);
}

bool Requester::send_query(QueuePair& qp, Outstanding& o) {
  std::byte* unused;
  const Reach reach = link_.begin(nic_of(qp.remote_qpn), 0, &unused);
  if (reach == Reach::kFull) return false;
  if (reach == Reach::kReady) {
    PacketHeader h = header_for(qp, o);
    const AtomicOperands& a = o.request.atomic;
    h.kind = o.request.is_atomic() ? PacketKind::kAtomic : PacketKind::kRead;
    h.flags |= kLast;
    h.atomic_opcode = static_cast<std::uint8_t>(o.request.opcode);
    h.atomic_bytes = a.bytes;
    h.swap_or_add = a.swap_or_add;
    h.compare = a.compare;
    h.swap_mask = a.swap_mask;
    h.compare_mask = a.compare_mask;
    link_.commit(h);
  }
  mark_sent(qp, o);
  return true;
}

bool Requester::send_payload(QueuePair& qp, Outstanding& o) {
  PacketHeader h = header_for(qp, o);
  h.kind = o.request.is_write() ? PacketKind::kWrite : PacketKind::kSend;
  do {
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kMaxPayload, o.request.bytes - o.sent));
    std::byte* payload;
    const Reach reach = link_.begin(nic_of(h.dst_qpn), bytes, &payload);
    if (reach == Reach::kFull) return false;
    if (reach == Reach::kReady) {
      gather(qp, o.request, o.sent, bytes, payload);
      h.payload = bytes;
      h.offset = o.sent;
      if (o.sent + bytes == o.request.bytes) h.flags |= kLast;
      link_.commit(h);
    }
    o.sent += bytes;
  } while (o.sent < o.request.bytes);
  mark_sent(qp, o);
  if (qp.transport != Transport::kRc) o.done = true;  // no answer comes
  return true;
}

void Requester::mark_sent(QueuePair& qp, Outstanding& o) {
  o.all_sent = true;
  o.deadline = Clock::now() + transport_timeout(qp);
}

void Requester::gather(const QueuePair& qp, const Request& request, std::uint64_t offset,
                       std::uint32_t bytes, std::byte* to) {
  for (const ScatterEntry& entry : request.list) {
    if (offset >= entry.bytes) {
      offset -= entry.bytes;
      continue;
    }
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, entry.bytes - offset));
    // The region was checked when the WQE was fetched; if it was deregistered since, zeros are
    // sent.
    if (entry.is_inline)
      std::memcpy(to, request.inlined.data() + entry.address + offset, part);
    else if (const std::byte* from =
                 device_.translate(entry.lkey, entry.address + offset, part, 0, qp.pd))
      dma_read(to, from, part);
    else
      std::memset(to, 0, part);
    to += part;
    bytes -= part;
    offset = 0;
    if (bytes == 0) return;
  }
}

void Requester::on_ack(QueuePair& qp, const PacketHeader& header) {
  const auto now = Clock::now();
  for (Outstanding& o : qp.outstanding) {
    if (static_cast<std::int32_t>(o.sequence - header.sequence) > 0) {
      o.deadline = now + transport_timeout(qp);  // the time of the next request starts now
      break;
    }
    if (!o.request.is_read() && o.all_sent) o.done = true;
  }
  completer_.retire(qp);
}

void Requester::on_nak(QueuePair& qp, const PacketHeader& header) {
  if (header.syndrome == kNobodyThere) {
    qp.peer_silent = true;
    return;
  }
  for (Outstanding& o : qp.outstanding) {
    const auto behind = static_cast<std::int32_t>(o.sequence - header.sequence);
    if (behind > 0) break;
    if (behind == 0) o.syndrome = static_cast<Syndrome>(header.syndrome);
    if (behind == 0 || !o.request.is_read()) qp.end(o);
  }
  completer_.retire(qp);
}

void Requester::on_read_data(QueuePair& qp, const PacketHeader& header, const std::byte* payload) {
  auto found = std::ranges::find_if(
      qp.outstanding, [&](const Outstanding& o) { return o.sequence == header.sequence; });
  if (found == qp.outstanding.end() || found->done) return;
  std::uint64_t offset = header.offset;
  std::uint32_t bytes = header.payload;
  for (const ScatterEntry& entry : found->request.list) {
    if (bytes == 0) break;
    if (offset >= entry.bytes) {
      offset -= entry.bytes;
      continue;
    }
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, entry.bytes - offset));
    std::byte* to = device_.translate(entry.lkey, entry.address + offset, part, kLocalWrite, qp.pd);
    if (!to) found->syndrome = Syndrome::kLocalProtection;
    if (to) faults_.place(qp, to, payload, part);
    payload += part;
    bytes -= part;
    offset = 0;
  }
  found->deadline = Clock::now() + transport_timeout(qp);
  if (header.is_last()) {
    qp.end(*found);
    completer_.retire(qp);
  }
}

void Requester::check_timeout(QueuePair& qp, Clock::time_point now) {
  if (qp.timeout == 0 || qp.outstanding.empty() || qp.state == QpState::kError) return;
  Outstanding& oldest = qp.outstanding.front();
  if (oldest.done || !oldest.all_sent || now < oldest.deadline) return;
  const bool answers_late =
      !qp.peer_silent && !qp.path_leads_nowhere && link_.is_alive(nic_of(qp.remote_qpn));
  if (answers_late && now < oldest.deadline + kPatience) return;
  qp.end(oldest);
  oldest.syndrome = Syndrome::kTransportRetryExceeded;
  completer_.retire(qp);
}

}  // namespace softnic
