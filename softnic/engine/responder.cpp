#include "responder.hpp"

#include <algorithm>

#include "atomics.hpp"
#include "dma.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/strict.hpp"
#include "softnic/observe/trace.hpp"

namespace softnic {
namespace {

constexpr std::uint32_t kGlobalRouteHeader =
    40;  // precedes a datagram's payload in the receive buffer
constexpr std::uint8_t kRetryForEver = 7;

// IBA 9.7.5.2.8: the RNR NAK timer's encoding, in microseconds.
constexpr std::uint32_t kRnrTimerUs[32] = {
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

std::uint16_t posted(const std::uint32_t* record) {
  return static_cast<std::uint16_t>(
      be32toh(static_cast<std::uint32_t>(dma_load(reinterpret_cast<const std::byte*>(record), 4))));
}

std::uint64_t capacity(const Receiving& receiving) {
  std::uint64_t bytes = 0;
  for (const ScatterEntry& entry : receiving.list) bytes += entry.bytes;
  return bytes;
}

CqeOpcode cqe_opcode_of_send(const PacketHeader& header) {
  if (header.flags & kImmediate) return CqeOpcode::kResponderSendImm;
  if (header.flags & kInvalidate) return CqeOpcode::kResponderSendInvalidate;
  return CqeOpcode::kResponderSend;
}

constexpr unsigned bytes_of_mtu(unsigned mtu) { return 128u << mtu; }  // of enum ibv_mtu

bool is_reliable(const PacketHeader& header) { return !(header.flags & kUnreliable); }

// Requests that may be placed before or after others of their kind. Every other request is executed
// when all before it have been placed (README.md, "Out of order").
bool is_plain_write(const PacketHeader& header) {
  return header.kind == PacketKind::kWrite && is_reliable(header) && !(header.flags & kImmediate);
}

// A number that belongs to another fabric is also one of a queue pair here: every fabric counts
// from the same number.
void report_psn(const QueuePair& qp, const PacketHeader& header) {
  if (header.src_qpn == qp.qpn)
    strict::report("psn", qp.qpn,
                   "it is connected to itself, numbers its packets from %#x and expects %#x "
                   "(rq_psn); is the other end on another fabric (SOFTNIC_FABRIC, softnic-run "
                   "--fabric)?",
                   header.psn, qp.rq_psn);
  else
    strict::report("psn", qp.qpn, "%#x numbers its packets from %#x, expected are %#x (rq_psn)",
                   header.src_qpn, header.psn, qp.rq_psn);
}

}  // namespace

void Responder::receive(const PacketHeader& header, const std::byte* payload) {
  QueuePair* qp = device_.qp(header.dst_qpn);
  if (!qp || qp->state == QpState::kError) {
    if (is_reliable(header)) nobody_there(header);
    return;
  }
  if (qp->deaf) return;
  const bool ready = qp->can_receive();
  if (!ready && is_reliable(header)) nobody_there(header);
  if (!ready && !is_reliable(header)) return;
  if (ready && qp->stash.empty() && !faults_.stalls(*qp) && process(*qp, header, payload)) return;
  if (qp->state == QpState::kError) return;
  qp->stash.push_back({header, std::vector<std::byte>(payload, payload + header.payload)});
}

bool Responder::run(QueuePair& qp) {
  bool progress = false;
  if (qp.overtaken && Clock::now() >= qp.overtaken->until) {
    place_overtaken(qp);
    progress = true;
  }
  while (!qp.stash.empty() && qp.can_receive() && !faults_.stalls(qp)) {
    const Stashed& oldest = qp.stash.front();
    if (!process(qp, oldest.header, oldest.payload.data())) break;
    if (!qp.stash.empty()) qp.stash.pop_front();  // empty when the queue pair went to error
    qp.not_ready_since = {};
    progress = true;
  }
  return send_answers(qp) || progress;
}

bool Responder::process(QueuePair& qp, const PacketHeader& header, const std::byte* payload) {
  if (is_reliable(header) && !is_connection_of(qp, header)) return true;
  if (!is_plain_write(header)) place_overtaken(qp);
  if (qp.state == QpState::kError) return true;  // what was overtaken is refused
  switch (header.kind) {
    case PacketKind::kWrite:
      return on_write(qp, header, payload);
    case PacketKind::kSend:
      return on_send(qp, header, payload);
    case PacketKind::kRead:
      on_read(qp, header);
      return true;
    case PacketKind::kAtomic:
      on_atomic(qp, header);
      return true;
    default:
      return true;
  }
}

// Whether the two ends agree on the settings of their connection. Unexpected packets are dropped,
// and too long ones are refused (IBA 9.7.5.1). Hardware refuses reads beyond the responder's room
// when they meet there, which cannot be shown here.
bool Responder::is_connection_of(QueuePair& qp, const PacketHeader& header) {
  if (header.psn != qp.rq_psn) {
    report_psn(qp, header);
    nobody_there(header);
    return false;
  }
  const bool sends = header.kind == PacketKind::kWrite || header.kind == PacketKind::kSend;
  if (sends && header.path_mtu > qp.path_mtu && header.total > bytes_of_mtu(qp.path_mtu)) {
    strict::report("path-mtu", qp.qpn, "%#x sends packets of %u bytes, expected are at most %u",
                   header.src_qpn, bytes_of_mtu(header.path_mtu), bytes_of_mtu(qp.path_mtu));
    refuse(qp, header, Syndrome::kRemoteInvalidRequest, AsyncEvent::kQpRequestError);
    return false;
  }
  if (!sends && header.max_reads > qp.max_dest_reads)
    strict::report("reads-beyond-responder", qp.qpn,
                   "%#x may have %u reads and atomics under way (max_rd_atomic), here is room for "
                   "%u (max_dest_rd_atomic)",
                   header.src_qpn, header.max_reads, qp.max_dest_reads);
  return true;
}

// The memory that a request names, or null when this queue pair or the key does not grant `access`.
std::byte* Responder::reach(const QueuePair& qp, const strict::Attempt& a, std::uint32_t access) {
  const bool granted = (qp.granted() & access) == access;
  if (granted)
    if (std::byte* at = device_.translate(a.key, a.address, a.bytes, access, qp.pd)) return at;
  const char* why =
      granted ? device_.refusal(a.key, a.address, a.bytes, access, qp.pd) : "qp-access";
  if (why) strict::report_access(why, qp.qpn, a);
  return nullptr;
}

bool Responder::on_write(QueuePair& qp, const PacketHeader& header, const std::byte* payload) {
  const bool consumes = header.is_last() && header.flags & kImmediate;
  if (consumes && !qp.receiving.active && !take_receive_wqe(qp)) return !is_reliable(header);
  if (header.total != 0) {
    std::byte* whole = reach(qp, {"rkey", header.rkey, header.address, header.total}, kRemoteWrite);
    if (!whole) {
      refuse(qp, header, Syndrome::kRemoteAccess, AsyncEvent::kQpAccessError);
      return true;
    }
    place(qp, header, payload, whole + header.offset);
  }
  if (!header.is_last()) return true;
  if (consumes) finish_receive(qp, header, CqeOpcode::kResponderWriteImm);
  acknowledge(qp, header);
  return true;
}

// Places the payload of a write, now or, by a fault, after later packets. One packet of a queue
// pair waits at a time: all others pass it.
void Responder::place(QueuePair& qp, const PacketHeader& header, const std::byte* payload,
                      std::byte* to) {
  if (is_plain_write(header) && !qp.overtaken) {
    if (const auto wait = faults_.lets_overtake(qp)) {
      qp.overtaken = {{header, std::vector<std::byte>(payload, payload + header.payload)},
                      Clock::now() + *wait};
      return;
    }
  }
  faults_.place(qp, to, payload, header.payload);
}

// Its region may have been removed meanwhile.
void Responder::place_overtaken(QueuePair& qp) {
  if (!qp.overtaken) return;
  const Overtaken late = std::move(*qp.overtaken);
  qp.overtaken.reset();
  const PacketHeader& header = late.packet.header;
  std::byte* whole = reach(qp, {"rkey", header.rkey, header.address, header.total}, kRemoteWrite);
  if (!whole) return refuse(qp, header, Syndrome::kRemoteAccess, AsyncEvent::kQpAccessError);
  faults_.place(qp, whole + header.offset, late.packet.payload.data(), header.payload);
  if (late.whole_until) acknowledge(qp, *late.whole_until);
}

bool Responder::on_send(QueuePair& qp, const PacketHeader& header, const std::byte* payload) {
  if (header.flags & kDatagram && header.qkey != qp.qkey)
    return true;  // silently dropped, as IBA requires
  const std::uint32_t prefix = header.flags & kDatagram ? kGlobalRouteHeader : 0;
  if (!qp.receiving.active && !take_receive_wqe(qp)) return !is_reliable(header);
  const bool fits = capacity(qp.receiving) >= header.total + prefix;
  const Syndrome failed =
      fits ? scatter(qp, header.offset + prefix, payload, header.payload) : Syndrome::kLocalLength;
  if (failed != Syndrome::kNone) {
    Completion c;
    c.opcode = CqeOpcode::kResponderError;
    c.syndrome = failed;
    c.qpn = qp.qpn;
    c.user_index = qp.user_index;
    c.counter = qp.receiving.counter;
    qp.receiving.active = false;
    completer_.complete(qp.receive_cqn, c);
    // The receive's own completion informs this side; there is no additional event (IBA 9.9.3,
    // class C).
    refuse(qp, header, fits ? Syndrome::kRemoteOperation : Syndrome::kRemoteInvalidRequest,
           std::nullopt);
    return true;
  }
  if (!header.is_last()) return true;
  finish_receive(qp, header, cqe_opcode_of_send(header));
  acknowledge(qp, header);
  return true;
}

void Responder::on_read(QueuePair& qp, const PacketHeader& header) {
  const strict::Attempt whole{"rkey", header.rkey, header.address, header.total};
  if (header.total != 0 && !reach(qp, whole, kRemoteRead))
    return refuse(qp, header, Syndrome::kRemoteAccess, AsyncEvent::kQpAccessError);
  Answer answer;
  answer.kind = PacketKind::kReadData;
  answer.sequence = header.sequence;
  answer.rkey = header.rkey;
  answer.address = header.address;
  answer.total = header.total;
  qp.answers.push_back(answer);
}

// Atomic with other atomics of this NIC (IBV_ATOMIC_HCA) and with nothing else. It is a load and a
// store with a seeded pause between them, so that a CPU's atomic on the same word is lost now and
// then, as with hardware.
void Responder::on_atomic(QueuePair& qp, const PacketHeader& header) {
  const AtomicOperands operands{header.swap_or_add, header.compare, header.swap_mask,
                                header.compare_mask, header.atomic_bytes};
  if (header.address % operands.bytes != 0) {
    strict::report_access("alignment", qp.qpn,
                          {"rkey", header.rkey, header.address, operands.bytes});
    return refuse(qp, header, Syndrome::kRemoteInvalidRequest, AsyncEvent::kQpRequestError);
  }
  std::byte* word = reach(qp, {"rkey", header.rkey, header.address, operands.bytes}, kRemoteAtomic);
  if (!word) return refuse(qp, header, Syndrome::kRemoteAccess, AsyncEvent::kQpAccessError);
  const std::uint64_t old = dma_load(word, operands.bytes);
  faults_.pause_inside_atomic();
  const std::uint64_t changed = apply(static_cast<Opcode>(header.atomic_opcode), operands, old);
  if (changed != old) dma_store(word, changed, operands.bytes);
  Answer answer;
  answer.kind = PacketKind::kReadData;
  answer.sequence = header.sequence;
  answer.total = operands.bytes;
  answer.is_inlined = true;
  // Eight-byte results come in host order (the capability says so), four-byte extended ones
  // big-endian.
  if (operands.bytes == 8)
    store(answer.inlined, old);
  else
    store_be32(answer.inlined, static_cast<std::uint32_t>(old));
  qp.answers.push_back(answer);
}

bool Responder::take_receive_wqe(QueuePair& qp) {
  if (faults_.not_ready(qp)) return false;
  if (SharedReceiveQueue* srq = qp.srqn ? device_.srq(qp.srqn) : nullptr)
    return take_shared_wqe(qp, *srq);
  if (qp.receive_entries == 0 ||
      static_cast<std::uint16_t>(qp.receive_next) == posted(&qp.records[0]))
    return false;
  const std::size_t stride = std::size_t{1} << qp.receive_shift;
  std::vector<std::byte> wqe(stride);
  dma_read(wqe.data(), qp.receive_ring + (qp.receive_next & (qp.receive_entries - 1)) * stride,
           stride);
  qp.receiving = {true, static_cast<std::uint16_t>(qp.receive_next),
                  decode_receive_wqe(wqe.data(), stride, 0)};
  trace::receive_wqe(qp, qp.receiving.counter, wqe);
  ++qp.receive_next;
  ++qp.rx_wqes;
  return true;
}

// Entries of a list name the next one in bytes 2..3.
bool Responder::take_shared_wqe(QueuePair& qp, SharedReceiveQueue& srq) {
  if (posted(srq.record) == srq.taken) return false;
  std::vector<std::byte> wqe(srq.stride);
  dma_read(wqe.data(), srq.ring + static_cast<std::size_t>(srq.head) * srq.stride, srq.stride);
  qp.receiving = {true, static_cast<std::uint16_t>(srq.head),
                  decode_receive_wqe(wqe.data(), srq.stride, kSegment)};
  trace::receive_wqe(qp, qp.receiving.counter, std::span(wqe).subspan(kSegment));
  srq.head = (srq.is_ring ? srq.head + 1 : load_be16(wqe.data() + 2)) & (srq.entries - 1);
  ++srq.taken;
  ++qp.rx_wqes;
  const auto left = static_cast<std::uint16_t>(posted(srq.record) - srq.taken);
  if (srq.limit != 0 && left < srq.limit) {
    srq.limit = 0;  // one event for one arming
    device_.raise(AsyncEvent::kSrqLimitReached, srq.owner);
  }
  return true;
}

void Responder::report_refused(const QueuePair& qp, const strict::Attempt& attempt) {
  const char* why =
      device_.refusal(attempt.key, attempt.address, attempt.bytes, kLocalWrite, qp.pd);
  strict::report_access(why, qp.qpn, attempt);
}

Syndrome Responder::scatter(QueuePair& qp, std::uint64_t offset, const std::byte* payload,
                            std::uint32_t bytes) {
  for (const ScatterEntry& entry : qp.receiving.list) {
    if (bytes == 0) break;
    if (offset >= entry.bytes) {
      offset -= entry.bytes;
      continue;
    }
    const auto part =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, entry.bytes - offset));
    std::byte* to = device_.translate(entry.lkey, entry.address + offset, part, kLocalWrite, qp.pd);
    if (!to) {
      report_refused(qp, {"lkey", entry.lkey, entry.address + offset, part});
      return Syndrome::kLocalProtection;
    }
    faults_.place(qp, to, payload, part);
    payload += part;
    bytes -= part;
    offset = 0;
  }
  return Syndrome::kNone;
}

