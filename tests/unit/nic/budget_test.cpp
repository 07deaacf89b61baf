// The allowed cost of a call: memory operations counted one by one on an idle queue pair, and the
// kinds of memory that they access. The program prints the table.
#include <gtest/gtest.h>

#include <cstdio>

#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/simt/memory/memory_kind.hpp"
#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

using simt::MemoryKind;
using simt::Operation;

// Loads of a call's inputs (its arguments, the Context) are not counted: they are in registers or
// constant memory.
struct Cost {
  unsigned atomics = 0, fences = 0, stores_16 = 0, records = 0, doorbells = 0;
  unsigned counters = 0;     // every other store
  unsigned loads = 0;        // from the device's memory
  unsigned completions = 0;  // when all is complete
  unsigned words = 0;        // stores of up to 4 bytes into a ring
  unsigned on_host = 0;      // operations of any kind on the host's memory
  unsigned elsewhere = 0;    // on memory of an unknown kind
  bool operator==(const Cost&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.atomics << " atomics, " << cost.fences << " fences, " << cost.stores_16
             << " stores of 16 bytes, " << cost.records << " records, " << cost.doorbells
             << " doorbells, " << cost.counters << " counters, " << cost.loads << " loads, "
             << cost.completions << " completions, " << cost.words << " words, " << cost.on_host
             << " on the host's memory, " << cost.elsewhere << " elsewhere";
}

constexpr int kPes = 4;

// The cost of a call by each of `threads` threads of a block, together.
struct Row {
  const char* call;
  unsigned threads;
  void (*body)(NicJob&);
  Cost cost;
  std::uint32_t flags = 0;  // of the queue
};

template <class Word, unsigned kStride>
void put_words(NicJob& job) {
  p(job.context(), job.data<Word>(0) + kStride * exec::lane_id(), Word{2}, 1);
}
void put_8(NicJob& job, int pe) {
  p(job.context(), job.data<std::uint64_t>(0) + exec::lane_id(), 2, pe);
}
void put_8_to_1(NicJob& job) { put_8(job, 1); }
void put_8_to_two_peers(NicJob& job) { put_8(job, exec::lane_id() % 3 == 0 ? 1 : 2); }
void put_1024(NicJob& job) {
  put_nbi(job.context(), Thread{}, job.data<std::uint64_t>(0, 4096), job.data<std::uint64_t>(0),
          128, 1);
}
// The host's table is read there; the host changes it while kernels run.
void put_of_buffer(NicJob& job) {
  put_nbi(job.context(), Thread{}, job.data<std::byte>(0, 4096), job.nic.buffer(), 1024, 1);
}
void put_signal_1024(NicJob& job) {
  put_signal_nbi(job.context(), Thread{}, job.data<std::uint64_t>(0, 4096),
                 job.data<std::uint64_t>(0), 128,
                 SignalUpdate{job.data<std::uint64_t>(0, 8), 1, SignalOp::kSet}, 1);
}
// For queues whose requests are known to be complete.
void quiet(NicJob& job) { job.quiet(); }
void add(NicJob& job) { atomic_add(job.context(), job.data<std::uint64_t>(0), 1, 1); }

constexpr auto kPut8Apart = put_words<std::uint64_t, 2>;
constexpr auto kPut8 = put_words<std::uint64_t, 1>, kPut4 = put_words<std::uint32_t, 1>;
constexpr auto kPut1 = put_words<std::uint8_t, 1>;

const Row kRows[] = {
    {"put of 8 bytes", 1, put_8_to_1, {1, 2, 3, 1, 1, 1, 8, 1}},
    {"put of 1024 registered bytes", 1, put_1024, {1, 2, 3, 1, 1, 1, 8, 1}},
    {"the same of a buffer", 1, put_of_buffer, {1, 2, 3, 1, 1, 1, 8, 1, 0, 8}},
    {"put_signal of 1024 bytes", 1, put_signal_1024, {1, 2, 6, 1, 1, 1, 10, 1}},
    {"the same, writes in any order",
     1,
     put_signal_1024,
     {1, 2, 8, 1, 1, 1, 10, 1},
     abi::kNicUnorderedWrites | abi::kNicSwapsSignals},
    {"atomic add", 1, add, {1, 2, 4, 1, 1, 1, 8, 1}},
    {"quiet of 3 complete queues", 1, quiet, {0, 3, 0, 0, 0, 0, 10, 0}},
    {"8 bytes by each lane, apart", 5, kPut8Apart, {1, 2, 3 * 5, 1, 1, 1, 32, 1}},
    {"8 bytes by each lane, apart", 31, kPut8Apart, {1, 2, 3 * 31, 1, 1, 1, 187, 1}},
    {"8 bytes by each lane, apart", 32, kPut8Apart, {1, 2, 3 * 32, 1, 1, 1, 193, 1}},
    {"the same to two peers", 32, put_8_to_two_peers, {2, 4, 3 * 32, 2, 2, 2, 196, 2}},
    {"8 bytes by each lane, joined", 2, kPut8, {1, 2, 2, 1, 1, 1, 13, 1, 1 + 2 * 2}},
    {"8 bytes by each lane, joined", 32, kPut8, {1, 2, 2, 1, 1, 1, 163, 1, 1 + 2 * 32}},
    {"4 bytes by each lane, joined", 32, kPut4, {1, 2, 2, 1, 1, 1, 163, 1, 1 + 32}},
    {"1 byte by each lane, joined", 32, kPut1, {1, 2, 2, 1, 1, 1, 163, 1, 1 + 32}},
};

NicPlan with_flags(std::uint32_t flags) {
  NicPlan plan;
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

bool is_in_ring(NicJob& job, const void* address) {
  const abi::ChannelHead& head = job.nic.queue(1).head;
  const auto from_ring = static_cast<const std::byte*>(address) - head.ring;
  return from_ring >= 0 && from_ring < std::ptrdiff_t{64} * head.depth;
}

// On queues that were used before: the first post of each costs more.
Cost cost_of(const Row& row) {
  NicJob job(kPes, with_flags(row.flags));
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
        ++(is_record(job, address)    ? cost.records
           : is_in_ring(job, address) ? cost.words
                                      : cost.counters);
      cost.doorbells += operation == Operation::kMmioStore;
      if (operation == Operation::kFence) return;
      const MemoryKind kind = simt::kind_of_memory(address);
      cost.loads += operation == Operation::kLoad && kind == MemoryKind::kDevice;
      cost.on_host += kind == MemoryKind::kHost;
      cost.elsewhere += kind == MemoryKind::kOther;
    });
    run_threads(row.threads, [&] { row.body(job); });
  }
  job.quiet();
  cost.completions = completions(job) - completions_before;
  return cost;
}

// Also prints the table, for readers of device/channel/README.md.
TEST(Budget, CallsCostWhatTheTableSays) {
  std::printf("%-30s%8s%9s%8s%12s%7s%9s%10s%9s%7s%13s%9s\n", "call", "threads", "atomics", "fences",
              "16 B stores", "words", "records", "doorbells", "counters", "loads", "completions",
              "on host");
  for (const Row& row : kRows) {
    const Cost cost = cost_of(row);
    std::printf("%-30s%8u%9u%8u%12u%7u%9u%10u%9u%7u%13u%9u\n", row.call, row.threads, cost.atomics,
                cost.fences, cost.stores_16, cost.words, cost.records, cost.doorbells,
                cost.counters, cost.loads, cost.completions, cost.on_host);
    EXPECT_EQ(cost, row.cost) << row.call << ", " << row.threads << " threads";
  }
}

// Otherwise the NIC would read old memory: (a) and (c) of device/channel/README.md.
TEST(Budget, RequestFenceRecordFenceDoorbellInThisOrder) {
  NicJob job(2);
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
