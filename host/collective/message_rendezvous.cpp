#include "host/collective/message_rendezvous.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "host/collective/tree.hpp"
#include "host/errors/abort.hpp"
#include "host/errors/log.hpp"
#include "host/errors/wait.hpp"
#include "host/peers/control.hpp"
#include "host/settings/spelling.hpp"
#include "net/mesh/reactor.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;

// For PE 0's answer. Messages are taken by a thread of their own, so it comes at once, unless PE
// 0's process is stopped, or one on the way up to it: then there is the direct way.
constexpr auto kTimeOfTheWayUp = 1s;
constexpr auto kAnswerTime = 10s;
// PE 0 may decide by what had arrived kStale ago. A PE that has given up since still waits for the
// verdict, and there is as much time again for it to come.
static_assert(kAnswerTime > 2 * net::Reactor::kStale);

// Who watches processes knows more of a death than that a connection ended, and raises the abort
// word.
constexpr auto kTimeOfBetterWords = 1s;

bool tells_of_an_end(chimex_status code) {
  return code == CHIMEX_ERR_PEER_DEAD || code == CHIMEX_ERR_ABORTED;
}

}  // namespace

MessageRendezvous::MessageRendezvous(std::unique_ptr<Messenger> messenger, abi::AbortWord& abort,
                                     TimeLimit limit, const Beside& beside)
    : abort_(abort),
      limit_(limit),
      beside_(beside),
      meeting_(messenger->my_pe(), messenger->n_pes()),
      messenger_(std::move(messenger)) {
  messenger_->start(*this);
}

void MessageRendezvous::meet(const CollectiveCall& call) {
  Lock lock(mutex_);
  if (meeting_.is_broken()) throw_given_up(lock);
  meeting_.come(call);
  send_outgoing(lock);
  try {
    wait_until_settled(lock, call);
  } catch (const Error& error) {
    give_up(lock, error);
    const Verdict& verdict = meeting_.verdict();
    if (!meeting_.has_met() && verdict.by == messenger_->my_pe())
      throw Error(error.origin(), error.code(), why_given_up());
  }
  if (!meeting_.has_met()) throw_given_up(lock);
  check_same(meeting_.verdict().calls);
}

void MessageRendezvous::wait_until_settled(Lock& lock, const CollectiveCall& call) {
  next_ask_ = Elsewhere::Clock::now() + kLookForBarriersEvery;
  const auto is_over = [&] {
    if (meeting_.is_settled() || !lost_.empty()) return true;
    throw_if_some_dead(abort_);
    ask_if_late(lock);
    return meeting_.is_settled() || !lost_.empty();
  };
  wait_until(lock, changed_, is_over, abort_, limit_,
             [&] { return fmt::format("all PEs to call {}", describe(call)); });
  if (!meeting_.is_settled()) throw_loss(lock);
}

// Somebody this PE has spoken with is gone: no call meets any more, and this one only if it has.
void MessageRendezvous::throw_loss(Lock& lock) {
  wait_for_better_words(lock, [this] { return meeting_.is_settled(); });
  if (meeting_.is_settled()) return;
  throw Error("collective call", CHIMEX_ERR_PEER_DEAD, lost_.begin()->second);
}

// Returns when the call is settled: by PE 0, or, if that cannot tell, by this PE for itself.
void MessageRendezvous::give_up(Lock& lock, const Error& error) {
  const auto is_over = [this] { return meeting_.is_settled() || lost_.contains(0); };
  meeting_.give_up(error.code(), error.message());
  send_outgoing(lock);
  changed_.wait_for(lock, kTimeOfTheWayUp, [&] { return is_over() || !lost_.empty(); });
  meeting_.give_up_directly(error.code(), error.message());
  send_outgoing(lock);
  changed_.wait_for(lock, kAnswerTime, is_over);
  meeting_.be_unsure(error.code(), error.message());
  send_outgoing(lock);
}