void Responder::finish_receive(QueuePair& qp, const PacketHeader& header, CqeOpcode opcode) {
  Completion c;
  c.opcode = opcode;
  c.qpn = qp.qpn;
  c.user_index = qp.user_index;
  c.counter = qp.receiving.counter;
  c.bytes = static_cast<std::uint32_t>(header.total +
                                       (header.flags & kDatagram ? kGlobalRouteHeader : 0));
  c.immediate = header.immediate;
  c.remote_qpn = header.src_qpn;
  c.solicited = header.flags & kSolicited;
  c.has_global_route = header.flags & kDatagram && settings().ethernet;  // RoCE always has one
  qp.receiving.active = false;
  completer_.complete(qp.receive_cqn, c);
}

// An acknowledgement covers all requests before it: overtaken ones must have been placed, too.
void Responder::acknowledge(QueuePair& qp, const PacketHeader& header) {
  if (!is_reliable(header)) return;
  if (qp.overtaken) {
    qp.overtaken->whole_until = header.sequence;
  } else {
    acknowledge(qp, header.sequence);
  }
}

void Responder::acknowledge(QueuePair& qp, std::uint32_t sequence) {
  if (!qp.answers.empty() && qp.answers.back().kind == PacketKind::kAck) {
    qp.answers.back().sequence = sequence;
    return;
  }
  Answer answer;
  answer.kind = PacketKind::kAck;
  answer.sequence = sequence;
  qp.answers.push_back(answer);
}

