#include "host/rendezvous.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <span>

#include "host/abort.hpp"
#include "host/error.hpp"
#include "host/wait.hpp"

namespace chime::host {
namespace {

void check_same(int pe, const CollectiveCall& its, int other_pe, const CollectiveCall& others) {
  if (its == others) return;
  throw Error(
      "collective call", CHIMEX_ERR_MISMATCH,
      fmt::format("PE {} called {} but PE {} called {}; all PEs must make the same calls in the "
                  "same order",
                  pe, describe(its), other_pe, describe(others)));
}

// Why calls fail that come after one that has not met.
std::string why_none_succeeds(const std::string& first_failure) {
  return "no collective call succeeds any more, because one has failed: " + first_failure;
}

// All PEs see each other's control page: post mine, read theirs.
//
// A call is settled by one compare-and-swap on PE 0's verdict: to "met" by whoever sees that all
// have posted it, or to "given up" by whoever stops waiting. So all PEs leave a call in the same
// way, also where the last comes at the moment at which another's time is over.
class MappedRendezvous final : public Rendezvous {
 public:
  MappedRendezvous(const P2pTransport& p2p, int my_pe, int n_pes, std::uint64_t timeout_ns)
      : p2p_(p2p), my_pe_(my_pe), n_pes_(n_pes), timeout_ns_(timeout_ns) {}

  void meet(const CollectiveCall& call) override {
    throw_if_given_up();
    ++sequence_;
    post(call);
    try {
      wait_until_settled(call);
    } catch (const Error& error) {
      if (give_up(error)) throw;
    }
    if (!has_met()) throw_if_given_up();
    // Everyone compares with PE 0, so that everyone finds the same difference, or none.
    for (int pe = 1; pe < n_pes_; ++pe) check_same(0, read(0), pe, read(pe));
  }

 private:
  static constexpr int kPeBits = 24;

  CollectiveSlot& slot(int pe) const { return control(pe).collective[sequence_ % 2]; }
  ControlBlock& control(int pe) const { return *reinterpret_cast<ControlBlock*>(p2p_.control(pe)); }

  void post(const CollectiveCall& call) {
    CollectiveSlot& mine = slot(my_pe_);
    mine.kind = static_cast<std::uint64_t>(call.kind);
    mine.first = call.first;
    mine.second = call.second;
    // Publishes the call, and all that this PE did before: pairs with the acquire in has_posted.
    std::atomic_ref(mine.sequence).store(sequence_, std::memory_order_release);
  }

  bool has_posted(int pe) const {
    return std::atomic_ref(slot(pe).sequence).load(std::memory_order_acquire) == sequence_;
  }

  // By another PE, or by this one once it sees that all have come.
  void wait_until_settled(const CollectiveCall& call) {
    int awaited = 0;
    const auto settle_if_all_have_come = [&] {
      while (awaited < n_pes_ && has_posted(awaited)) ++awaited;
      if (awaited == n_pes_) settle(0);
      return verdict() != met(sequence_ - 1);
    };
    wait_until(settle_if_all_have_come, control(my_pe_).abort, timeout_ns_,
               [&] { return fmt::format("PE {} to call {}", awaited, describe(call)); });
  }

  // This PE stops waiting. False: somebody has settled the call before.
  bool give_up(const Error& error) {
    char(&why)[sizeof(Verdict::why_given_up)] = control(my_pe_).verdict.why_given_up;
    *fmt::format_to_n(why, sizeof(why) - 1, "{}", error.message()).out = '\0';
    return settle(static_cast<std::uint64_t>(my_pe_) + 1);
  }

  // Release: hands on the calls of all PEs, or why this one gave up; pairs with the acquire in
  // verdict().
  bool settle(std::uint64_t how) {
    std::uint64_t open = met(sequence_ - 1);
    return std::atomic_ref(control(0).verdict.word)
        .compare_exchange_strong(open, met(sequence_) | how, std::memory_order_acq_rel);
  }

  // Whether the call that this PE is in has met. It has, too, where a later one is settled already,
  // and be it given up: others have gone on while this PE did not look.
  bool has_met() const {
    const std::uint64_t word = verdict();
    return word == met(sequence_) || word >> kPeBits > sequence_;
  }

  static std::uint64_t met(std::uint64_t sequence) { return sequence << kPeBits; }
  std::uint64_t verdict() const {
    return std::atomic_ref(control(0).verdict.word).load(std::memory_order_acquire);
  }

  void throw_if_given_up() const {
    const auto by = static_cast<int>(verdict() & ((1u << kPeBits) - 1)) - 1;
    if (by < 0) return;
    // If it gave up because the job is aborted, then this PE is on its way to hear of it.
    if (const auto cause = abort_cause(control(by).abort))
      raise_abort(control(my_pe_).abort, *cause);
    throw_if_aborted(control(my_pe_).abort);
    throw Error(
        "collective call", CHIMEX_ERR_TIMEOUT,
        why_none_succeeds(fmt::format("PE {} gave up, {}", by, control(by).verdict.why_given_up)));
  }

