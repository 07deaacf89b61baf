#include "host/collective/mapped_rendezvous.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "host/collective/tree.hpp"
#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/errors/wait.hpp"
#include "host/peers/control.hpp"
#include "host/peers/shared_word.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

// Every PE posts its call and is counted in a tree; a call is settled by one compare-and-swap on PE
// 0's verdict: to "met" by whoever makes the tree's last counter full, or to "given up" by whoever
// stops waiting. So all PEs leave a call in the same way, also where the last comes at the moment
// at which another's time is over.
class MappedRendezvous final : public Rendezvous {
 public:
  MappedRendezvous(const PeerTable& peers, std::uint64_t timeout_ns, const Beside& beside)
      : my_pe_(peers.my_pe()), n_pes_(peers.n_pes()), timeout_ns_(timeout_ns), beside_(beside) {
    for (int pe = 0; pe < n_pes_; ++pe) controls_.push_back(peers.control(pe));
  }

  void meet(const CollectiveCall& call) override {
    throw_if_given_up();
    ++sequence_;
    post(call);
    count_me();
    try {
      wait_until_settled(call);
    } catch (const Error& error) {
      if (give_up(error)) throw;
    }
    if (!has_met()) throw_if_given_up();
    if (differs().load(std::memory_order_relaxed) == sequence_) throw_difference();
  }

 private:
  static constexpr int kPeBits = 24;

  CollectiveSlot& slot(int pe) const { return control(pe).collective[sequence_ % 2]; }
  ControlBlock& control(int pe) const { return *controls_[static_cast<std::size_t>(pe)]; }

  void post(const CollectiveCall& call) {
    CollectiveSlot& mine = slot(my_pe_);
    mine.kind = static_cast<std::uint64_t>(call.kind);
    mine.first = call.first;
    mine.second = call.second;
    mine.place = call.place;
    // For has_posted alone; to who reads the call count_me hands it on.
    std::atomic_ref(mine.sequence).store(sequence_, std::memory_order_release);
  }

  bool has_posted(int pe) const {
    return std::atomic_ref(slot(pe).sequence).load(std::memory_order_acquire) == sequence_;
  }

  // Once a call for each PE, and once more for each full counter below it.
  void count_me() {
    int at = my_pe_;
    while (is_full(at)) {
      compare_below(at);
      if (at == 0) {
        settle(0);
        return;
      }
      at = pe_above(at);
    }
  }

  // Whether one more makes it full. Release: hands on this PE's call, and all that was handed to
  // it; acquire: who makes it full has the calls of all that were counted.
  bool is_full(int at) {
    const auto share = static_cast<std::uint64_t>(1 + count_below(at, n_pes_));
    return std::atomic_ref(control(at).come).fetch_add(1, std::memory_order_acq_rel) + 1 ==
           sequence_ * share;
  }

  void compare_below(int at) {
    for_each_below(at, n_pes_, [&](int pe) {
      // Relaxed: the next counter, or the verdict, hands it on.
      if (read(pe) != read(at)) differs().store(sequence_, std::memory_order_relaxed);
    });
  }

  // By another PE, or by this one if it was the last.
  void wait_until_settled(const CollectiveCall& call) {
    const std::uint64_t open = met(sequence_ - 1);
    elsewhere_ = {};
    auto next_look = Elsewhere::Clock::now() + kLookForBarriersEvery;
    const auto is_settled = [&] {
      if (verdict() != open) return true;
      throw_if_some_dead(control(my_pe_).abort);
      end_if_some_stand_in_a_barrier(call, next_look);
      return false;
    };
    const auto sleep = [&](std::chrono::nanoseconds at_most) {
      verdict_word().sleep_while(open, at_most);
    };
    wait_until(is_settled, sleep, control(my_pe_).abort, timeout_ns_,
               [&] { return fmt::format("{} to call {}", who_is_absent(), describe(call)); });
  }

  // This PE is in a collective call, so it has left each barrier that it began. A PE that stands in
  // one of those does not run for now, and leaves it when it does.
  std::uint64_t barriers_left() const {
    return std::atomic_ref(control(my_pe_).barriers).load(std::memory_order_relaxed);
  }