// A request that cannot be served. Unreliable messages are dropped.
void Responder::refuse(QueuePair& qp, const PacketHeader& header, Syndrome syndrome,
                       std::optional<AsyncEvent> event) {
  if (!is_reliable(header)) return;
  SOFTNIC_LOG_AT(
      2,
      "softnic: queue pair %#x refuses message %u of %#x: %s (rkey %#x address %#llx bytes %llu)\n",
      qp.qpn, header.sequence, header.src_qpn, name_of(syndrome), header.rkey,
      static_cast<unsigned long long>(header.address),
      static_cast<unsigned long long>(header.total));
  fail(qp, header.sequence, syndrome, event);
}

// Reports to the requester why message `sequence` failed, after its earlier answers. This queue
// pair goes to error (IBA 9.9.3, class C) with an asynchronous event.
void Responder::fail(QueuePair& qp, std::uint32_t sequence, Syndrome syndrome,
                     std::optional<AsyncEvent> event) {
  if (qp.overtaken) {
    place_overtaken(qp);
    if (qp.state == QpState::kError) return;  // it was refused already, with everything after it
  }
  Answer answer;
  answer.kind = PacketKind::kNak;
  answer.sequence = sequence;
  answer.syndrome = static_cast<std::uint8_t>(syndrome);
  qp.answers.push_back(answer);
  send_answers(qp);
  if (qp.state == QpState::kError) return;  // a read before it has failed meanwhile
  std::deque<Answer> unsent = std::move(qp.answers);
  if (event) device_.raise(*event, qp.owner);
  completer_.enter_error(qp);
  qp.answers = std::move(unsent);  // a full link must not swallow the refusal
}

