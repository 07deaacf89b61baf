// What a call may cost: memory operations counted one by one on an idle queue pair. The program
// prints the table.
#include <gtest/gtest.h>

#include <cstdio>

#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

using simt::Operation;

struct Cost {
  unsigned atomics = 0, fences = 0, stores_16 = 0, records = 0, doorbells = 0;
  unsigned counters = 0;     // every other store
  unsigned completions = 0;  // when all is complete
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.atomics << " atomics, " << cost.fences << " fences, " << cost.stores_16
             << " stores of 16 bytes, " << cost.records << " records, " << cost.doorbells
             << " doorbells, " << cost.counters << " counters, " << cost.completions
             << " completions";
}

constexpr int kPes = 4;

// What `threads` threads of a block pay for a call each, together.
struct Row {
  const char* call;
  const char* queue;
  abi::Sharing sharing;
  unsigned threads;
  void (*body)(NicJob&);
  Cost cost;
  std::uint32_t flags = 0;  // of the queue
};

void put_8(NicJob& job, int pe) {
  job.to(pe).p(job.data<std::uint64_t>(0) + exec::lane_id(), std::uint64_t{2});
}
void put_8_to_1(NicJob& job) { put_8(job, 1); }
void put_8_to_two_peers(NicJob& job) { put_8(job, exec::lane_id() % 3 == 0 ? 1 : 2); }
void put_1024(NicJob& job) {
  job.to(1).put<8>(Thread{},
                   {job.data<std::byte>(0, 4096), job.data<std::byte>(0), 1024, Until::kPosted});
}
void put_signal_1024(NicJob& job) {
  job.to(1).put_signal<8>(
      Thread{}, {job.data<std::byte>(0, 4096), job.data<std::byte>(0), 1024, Until::kPosted},
      SignalUpdate{job.data<std::uint64_t>(0, 8), 1, SignalOp::kSet});
}
void add(NicJob& job) {
  job.to(1).amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
}

constexpr auto kExclusive = abi::Sharing::kExclusive;
constexpr auto kBlock = abi::Sharing::kBlock;
constexpr auto kGpu = abi::Sharing::kGpu;

const Row kRows[] = {
    {"put of 8 bytes", "exclusive", kExclusive, 1, put_8_to_1, {0, 2, 3, 1, 1, 2, 1}},
    {"put of 8 bytes", "block", kBlock, 1, put_8_to_1, {1, 2, 3, 1, 1, 1, 1}},
    {"put of 8 bytes", "gpu", kGpu, 1, put_8_to_1, {1, 2, 3, 1, 1, 1, 1}},
    {"put of 1024 registered bytes", "block", kBlock, 1, put_1024, {1, 2, 3, 1, 1, 1, 1}},
    {"put_signal of 1024 bytes", "block", kBlock, 1, put_signal_1024, {1, 2, 6, 1, 1, 1, 1}},
    {"the same, writes in any order",
     "block",
     kBlock,
     1,
     put_signal_1024,
     {1, 2, 8, 1, 1, 1, 1},
     abi::kNicUnorderedWrites | abi::kNicSwapsSignals},
    {"atomic add", "block", kBlock, 1, add, {1, 2, 4, 1, 1, 1, 1}},
    {"put of 8 bytes by each lane", "gpu", kGpu, 5, put_8_to_1, {1, 2, 3 * 5, 1, 1, 1, 1}},
    {"put of 8 bytes by each lane", "gpu", kGpu, 31, put_8_to_1, {1, 2, 3 * 31, 1, 1, 1, 1}},
    {"put of 8 bytes by each lane", "gpu", kGpu, 32, put_8_to_1, {1, 2, 3 * 32, 1, 1, 1, 1}},
    {"the same to two peers", "gpu", kGpu, 32, put_8_to_two_peers, {2, 4, 3 * 32, 2, 2, 2, 2}},
};

NicPlan shared_by(abi::Sharing sharing, std::uint32_t flags = 0) {
  NicPlan plan;
  plan.sharing = sharing;
  plan.flags |= flags;
  return plan;
}

unsigned completions(NicJob& job) {
  unsigned all = 0;
  for (int pe = 1; pe < kPes; ++pe) all += job.nic.counts(pe).completions;
  return all;
}

bool is_record(NicJob& job, const void* address) {
  for (int pe = 1; pe < kPes; ++pe)
    if (address == job.nic.queue(pe).nic.bell.record) return true;
  return false;
}

// On queues that have been used before: the first post of each costs more.
Cost cost_of(const Row& row) {
  NicJob job(kPes, shared_by(row.sharing, row.flags));
  for (int pe = 1; pe < kPes; ++pe) run_threads(1, [&] { put_8(job, pe); });
  job.quiet();
  Cost cost;
  const unsigned completions_before = completions(job);
  {
    const WatchOperations watch([&](Operation operation, const void* address, std::size_t) {
      cost.atomics += operation == Operation::kAtomic;
      cost.fences += operation == Operation::kFence;
      cost.stores_16 += operation == Operation::kStore16;
      if (operation == Operation::kStore)
        ++(is_record(job, address) ? cost.records : cost.counters);
      cost.doorbells += operation == Operation::kMmioStore;
    });
    run_threads(row.threads, [&] { row.body(job); });
  }
  job.quiet();
  cost.completions = completions(job) - completions_before;
  return cost;
}

// Prints the table, too: what a reader of device/channel/README.md wants to see.
TEST(Budget, CallsCostWhatTheTableSays) {
  std::printf("%-30s%-11s%8s%9s%8s%12s%9s%10s%9s%13s\n", "call", "queue", "threads", "atomics",
              "fences", "16 B stores", "records", "doorbells", "counters", "completions");
  for (const Row& row : kRows) {
    const Cost cost = cost_of(row);
    std::printf("%-30s%-11s%8u%9u%8u%12u%9u%10u%9u%13u\n", row.call, row.queue, row.threads,
                cost.atomics, cost.fences, cost.stores_16, cost.records, cost.doorbells,
                cost.counters, cost.completions);
    EXPECT_EQ(cost, row.cost) << row.call << ", queue " << row.queue << ", " << row.threads
                              << " threads";
  }
}

// Else the NIC would read what is not there: (a) and (c) of device/channel/README.md.
TEST(Budget, RequestFenceRecordFenceDoorbellInThisOrder) {
  NicJob job(2, shared_by(abi::Sharing::kBlock));
  const abi::Channel& queue = job.nic.queue(1);
  const auto put = [&] { job.to(1).p(job.data<std::uint64_t>(0), std::uint64_t{2}); };
  run_threads(1, put);  // the first post of a queue fences once more
  std::string order;
  {
    const WatchOperations watch([&](Operation operation, const void* address, std::size_t) {
      if (operation == Operation::kStore16) order += 'w';
      if (operation == Operation::kFence) order += 'f';
      if (operation == Operation::kStore && address == queue.nic.bell.record) order += 'r';
      if (operation == Operation::kMmioStore && address == queue.nic.bell.doorbell) order += 'd';
    });
    run_threads(1, put);
  }
  EXPECT_EQ(order, "wwwfrfd");
}

}  // namespace
}  // namespace chime::tests
