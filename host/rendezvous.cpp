#include "host/rendezvous.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <span>

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

// All PEs see each other's control page: post mine, read theirs.
class MappedRendezvous final : public Rendezvous {
 public:
  MappedRendezvous(const P2pTransport& p2p, int my_pe, int n_pes, std::uint64_t timeout_ns)
      : p2p_(p2p), my_pe_(my_pe), n_pes_(n_pes), timeout_ns_(timeout_ns) {}

  void meet(const CollectiveCall& call) override {
    ++sequence_;
    post(call);
    for (int pe = 0; pe < n_pes_; ++pe) wait_for(pe, call);
    // Everyone compares with PE 0, so that everyone finds the same difference, or none.
    for (int pe = 1; pe < n_pes_; ++pe) check_same(0, read(0), pe, read(pe));
  }

 private:
  CollectiveSlot& slot(int pe) const { return control(pe).collective[sequence_ % 2]; }
  ControlBlock& control(int pe) const { return *reinterpret_cast<ControlBlock*>(p2p_.control(pe)); }

  void post(const CollectiveCall& call) {
    CollectiveSlot& mine = slot(my_pe_);
    mine.kind = static_cast<std::uint64_t>(call.kind);
    mine.first = call.first;
    mine.second = call.second;
    // Publishes the call, and all that this PE did before: pairs with the acquire in wait_for.
    std::atomic_ref(mine.sequence).store(sequence_, std::memory_order_release);
  }

  void wait_for(int pe, const CollectiveCall& call) {
    std::atomic_ref theirs(slot(pe).sequence);
    wait_until([&] { return theirs.load(std::memory_order_acquire) == sequence_; },
               control(my_pe_).abort, timeout_ns_,
               [&] { return fmt::format("PE {} to call {}", pe, describe(call)); });
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

// Some PE is not mapped: cards and barriers of the launcher. Slow, and only set-up needs it.
class BootstrapRendezvous final : public Rendezvous {
 public:
  BootstrapRendezvous(bootstrap::Bootstrap& bootstrap, std::uint64_t timeout_ns)
      : bootstrap_(bootstrap), timeout_ns_(timeout_ns) {}

  void meet(const CollectiveCall& call) override {
    bootstrap::Deadline deadline = next_deadline();
    std::string key = fmt::format("chime.call.{}", ++sequence_);
    bootstrap_.publish(key, std::as_bytes(std::span(&call, 1)));
    bootstrap_.barrier(deadline);
    CollectiveCall first = read(0, key, deadline);
    for (int pe = 1; pe < bootstrap_.size(); ++pe)
      check_same(0, first, pe, read(pe, key, deadline));
  }

 private:
  bootstrap::Deadline next_deadline() const {
    auto bound = timeout_ns_ ? std::chrono::nanoseconds(timeout_ns_) : std::chrono::hours(24 * 365);
    return std::chrono::steady_clock::now() + bound;
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

  bootstrap::Bootstrap& bootstrap_;
  std::uint64_t timeout_ns_;
  std::uint64_t sequence_ = 0;
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
