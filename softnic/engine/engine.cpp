#include "engine.hpp"

#include <sys/prctl.h>

#include <algorithm>

#include "pace.hpp"
#include "softnic/attach/signals_held.hpp"
#include "softnic/observe/log.hpp"

namespace softnic {
namespace {

constexpr std::size_t kDoorbellRegisters[] = {0x800, 0x900, 0xa00,
                                              0xb00};  // two pairs of a page, used in turn
constexpr std::size_t kArmRegister = 0x20;
constexpr unsigned kLinkBudget = 64;  // packets between two looks at the doorbells
constexpr auto kClockPeriod = std::chrono::microseconds(200);

constexpr auto kDoubt = std::chrono::seconds(1);

// Takes the register's value and leaves zero. A doorbell is never zero: it has a queue pair number.
std::uint64_t take(std::uint64_t* word) {
  if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0) return 0;
  return __atomic_exchange_n(
      word, 0, __ATOMIC_ACQUIRE);  // what was stored before the doorbell is visible now
}

// The rest of a doorbell that was taken before its last byte, which counts segments.
bool is_remainder(std::uint64_t doorbell) { return (be64toh(doorbell) & ~0xffull) == 0; }

}  // namespace

Engine::Engine(Device& device, std::unique_ptr<Link> link, const std::string& faults)
    : device_(device),
      link_(std::move(link)),
      faults_(faults),
      completer_(device, faults_, counters_),
      requester_(device, *link_, completer_, faults_),
      responder_(device, *link_, completer_, faults_) {}

void Engine::start() {
  const SignalsHeld held;
  thread_ = std::thread([this] { run(); });
  running_.wait();
}

Engine::~Engine() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

void Engine::run() {
  ::prctl(PR_SET_NAME, "softnic");
  Pace pace{std::chrono::microseconds(settings().spin_us)};
  running_.count_down();
  while (!stopping_.load(std::memory_order_relaxed)) {
    const Next next = look(pace);
    if (next == Next::kPoll) pace.poll();
    if (next == Next::kSleep) link_->sleep();
  }
}

// Everything but the wait is under the lock. So fork() finds the link's tables whole, and this
// thread outside of every allocator: ASan's would leave its lock taken in the child.
Engine::Next Engine::look(Pace& pace) {
  const std::lock_guard guard(device_.lock());
  link_->wake_up();
  if (turn()) {
    pace.worked();
    return Next::kTurn;
  }
  const auto sleep = pace.idle({has_work_in_flight(), link_->has_woken(), link_->neighbours()});
  if (sleep.count() == 0) return Next::kPoll;
  return link_->fall_asleep(sleep) ? Next::kSleep : Next::kTurn;
}

// The link comes before the queue pairs: so the answer to a message leaves in the same turn, and no
// call of the control path comes between. A program that ends its queue pair at the last message
// then loses no acknowledgement.
bool Engine::turn() {
  if (vanished_) return false;  // the control path still answers, but nothing moves
  device_.begin_turn();
  bool progress = poll_doorbells();
  progress |= poll_link();
  progress |= run_queue_pairs();
  if (completer_.has_late()) progress |= completer_.write_late(Clock::now());
  if (const auto now = Clock::now(); now >= next_check_) {
    next_check_ = now + kClockPeriod;
    check_clocks(now);
  }
  return progress;
}

bool Engine::poll_doorbells() {
  bool any = false;
  for (auto& [page, uar] : device_.uars()) {
    for (std::size_t at : kDoorbellRegisters) {
      const std::uint64_t value = take_doorbell(uar.words + at / 8);
      if (value == 0) continue;
      any = true;
      if (is_remainder(value)) continue;
      counters_.doorbell();
      if (!faults_.loses_doorbell(Requester::qpn_of(value))) requester_.ring(page, value);
    }
    if (const std::uint64_t value = take(uar.words + kArmRegister / 8); value != 0) {
      any = true;
      arm(page, value);
    }
  }
  return any;
}