void MessageRendezvous::throw_given_up(Lock& lock) {
  const Verdict& verdict = meeting_.verdict();
  if (tells_of_an_end(verdict.code)) wait_for_better_words(lock, [] { return false; });
  throw_if_aborted(abort_);
  throw Error("collective call", verdict.code,
              why_none_succeeds(fmt::format("PE {} gave up, {}", verdict.by, why_given_up())));
}

// Throws what the job is aborted for, if that is told before `done()`, and in time.
void MessageRendezvous::wait_for_better_words(Lock& lock, const std::function<bool()>& done) {
  if (!better_words_by_) better_words_by_ = std::chrono::steady_clock::now() + kTimeOfBetterWords;
  while (!done() && std::chrono::steady_clock::now() < *better_words_by_) {
    throw_if_aborted(abort_);
    throw_if_some_dead(abort_);
    changed_.wait_for(lock, kLookAtAbortEvery);
  }
}

// Not under mutex_: a messenger has locks of its own, and tells of what comes.
void MessageRendezvous::send_outgoing(Lock& lock) {
  lock.unlock();
  {
    const std::lock_guard one(one_sender_);
    lock.lock();
    const auto messages = meeting_.take_outgoing();
    lock.unlock();
    for (const Meeting::Outgoing& message : messages) {
      try {
        messenger_->send(message.to, message.content);
      } catch (const Error& error) {
        on_lost(message.to, error.message());
      }
    }
  }
  lock.lock();
}

void MessageRendezvous::on_message(int from, std::span<const std::byte> message) {
  Lock lock(mutex_);
  const bool was_broken = meeting_.is_broken();
  meeting_.receive(from, message);
  if (!was_broken && meeting_.is_late()) tell_of_being_late();
  if (!was_broken && meeting_.is_broken()) end_barriers();
  if (meeting_.awaited()) give_up_if_in_a_barrier();
  send_outgoing(lock);
  if (meeting_.is_settled()) changed_.notify_all();
}

// Who gives up may not know which of many PEs it was.
void MessageRendezvous::tell_of_being_late() const {
  const Verdict& verdict = meeting_.verdict();
  if (verdict.code != CHIMEX_ERR_TIMEOUT) return;
  log(LogLevel::kWarn, messenger_->my_pe(), "has not come to what PE {} gave up, {}", verdict.by,
      verdict.why);
}

// A PE that stands in a barrier waits for this one, unless a kernel of this PE may still come to
// it.
void MessageRendezvous::ask_if_late(Lock& lock) {
  const auto now = Elsewhere::Clock::now();
  if (now < next_ask_) return;
  next_ask_ = now + kLookForBarriersEvery;
  if (beside_.kernels_run()) return;
  meeting_.ask();
  send_outgoing(lock);
}

// Others ask again and again while they wait.
void MessageRendezvous::give_up_if_in_a_barrier() {
  const std::uint64_t barrier = beside_.barrier();
  const int me = messenger_->my_pe();
  if (!elsewhere_.look(me, barrier, Elsewhere::Clock::now())) return;
  const Ask& ask = *meeting_.awaited();
  meeting_.give_up_awaited(CHIMEX_ERR_MISMATCH, why_different(FewPes(ask.by), ask.what, FewPes(me),
                                                              spoken(name_of_barrier(barrier))));
}

// Barriers do not hear of verdicts.
void MessageRendezvous::end_barriers() {
  const Verdict& verdict = meeting_.verdict();
  if (verdict.code == CHIMEX_ERR_MISMATCH)
    raise_abort(abort_, {verdict.code, -1, Path::kNone, verdict.why, 1});
}

std::string MessageRendezvous::why_given_up() const {
  const Verdict& verdict = meeting_.verdict();
  if (verdict.code != CHIMEX_ERR_TIMEOUT || verdict.absent < 0) return verdict.why;
  const bool is_one_of_many = count_below(verdict.absent, messenger_->n_pes()) > 0;
  return fmt::format("{}; PE {}{} has not", verdict.why, verdict.absent,
                     is_one_of_many ? ", or one that meets others by way of it," : "");
}

void MessageRendezvous::on_lost(int pe, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    lost_.try_emplace(pe, why);
  }
  changed_.notify_all();
}

}  // namespace chime::host
