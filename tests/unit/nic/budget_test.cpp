// What an operation may cost: memory operations counted one by one on an idle queue pair.
#include <gtest/gtest.h>

#include "chime/device/path/nic/rma.cuh"
#include "chime/device/path/nic/signal.cuh"
#include "chime/device/path/nic/sync.cuh"
#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

using simt::Operation;

struct Cost {
  unsigned atomics = 0, fences = 0, stores_16 = 0, records = 0, doorbells = 0;
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.atomics << " atomics, " << cost.fences << " fences, " << cost.stores_16
             << " stores of 16 bytes, " << cost.records << " record stores, " << cost.doorbells
             << " doorbells";
}

// Of `body` by `threads` threads on the queue to PE 1, which has been used before.
Cost cost_of(NicJob& job, unsigned threads, const std::function<void()>& body) {
  run_threads(1, [&] {
    nic::p(job.domain(), job.data<std::uint64_t>(0), std::uint64_t{1}, 1);
    nic::quiet(job.domain());
  });
  Cost cost;
  const abi::NicQueue& queue = job.nic.queue(1);
  {
    const WatchOperations watch([&](Operation operation, const void* address, std::size_t) {
      cost.atomics += operation == Operation::kAtomic;
      cost.fences += operation == Operation::kFence;
      cost.stores_16 += operation == Operation::kStore16;
      cost.records += operation == Operation::kStore && address == queue.record;
      cost.doorbells += operation == Operation::kMmioStore && address == queue.doorbell;
    });
    run_threads(threads, body);
  }
  return cost;
}

NicPlan shared_by(abi::NicSharing sharing) {
  NicPlan plan;
  plan.sharing = sharing;
  return plan;
}

TEST(Budget, APutOfEightBytesOnABlocksQueue) {
  NicJob job(2, shared_by(abi::NicSharing::kBlock));
  const Cost cost = cost_of(
      job, 1, [&] { nic::p(job.domain(), job.data<std::uint64_t>(0), std::uint64_t{2}, 1); });
  EXPECT_EQ(cost, (Cost{1, 2, 3, 1, 1}));
}

TEST(Budget, APutOfEightBytesOnAnExclusiveQueue) {
  NicJob job(2, shared_by(abi::NicSharing::kExclusive));
  const Cost cost = cost_of(
      job, 1, [&] { nic::p(job.domain(), job.data<std::uint64_t>(0), std::uint64_t{2}, 1); });
  EXPECT_EQ(cost, (Cost{0, 2, 3, 1, 1}));
}

TEST(Budget, APutOfRegisteredMemory) {
  NicJob job(2, shared_by(abi::NicSharing::kBlock));
  const Cost cost = cost_of(job, 1, [&] {
    nic::put<8>(job.domain(), Thread{}, job.data<std::byte>(0, 4096), job.data<std::byte>(0), 1024,
                1, nic::Until::kPosted);
  });
  EXPECT_EQ(cost, (Cost{1, 2, 3, 1, 1}));
}

TEST(Budget, PutSignalIsOneSubmission) {
  NicJob job(2, shared_by(abi::NicSharing::kBlock));
  const Cost cost = cost_of(job, 1, [&] {
    nic::put_signal<8>(job.domain(), Thread{}, job.data<std::byte>(0, 4096), job.data<std::byte>(0),
                       1024,
                       nic::signal_update(job.domain(), job.data<std::uint64_t>(0, 8), 1, false, 1),
                       1, nic::Until::kPosted);
  });
  EXPECT_EQ(cost, (Cost{1, 2, 6, 1, 1}));
}

// Else the NIC would read what is not there: (a) and (c) of device/path/README.md.
TEST(Budget, RequestFenceRecordFenceDoorbellInThisOrder) {
  NicJob job(2, shared_by(abi::NicSharing::kBlock));
  const abi::NicQueue& queue = job.nic.queue(1);
  const auto put = [&] { nic::p(job.domain(), job.data<std::uint64_t>(0), std::uint64_t{2}, 1); };
  run_threads(1, put);  // the first post of a queue fences once more
  std::string order;
  {
    const WatchOperations watch([&](Operation operation, const void* address, std::size_t) {
      if (operation == Operation::kStore16) order += 'w';
      if (operation == Operation::kFence) order += 'f';
      if (operation == Operation::kStore && address == queue.record) order += 'r';
      if (operation == Operation::kMmioStore && address == queue.doorbell) order += 'd';
    });
    run_threads(1, put);
  }
  EXPECT_EQ(order, "wwwfrfd");
}

// 32 puts, one reservation, one doorbell; and one completion, of 33 requests with the first one.
TEST(Budget, AWarpOfPuts) {
  NicJob job(2, shared_by(abi::NicSharing::kGpu));
  const Cost cost = cost_of(job, 32, [&] {
    nic::p(job.domain(), job.data<std::uint64_t>(0) + exec::lane_id(), std::uint64_t{2}, 1);
  });
  EXPECT_EQ(cost, (Cost{1, 2, 3 * 32, 1, 1}));
  nic::quiet(job.domain());
  EXPECT_EQ(job.nic.counts(1).requests, 33u);
  EXPECT_EQ(job.nic.counts(1).completions, 2u);
}

}  // namespace
}  // namespace chime::tests