void Responder::nobody_there(const PacketHeader& header) {
  std::byte* unused;
  if (link_.begin(nic_of(header.src_qpn), 0, &unused) != Reach::kReady) return;
  PacketHeader h;
  h.kind = PacketKind::kNak;
  h.flags = kLast;
  h.dst_qpn = header.src_qpn;
  h.src_qpn = header.dst_qpn;
  h.sequence = header.sequence;
  h.syndrome = kNobodyThere;
  link_.commit(h);
}

bool Responder::send_answers(QueuePair& qp) {
  bool progress = false;
  while (!qp.answers.empty()) {
    Answer& oldest = qp.answers.front();
    if (oldest.kind == PacketKind::kReadData) {
      const Sent sent = send_read_data(qp, oldest);
      if (sent == Sent::kNotYet) return progress;
      if (sent == Sent::kRefused) {
        const std::uint32_t sequence = oldest.sequence;
        qp.answers.clear();
        fail(qp, sequence, Syndrome::kRemoteAccess, AsyncEvent::kQpAccessError);
        return true;
      }
    } else {
      std::byte* unused;
      const Reach reach = link_.begin(nic_of(qp.remote_qpn), 0, &unused);
      if (reach == Reach::kFull) return progress;
      if (reach == Reach::kReady) {
        PacketHeader h;
        h.kind = oldest.kind;
        h.flags = kLast;
        h.dst_qpn = qp.remote_qpn;
        h.src_qpn = qp.qpn;
        h.sequence = oldest.sequence;
        h.syndrome = oldest.syndrome;
        link_.commit(h);
      }
    }
    qp.answers.pop_front();
    progress = true;
  }
  return progress;
}

