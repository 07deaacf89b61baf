// A job with channels of any kind: queue pairs of a NIC and FIFOs of a proxy make kernels the same
// promises, so that one test covers all. tests/unit/nic and proxy test the properties of one kind.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "nic_job.hpp"
#include "proxy_job.hpp"

namespace chime::tests {

enum class Kind {
  kCollapsed,  // a NIC, by its form of completion queue
  kRing,
  kHostOrder,           // fetched words need no swap
  kUnorderedCollapsed,  // writes pass each other
  kUnorderedRing,
  kAtOnce,  // a proxy, by how requests end (Pace)
  kLate,
  kAny
};

inline constexpr const char* kKindNames[] = {
    "Collapsed",     "Ring",   "HostOrder", "UnorderedCollapsed",
    "UnorderedRing", "AtOnce", "Late",      "Any"};

inline bool is_of_proxy(Kind kind) { return kind >= Kind::kAtOnce; }

// Where a NIC has several channels to a peer, each pauses at random, so that others overtake it.
inline NicPlan nic_plan(Kind kind, unsigned channels) {
  NicPlan plan;
  plan.slots = channels;
  plan.depth = 64;  // as a FIFO
  plan.is_lazy = channels > 1;
  if (kind == Kind::kRing || kind == Kind::kUnorderedRing) plan.mode = abi::NicCqMode::kRing;
  if (kind == Kind::kHostOrder) plan.flags = 0;
  if (kind == Kind::kUnorderedCollapsed || kind == Kind::kUnorderedRing) {
    plan.flags |= abi::kNicUnorderedWrites | abi::kNicSwapsSignals;
    plan.reorders = true;
  }
  return plan;
}

inline ProxyPlan proxy_plan(Kind kind, unsigned channels) {
  ProxyPlan plan;
  plan.fifos = channels;
  if (kind == Kind::kLate) plan.pace = Pace::kLate;
  if (kind == Kind::kAny) {
    plan.pace = Pace::kAny;
    plan.flags = abi::kProxyUnordered | abi::kProxyUnorderedAtomics;
  }
  return plan;
}

// PE 0 of `n_pes`, which reaches all of them by `channels` of one kind.
class AnyJob {
 public:
  AnyJob(Kind kind, int n_pes, unsigned channels = 1) : n_pes_(n_pes), channels_(channels) {
    if (is_of_proxy(kind)) {
      proxy_ = std::make_unique<ProxyJob>(n_pes, proxy_plan(kind, channels));
    } else {
      nic_ = std::make_unique<NicJob>(n_pes, nic_plan(kind, channels));
    }
  }

  Context& context(int pe = 0) { return job().context(pe); }
  const abi::ErrorRecord& error() { return job().error(); }
  void quiet() { channel::quiet(context()); }
  void fence() { channel::fence(context()); }
  template <class T>
  T* data(int pe = 0, std::size_t offset = 0) {
    return job().data<T>(pe, offset);
  }

  // By which kernels reach the PE, if there is one alone.
  abi::Channel& channel_to(int pe) { return nic_ ? nic_->nic.queue(pe) : proxy_->proxy.fifo(); }

  // Memory that is registered beside the heap.
  std::byte* buffer() { return nic_ ? nic_->nic.buffer() : proxy_->proxy.buffer(); }

  // Called in the stand-in's thread after every request, or step of one, that it has carried out.
  void watch(std::function<void()> look) {
    nic_ ? nic_->watch(std::move(look)) : proxy_->watch(std::move(look));
  }

  // The faults of the requests; empty if there are none.
  std::string complaints() { return nic_ ? nic_->nic.complaints() : proxy_->proxy.complaints(); }

  // The number of requests that were carried out.
  std::size_t requests() {
    if (proxy_) return proxy_->proxy.taken().size();
    std::size_t all = 0;
    for_each_queue([&](int pe, unsigned slot) { all += nic_->nic.counts(pe, slot).requests; });
    return all;
  }

  // From now on kernels take its channels for ordered ones.
  void claim_order() {
    for (unsigned number = 0; proxy_ && number < channels_; ++number)
      proxy_->proxy.fifo(number).head.flags = 0;
    for_each_queue([&](int pe, unsigned slot) {
      nic_->nic.queue(pe, slot).head.flags &=
          ~(abi::kNicUnorderedWrites | abi::kNicUnorderedData | abi::kNicSwapsSignals);
    });
  }

 private:
  FakeJob& job() { return nic_ ? nic_->job : proxy_->job; }
  template <class Each>
  void for_each_queue(const Each& each) {
    for (int pe = 0; nic_ && pe < n_pes_; ++pe)
      for (unsigned slot = 0; slot < channels_; ++slot) each(pe, slot);
  }

  const int n_pes_;
  const unsigned channels_;
  std::unique_ptr<NicJob> nic_;  // one of these two exists
  std::unique_ptr<ProxyJob> proxy_;
};

class EachKind : public testing::TestWithParam<Kind> {};
inline std::string name_of_kind(const testing::TestParamInfo<Kind>& info) {
  return kKindNames[static_cast<int>(info.param)];
}
#define IN_EACH_KIND(Suite)                                                                       \
  INSTANTIATE_TEST_SUITE_P(                                                                       \
      Each, Suite,                                                                                \
      testing::Values(Kind::kCollapsed, Kind::kRing, Kind::kHostOrder, Kind::kUnorderedCollapsed, \
                      Kind::kUnorderedRing, Kind::kAtOnce, Kind::kLate, Kind::kAny),              \
      name_of_kind)

}  // namespace chime::tests