  // Then no PE gets out of where it is: the job is aborted, which ends all their waits.
  void end_if_some_stand_in_a_barrier(const CollectiveCall& call,
                                      Elsewhere::Clock::time_point& next_look) {
    const auto now = Elsewhere::Clock::now();
    if (now < next_look) return;
    next_look = now + kLookForBarriersEvery;
    if (beside_.kernels_run()) {
      elsewhere_ = {};
      return;
    }
    FewPes here, there;
    const char* barrier = nullptr;
    for (int pe = 0; pe < n_pes_; ++pe) {
      const std::uint64_t word =
          std::atomic_ref(control(pe).in_barrier).load(std::memory_order_relaxed);
      if (has_posted(pe)) {
        here.add(FewPes(pe));
      } else if (number_of_barrier(word) > barriers_left() && elsewhere_.look(pe, word, now)) {
        if (there.empty()) barrier = name_of_barrier(word);
        there.add(FewPes(pe));
      }
    }
    if (there.empty()) return;
    const AbortCause cause{CHIMEX_ERR_MISMATCH, -1, Path::kNone,
                           why_different(here, call, there, spoken(barrier)), 1};
    for (ControlBlock* const each : controls_) raise_abort(each->abort, cause);
  }

  // One that has posted its call may be stopped before it has counted itself, or a counter that it
  // made full.
  std::string who_is_absent() const {
    for (int pe = 0; pe < n_pes_; ++pe)
      if (!has_posted(pe)) return fmt::format("PE {}", pe);
    return "a PE that has come, and does not run,";
  }

  // This PE stops waiting. False: somebody has settled the call before.
  bool give_up(const Error& error) {
    char(&why)[sizeof(VerdictWords::why_given_up)] = control(my_pe_).verdict.why_given_up;
    *fmt::format_to_n(why, sizeof(why) - 1, "{}", error.message()).out = '\0';
    return settle(static_cast<std::uint64_t>(my_pe_) + 1);
  }

  // Hands on the calls of all PEs, or why this one gave up, and wakes those that sleep.
  bool settle(std::uint64_t how) {
    return verdict_word().replace(met(sequence_ - 1), met(sequence_) | how);
  }

  // Whether the call that this PE is in has met. It has, too, where a later one is settled already,
  // and be it given up: others have gone on while this PE did not look.
  bool has_met() const {
    const std::uint64_t word = verdict();
    return word == met(sequence_) || word >> kPeBits > sequence_;
  }

  static std::uint64_t met(std::uint64_t sequence) { return sequence << kPeBits; }
  SharedWord verdict_word() const {
    VerdictWords& words = control(0).verdict;
    return {words.word, words.sleepers};
  }
  std::uint64_t verdict() const { return verdict_word().load(); }

  void throw_if_given_up() const {
    const auto by = static_cast<int>(verdict() & ((1u << kPeBits) - 1)) - 1;
    if (by < 0) return;
    // If it gave up because the job is aborted, then this PE is on its way to hear of it.
    if (const auto cause = abort_cause(control(by).abort))
      raise_abort(control(my_pe_).abort, *cause);
    throw_if_aborted(control(my_pe_).abort);
    throw_if_some_dead(control(by).abort);  // likewise
    throw Error(
        "collective call", CHIMEX_ERR_TIMEOUT,
        why_none_succeeds(fmt::format("PE {} gave up, {}", by, control(by).verdict.why_given_up)));
  }

  std::atomic_ref<std::uint64_t> differs() const {
    return std::atomic_ref(control(0).verdict.differs[sequence_ % 2]);
  }

  // Everyone compares with PE 0, so that everyone finds the same difference.
  void throw_difference() const {
    CollectiveCalls calls = CollectiveCalls::of(read(0), 0);
    for (int pe = 1; pe < n_pes_; ++pe) calls.add(CollectiveCalls::of(read(pe), pe));
    check_same(calls);
  }

  CollectiveCall read(int pe) const {
    const CollectiveSlot& posted = slot(pe);
    return {static_cast<CollectiveCall::Kind>(posted.kind), posted.first, posted.second,
            posted.place};
  }

  std::vector<ControlBlock*> controls_;  // [pe]
  int my_pe_;
  int n_pes_;
  std::uint64_t timeout_ns_;
  Beside beside_;
  Elsewhere elsewhere_;
  std::uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Rendezvous> make_mapped_rendezvous(const PeerTable& peers, std::uint64_t timeout_ns,
                                                   const Beside& beside) {
  return std::make_unique<MappedRendezvous>(peers, timeout_ns, beside);
}

}  // namespace chime::host