// A region may be removed between two packets of an answer: each packet checks its part.
Responder::Sent Responder::send_read_data(QueuePair& qp, Answer& answer) {
  do {
    const auto bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(kMaxPayload, answer.total - answer.sent));
    const auto* from = reinterpret_cast<const std::byte*>(answer.inlined);
    if (bytes != 0 && !answer.is_inlined)
      from = reach(qp, {"rkey", answer.rkey, answer.address + answer.sent, bytes}, kRemoteRead);
    if (!from) return Sent::kRefused;
    std::byte* payload;
    const Reach room = link_.begin(nic_of(qp.remote_qpn), bytes, &payload);
    if (room == Reach::kFull) return Sent::kNotYet;
    if (room == Reach::kReady) {
      if (bytes) dma_read(payload, from, bytes);
      PacketHeader h;
      h.kind = PacketKind::kReadData;
      h.dst_qpn = qp.remote_qpn;
      h.src_qpn = qp.qpn;
      h.sequence = answer.sequence;
      h.payload = bytes;
      h.offset = answer.sent;
      h.total = answer.total;
      if (answer.sent + bytes == answer.total) h.flags |= kLast;
      link_.commit(h);
    }
    answer.sent += bytes;
  } while (answer.sent < answer.total);
  return Sent::kAll;
}

void Responder::check_not_ready(QueuePair& qp, Clock::time_point now) {
  if (qp.stash.empty() || !qp.can_receive() || faults_.stalls(qp)) return;
  const PacketHeader header = qp.stash.front().header;
  if (qp.not_ready_since == Clock::time_point{}) qp.not_ready_since = now;
  if (header.rnr_retry == kRetryForEver) return;
  const auto allowed =
      std::chrono::microseconds(kRnrTimerUs[qp.min_rnr_timer & 31] * header.rnr_retry);
  if (now - qp.not_ready_since < allowed) return;
  qp.stash.clear();
  qp.not_ready_since = {};
  qp.deaf = true;
  Answer answer;
  answer.kind = PacketKind::kNak;
  answer.sequence = header.sequence;
  answer.syndrome = static_cast<std::uint8_t>(Syndrome::kRnrRetryExceeded);
  qp.answers.push_back(answer);
}

}  // namespace softnic