  CollectiveCall read(int pe) const {
    const CollectiveSlot& posted = slot(pe);
    return {static_cast<CollectiveCall::Kind>(posted.kind), posted.first, posted.second};
  }

  const P2pTransport& p2p_;
  int my_pe_;
  int n_pes_;
  std::uint64_t timeout_ns_;
  std::uint64_t sequence_ = 0;
};

// Some PE is not mapped: cards and barriers of the launcher. Slow, and only set-up needs it. All
// PEs leave a barrier in the same way (bootstrap.hpp), and with it the call.
class BootstrapRendezvous final : public Rendezvous {
 public:
  BootstrapRendezvous(bootstrap::Bootstrap& bootstrap, std::uint64_t timeout_ns)
      : bootstrap_(bootstrap), timeout_ns_(timeout_ns) {}

  void meet(const CollectiveCall& call) override {
    if (failed_) throw *failed_;
    const std::string key = fmt::format("chime.call.{}", ++sequence_);
    try {
      bootstrap_.publish(key, std::as_bytes(std::span(&call, 1)));
      bootstrap_.barrier(next_deadline());
      compare(key);
    } catch (const bootstrap::BootstrapError& error) {
      const std::string why =
          fmt::format("{}: {}{}", describe(call), error.what(), list_missing(key));
      failed_.emplace("collective call", error.code(), why_none_succeeds(why));
      throw Error("", error.code(), why);
    }
  }

 private:
  bootstrap::Deadline next_deadline() const {
    auto bound = timeout_ns_ ? std::chrono::nanoseconds(timeout_ns_) : std::chrono::hours(24 * 365);
    return std::chrono::steady_clock::now() + bound;
  }

  // With time of its own: the call has met, and each of its cards is there.
  void compare(const std::string& key) {
    const bootstrap::Deadline deadline = next_deadline();
    const CollectiveCall first = read(0, key, deadline);
    for (int pe = 1; pe < bootstrap_.size(); ++pe)
      check_same(0, first, pe, read(pe, key, deadline));
  }

  CollectiveCall read(int pe, const std::string& key, bootstrap::Deadline deadline) {
    bootstrap::Bytes bytes = bootstrap_.lookup(pe, key, deadline);
    CollectiveCall call{};
    if (bytes.size() != sizeof(call))
      throw Error("collective call", CHIMEX_ERR_MISMATCH,
                  fmt::format("PE {} runs another version of Chime", pe));
    std::memcpy(&call, bytes.data(), sizeof(call));
    return call;
  }

  // "; PE 2 has not called it": the first that has left no card.
  std::string list_missing(const std::string& key) {
    int pe = 0;
    try {
      for (; pe < bootstrap_.size(); ++pe)
        bootstrap_.lookup(pe, key, std::chrono::steady_clock::now());
      return "";
    } catch (const bootstrap::BootstrapError&) {
      return fmt::format("; PE {} has not called it", pe);
    }
  }

  bootstrap::Bootstrap& bootstrap_;
  std::uint64_t timeout_ns_;
  std::uint64_t sequence_ = 0;
  std::optional<Error> failed_;  // what every call throws after one that has not met
};

bool all_mapped(const P2pTransport& p2p, int n_pes) {
  for (int pe = 0; pe < n_pes; ++pe)
    if (!p2p.reaches(pe)) return false;
  return true;
}

}  // namespace

std::string describe(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveCall::Kind::kMalloc:
      return fmt::format("chime_malloc({})", call.first);
    case CollectiveCall::Kind::kCalloc:
      return fmt::format("chime_calloc of {} bytes", call.first);
    case CollectiveCall::Kind::kAlign:
      return fmt::format("chime_align({}, {})", call.second, call.first);
    case CollectiveCall::Kind::kFree:
      return fmt::format("chime_free(heap + {})", call.first);
    case CollectiveCall::Kind::kBarrier:
      return "chime_barrier_all or chime_sync_all";
    case CollectiveCall::Kind::kFinalize:
      return "chime_finalize()";
  }
  return "another version's call";
}

std::unique_ptr<Rendezvous> make_rendezvous(bootstrap::Bootstrap& bootstrap,
                                            const P2pTransport& p2p, std::uint64_t timeout_ns) {
  if (all_mapped(p2p, bootstrap.size()))
    return std::make_unique<MappedRendezvous>(p2p, bootstrap.rank(), bootstrap.size(), timeout_ns);
  return std::make_unique<BootstrapRendezvous>(bootstrap, timeout_ns);
}

}  // namespace chime::host