// A program that copies a whole WQE to the register (BlueFlame) may do so in pieces: hardware waits
// for the end of the burst. A value without a queue pair is half a doorbell, unless it stays.
std::uint64_t Engine::take_doorbell(std::uint64_t* word) {
  const std::uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  if (seen == 0 || (!device_.qp(Requester::qpn_of(seen)) && !has_stayed(word, seen))) return 0;
  std::erase_if(doubted_, [&](const Doubted& d) { return d.word == word; });
  return take(word);
}

bool Engine::has_stayed(const std::uint64_t* word, std::uint64_t value) {
  const auto now = Clock::now();
  const auto found = std::ranges::find(doubted_, word, &Doubted::word);
  if (found == doubted_.end()) {
    doubted_.push_back({word, value, now});
    return false;
  }
  if (found->value != value) *found = {word, value, now};
  return now - found->since >= kDoubt;
}

// An arm doorbell names one CQ, but two of a page may have merged: a new arm record shows that
// another one was armed, too. A CQ that was never armed may have the record of its first arming
// from the start, so it may be armed too early. An unwanted event is harmless; a lost one stops the
// program.
void Engine::arm(std::uint32_t page, std::uint64_t doorbell) {
  const std::uint32_t named =
      load_be32(reinterpret_cast<const std::byte*>(&doorbell) + 4) & 0xffffff;
  for (auto& [cqn, cq] : device_.cqs())
    if (cqn == named || (cq.uar_page == page && Completer::is_arm_record_new(cq)))
      completer_.rearm(cq);
}

bool Engine::run_queue_pairs() {
  bool progress = false;
  for (auto& [qpn, qp] : device_.qps()) {
    const bool sending = qp.rung || (!qp.outstanding.empty() && !qp.outstanding.back().all_sent);
    if (sending) progress |= requester_.run(qp);
    const bool receiving = !qp.stash.empty() || !qp.answers.empty() || qp.overtaken;
    if (receiving) progress |= responder_.run(qp);
  }
  return progress;
}

bool Engine::poll_link() {
  const unsigned packets = link_->poll(
      [this](const PacketHeader& header, const std::byte* payload) { deliver(header, payload); },
      kLinkBudget);
  counters_.packets_received(packets);
  return packets != 0;
}

void Engine::deliver(const PacketHeader& header, const std::byte* payload) {
  if (header.kind != PacketKind::kAck && header.kind != PacketKind::kNak &&
      header.kind != PacketKind::kReadData)
    return responder_.receive(header, payload);
  QueuePair* qp = device_.qp(header.dst_qpn);
  if (!qp) return;
  if (header.kind == PacketKind::kAck) requester_.on_ack(*qp, header);
  if (header.kind == PacketKind::kNak) requester_.on_nak(*qp, header);
  if (header.kind == PacketKind::kReadData) requester_.on_read_data(*qp, header, payload);
}

void Engine::check_clocks(Clock::time_point now) {
  link_->housekeeping();
  if (faults_.vanishes()) {
    vanished_ = true;
    device_.raise_fatal();
    link_->leave();
    return;
  }
  for (auto& [qpn, qp] : device_.qps()) {
    if (qp.state == QpState::kError)
      completer_.flush_receive_queue(qp);  // no doorbell announces them
    requester_.check_timeout(qp, now);
    responder_.check_not_ready(qp, now);
  }
}

bool Engine::has_work_in_flight() {
  if (completer_.has_late()) return true;
  for (auto& [qpn, qp] : device_.qps())
    if (!qp.outstanding.empty() || !qp.stash.empty() || !qp.answers.empty() || qp.overtaken)
      return true;
  return false;
}

// An earlier doorbell belongs to the old queue pair, and must not reach a new one.
void Engine::settle(const QueuePair& qp) {
  poll_doorbells();
  completer_.write_late_of(qp);
}

void Engine::reset(QueuePair& qp) {
  settle(qp);
  qp.state = QpState::kReset;
  qp.rung = false;
  qp.send_next = qp.send_retired = qp.next_sequence = qp.receive_next = 0;
  qp.unanswered_bytes = 0;
  qp.unanswered_reads = 0;
  qp.peer_silent = qp.path_leads_nowhere = qp.error_reported = qp.deaf = false;
  qp.outstanding.clear();
  qp.receiving = {};
  qp.stash.clear();
  qp.overtaken.reset();
  qp.answers.clear();
}

}  // namespace softnic
