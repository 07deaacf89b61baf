#include "completer.hpp"

#include <rdma/ib_user_verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dma.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/observer.hpp"
#include "softnic/observe/strict.hpp"
#include "softnic/observe/trace.hpp"

namespace softnic {
namespace {

constexpr std::uint32_t kIndexMask = 0xffffff;  // a CQ's consumer index has 24 bits
constexpr std::uint8_t kCompletionOnFirstError = 1, kCompletionWithEvent = 3;  // CE of a request
constexpr std::uint32_t kArmAny = 0;  // arm record: 0 = next completion, 1 = next solicited one
std::uint32_t record(const std::uint32_t* word) {
  return be32toh(static_cast<std::uint32_t>(dma_load(reinterpret_cast<const std::byte*>(word), 4)));
}

bool is_error(const Completion& completion) {
  return completion.opcode == CqeOpcode::kRequestError ||
         completion.opcode == CqeOpcode::kResponderError;
}

// CE 1 asks only for the queue's first error: requests that are flushed after it stay silent.
bool reports_failure(const QueuePair& qp, const Request& request) {
  return request.completion_mode != kCompletionOnFirstError || !qp.error_reported;
}

Completion completion_of(const QueuePair& qp, const Outstanding& o) {
  Completion c;
  c.opcode = o.syndrome == Syndrome::kNone ? CqeOpcode::kRequest : CqeOpcode::kRequestError;
  c.syndrome = o.syndrome;
  c.send_opcode = o.request.opcode;
  c.qpn = qp.qpn;
  c.user_index = qp.user_index;
  c.counter = o.request.index;
  c.with_event = o.request.completion_mode == kCompletionWithEvent;
  c.bytes =
      static_cast<std::uint32_t>(o.request.is_atomic() ? o.request.atomic.bytes : o.request.bytes);
  return c;
}

}  // namespace

void Completer::complete(std::uint32_t cqn, const Completion& completion) {
  CompletionQueue* cq = device_.cq(cqn);
  if (!cq) return;
  if (cq->late.empty()) {
    const auto delay = faults_.delays_completion(completion.qpn);
    if (!delay) return write(*cq, completion);
    cq->late_until = Clock::now() + *delay;
    ++late_queues_;
  }
  cq->late.push_back(completion);  // always after the others: the queue keeps its order
}

bool Completer::write_late(Clock::time_point now) {
  if (late_queues_ == 0) return false;
  bool any = false;
  unsigned left = 0;
  for (auto& [cqn, cq] : device_.cqs()) {
    if (cq.late.empty()) continue;
    const bool due = now >= cq.late_until;
    if (due) write_late(cq);
    any |= due;
    left += !due;
  }
  late_queues_ = left;
  return any;
}

void Completer::write_late(CompletionQueue& cq) {
  for (; !cq.late.empty(); cq.late.pop_front()) write(cq, cq.late.front());
}

void Completer::write_late_of(const QueuePair& qp) {
  if (late_queues_ == 0) return;
  for (const std::uint32_t cqn : {qp.send_cqn, qp.receive_cqn})
    if (CompletionQueue* cq = device_.cq(cqn)) write_late(*cq);
}

void Completer::write(CompletionQueue& cq, const Completion& completion) {
  if (cq.overrun) return;
  if (!cq.collapsed && !cq.overrun_ignored) {
    const std::uint32_t waiting = (cq.produced - record(&cq.records[0])) & kIndexMask;
    if (waiting >= cq.entries) {
      cq.overrun = true;
      strict::report("cq-overrun", completion.qpn,
                     "completion queue %#x holds %u unread entries of %u", cq.cqn, waiting,
                     cq.entries);
      device_.raise(AsyncEvent::kCqError, cq.owner);
      return;
    }
  }
  const std::uint32_t slot = cq.collapsed ? 0 : cq.produced & (cq.entries - 1);
  const std::size_t in_slot =
      cq.entry_bytes == 128 ? 64 : 0;  // a 128-byte entry holds the CQE in its upper half
  std::byte* at = cq.ring + static_cast<std::size_t>(slot) * cq.entry_bytes + in_slot;
  std::byte cqe[64];
  encode_cqe(completion, cq.produced & cq.entries, cqe);
  dma_write(at, cqe, sizeof cqe);  // its last word, with the owner bit, is stored with release
  ++cq.produced;
  trace::cqe(cq.cqn, completion, cqe);
  SOFTNIC_LOG_AT(4, "softnic: CQE cq %#x qp %#x opcode %x counter %u bytes %u syndrome %s\n",
                 cq.cqn, completion.qpn, static_cast<unsigned>(completion.opcode),
                 completion.counter, completion.bytes, name_of(completion.syndrome));
  const bool solicited = completion.solicited || completion.with_event || is_error(completion);
  if (solicited) cq.solicited_until = cq.produced;
  if (cq.armed && (!cq.armed_solicited || solicited)) fire(cq);
}

void Completer::fire(CompletionQueue& cq) {
  cq.armed = false;
  device_.tell_subscribers(EventType::kCompletion, cq.owner);
  const EventChannel* to_program = device_.channel(cq.channel);
  if (!to_program) return;
  const ib_uverbs_comp_event_desc event{cq.owner.user_handle};
  if (::syscall(SYS_write, to_program->write_fd, &event, sizeof event) == sizeof event)
    ++cq.events_sent;
}

// The arm record holds a sequence number, the kind of event and the consumer index at the time of
// arming.
bool Completer::is_arm_record_new(const CompletionQueue& cq) {
  return record(&cq.records[1]) != cq.arm_seen;
}

void Completer::rearm(CompletionQueue& cq) {
  const std::uint32_t arm = record(&cq.records[1]);
  cq.arm_seen = arm;
  cq.armed = true;
  cq.armed_solicited = (arm >> 24 & 1) != kArmAny;
  const std::uint32_t newest = cq.armed_solicited ? cq.solicited_until : cq.produced;
  const std::uint32_t unread = (newest - arm) & kIndexMask;
  if (unread != 0 && unread <= cq.entries) fire(cq);
}

void Completer::count(const QueuePair& qp, const Outstanding& o) {
  if (o.syndrome != Syndrome::kNone) return counters_.failed();
  const bool is_datagram = qp.transport == Transport::kUd;
  const std::uint32_t to = is_datagram ? o.request.destination.qpn : qp.remote_qpn;
  const bool stays = o.request.opcode == Opcode::kNop || o.request.opcode == Opcode::kDump;
  counters_.carried_out(o.request, stays || nic_of(to) == device_.nic_address());
}

void Completer::retire(QueuePair& qp) {
  while (!qp.outstanding.empty() && qp.outstanding.front().done) {
    Outstanding& oldest = qp.outstanding.front();
    strict::check_unchanged(qp, oldest);
    count(qp, oldest);
    observer::end(oldest);
    const bool failed = oldest.syndrome != Syndrome::kNone;
    if (failed ? reports_failure(qp, oldest.request) : oldest.request.wants_completion())
      complete(qp.send_cqn, completion_of(qp, oldest));
    qp.error_reported |= failed;
    qp.send_retired += oldest.request.blocks();
    if (!oldest.request.is_read()) qp.unanswered_bytes -= oldest.request.bytes;
    qp.outstanding.pop_front();
    if (failed && qp.state != QpState::kError) return enter_error(qp);
  }
}

void Completer::enter_error(QueuePair& qp) {
  const bool is_new = qp.state != QpState::kError;
  qp.state = QpState::kError;
  // Also requests that were done: they follow one that was not, and complete after it.
  for (Outstanding& o : qp.outstanding) {
    o.syndrome = Syndrome::kFlushed;
    qp.end(o);
  }
  qp.rung = true;  // the requester flushes what is posted and not fetched
  qp.answers.clear();
  qp.stash.clear();
  qp.overtaken.reset();
  retire(qp);
  flush_receive_queue(qp);
  if (is_new && qp.srqn != 0) device_.raise(AsyncEvent::kQpLastWqeReached, qp.owner);
}

void Completer::flush_receive_queue(QueuePair& qp) {
  if (qp.receive_entries == 0) return;  // none, or entries of a shared queue: they stay there
  Completion c;
  c.opcode = CqeOpcode::kResponderError;
  c.syndrome = Syndrome::kFlushed;
  c.qpn = qp.qpn;
  c.user_index = qp.user_index;
  if (qp.receiving.active) {
    c.counter = qp.receiving.counter;
    qp.receiving.active = false;
    complete(qp.receive_cqn, c);
  }
  const auto posted = static_cast<std::uint16_t>(record(&qp.records[0]));
  for (; static_cast<std::uint16_t>(qp.receive_next) != posted; ++qp.receive_next) {
    c.counter = static_cast<std::uint16_t>(qp.receive_next);
    complete(qp.receive_cqn, c);
  }
}

}  // namespace softnic
