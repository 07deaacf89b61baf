// Local memory: registered buffers that change during a lookup, staging slots that are all in use
// or given up, transfers longer than a request may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;
constexpr std::size_t kThere = 64 * 1024;  // offset at the peer

class Memory : public EachMode {};

// ---- Registered buffers -------------------------------------------------------------------------

// As the host does: fills the table that is not in use, then makes it the one in use.
void publish(abi::NicBuffers& buffers, std::vector<abi::NicBuffer> rows, abi::NicBuffer* memory) {
  std::copy(rows.begin(), rows.end(), memory);
  buffers.tables[(buffers.generation + 1) % 2] = {rows.size(), memory};
  ++buffers.generation;
}

TEST_P(Memory, ABufferIsFoundAmongMany) {
  NicJob job(2, plan());
  const abi::NicBuffer whole = job.nic.buffers().tables[0].buffers[0];
  constexpr std::size_t kPiece = 256, kPieces = 9;  // every second one is registered
  std::vector<abi::NicBuffer> rows;
  for (std::size_t i = 0; i < kPieces; ++i) {
    abi::NicBuffer row = whole;
    row.begin += 2 * i * kPiece;
    row.nic += 2 * i * kPiece;
    row.end = row.begin + kPiece;
    rows.push_back(row);
  }
  std::vector<abi::NicBuffer> memory(rows.size());
  publish(job.nic.buffers(), rows, memory.data());
  const auto is_known = [&](std::size_t first, std::size_t bytes) {
    return find_local(job.context(), job.nic.buffer() + first, bytes).is_known;
  };
  for (std::size_t i = 0; i < kPieces; ++i) {
    const std::size_t first = 2 * i * kPiece;
    EXPECT_EQ(find_local(job.context(), job.nic.buffer() + first + 3, 40).address,
              whole.nic + first + 3);
    EXPECT_TRUE(is_known(first, kPiece) && is_known(first + kPiece - 1, 1));
    EXPECT_FALSE(is_known(first, kPiece + 1)) << "more than is registered";
    EXPECT_FALSE(is_known(first + kPiece, 1)) << "between two";
  }
  EXPECT_FALSE(find_local(job.context(), job.nic.buffer() - 1, 1).is_known);
}

// Two registrations come while the buffer's row is read: its begin and end are the old ones, its
// NIC address and its key belong to another buffer.
TEST_P(Memory, AHalfChangedRowIsNotBelieved) {
  NicJob job(2, plan());
  abi::NicBuffers& buffers = job.nic.buffers();
  abi::NicBufferTable& first = buffers.tables[0];
  const abi::NicBuffer mine = first.buffers[0];
  std::array<abi::NicBuffer, 2> odd{}, even{};
  publish(buffers, {mine}, odd.data());
  publish(buffers, {mine}, even.data());
  abi::NicBuffer other = mine;
  other.begin -= 4096;
  other.end = mine.begin;
  other.nic = 0xbad000;
  other.lkey_be = abi::be32(0xbad);
  bool has_changed = false;
  {
    const WatchOperations watch([&](simt::Operation, const void* address, std::size_t) {
      if (has_changed || address != &even[0].nic) return;
      has_changed = true;
      publish(buffers, {other, mine}, odd.data());
      publish(buffers, {other, mine}, even.data());
    });
    run_threads(1, [&] {
      job.to(1).put<1>(Thread{},
                       {job.data<std::byte>(0, kThere), job.nic.buffer(), 1000, Until::kLocal});
    });
  }
  EXPECT_TRUE(has_changed);
  EXPECT_EQ(job.nic.queue(1).progress.status, 0u) << "the NIC refused the place";
  EXPECT_EQ(job.nic.counts(1).requests, 1u) << "it was found at the second look";
}

// ---- Staging ------------------------------------------------------------------------------------

std::size_t slots_in_use(NicJob& job) {
  const abi::NicStaging& staging = job.nic.memory().staging;
  return staging.slots - std::size_t(std::count(staging.busy, staging.busy + staging.slots, 0u));
}

// The number of slots that a peer may have.
NicPlan few_slots(NicPlan plan, std::uint32_t slots) {
  plan.staging_slots = 2 * slots;
  plan.staging_slot_bytes = 256;
  return plan;
}

// More threads than slots, chunks that alternate between the halves of each, and sources that are
// overwritten as soon as a put returns.
TEST_P(Memory, SlotsThatAreAllInUseAreWaitedFor) {
  NicJob job(2, few_slots(plan(), 2));
  constexpr std::size_t kThreads = 24, kEach = 700;
  std::vector<std::byte> wrong(kThreads);
  run_threads(kThreads, [&] {
    const unsigned me = exec::thread_rank();
    std::byte source[kEach];
    std::fill_n(source, kEach, std::byte(me + 1));
    std::byte* const target = job.data<std::byte>(0, kThere + me * kEach);
    job.to(1).put<1>(Thread{}, {target, source, kEach, Until::kPosted});
    std::fill_n(source, kEach, std::byte{0});
    job.quiet();
    job.to(1).get<1>(Thread{}, {source, target, kEach, Until::kPosted});
    wrong[me] = std::byte(std::count(source, source + kEach, std::byte(me + 1)) != kEach);
  });
  EXPECT_EQ(wrong, std::vector<std::byte>(kThreads));
  for (std::size_t i = 0; i < kThreads * kEach; ++i)
    ASSERT_EQ(*job.data<std::byte>(1, kThere + i), std::byte(i / kEach + 1)) << i;
  EXPECT_EQ(slots_in_use(job), 0u);
}

void put_staged(NicJob& job, int pe) {
  std::byte source[100] = {};
  job.to(pe).put<1>(Thread{}, {job.data<std::byte>(0, kThere), source, 100, Until::kLocal});
}

// The slot of a pair that a transfer to `pe` may use, and whether it gets it now.
std::uint32_t slot_of(std::uint32_t pair, int pe) { return abi::one_of_pair(pair, pe); }
std::uint32_t take(NicJob& job, int pe, std::uint32_t pair) {
  return staging::try_take_slot(job.context(), pe, pair);
}

// The NIC may still read the slot, until a completion.
TEST_P(Memory, AGivenUpSlotStaysTaken) {
  NicJob job(3, few_slots(plan(), 2));
  job.context().pe.wait_timeout_ns = 200'000'000;
  job.nic.hold();
  run_threads(1, [&] { put_staged(job, 1); });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kGaveUp);
  EXPECT_EQ(slots_in_use(job), 1u);
  EXPECT_EQ(take(job, 1, 1), slot_of(1, 1)) << "the other slot serves others";
  EXPECT_EQ(take(job, 1, 0), staging::kNoSlot);
  job.nic.go_on();
  while (job.nic.counts(1).completions == 0) std::this_thread::yield();
  EXPECT_EQ(take(job, 1, 0), slot_of(0, 1)) << "the request was only late";
}

// The NIC may have begun a request after a failed one, and still read the slot.
TEST_P(Memory, AnEarlierFailureFreesNoSlot) {
  std::atomic<int> begun = 0;
  std::atomic<bool> may_end = false;
  NicJob job(2, few_slots(plan(), 1));
  job.nic.fail_at(1, 0, 0x13);
  job.nic.watch([&] {
    if (++begun == 2)
      while (!may_end) std::this_thread::yield();
  });
  run_threads(1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    put_staged(job, 1);
  });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kError);
  EXPECT_EQ(take(job, 1, 0), staging::kNoSlot) << "of two requests, only the first has ended";
  may_end = true;
  while (job.nic.counts(1).completions < 2) std::this_thread::yield();
  EXPECT_EQ(take(job, 1, 0), slot_of(0, 1)) << "the second is flushed";
}

// More threads than slots: some have requests in flight when the first one fails, others wait.
TEST_P(Memory, SlotsOfALostQueueServeOthers) {
  NicJob job(3, few_slots(plan(), 2));
  for (const std::uint32_t pair : {0, 1}) ASSERT_EQ(slot_of(pair, 1), slot_of(pair, 2));
  job.nic.fail_at(1, 0, 0x13);
  run_threads(8, [&] { put_staged(job, 1); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 1);
  job.job.error().claimed = 0;
  run_threads(8, [&] { put_staged(job, 2); });
  EXPECT_EQ(job.job.error().claimed, 0u) << "status " << job.job.error().status;
  EXPECT_EQ(job.nic.counts(2).requests, 8u);
}

TEST_P(Memory, ASlotThatNothingWasPostedFromIsFree) {
  NicJob job(2, few_slots(plan(), 1));
  job.context().pe.wait_timeout_ns = 200'000'000;
  job.nic.hold();
  run_threads(128, [&] { job.to(1).p(job.data<int>(0), 1); });
  run_threads(1, [&] { put_staged(job, 1); });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kGaveUp);
  EXPECT_EQ(slots_in_use(job), 0u);
}

TEST_P(Memory, AWaitForASlotSeesItsQueueStop) {
  NicJob job(2, few_slots(plan(), 1));
  abi::NicStaging const& staging = job.nic.memory().staging;
  const std::uint64_t* const awaited = &staging.busy[slot_of(0, 1)];
  staging.busy[slot_of(0, 1)] = 1;
  std::atomic<bool> looks = false;
  const WatchOperations watch(
      [&](simt::Operation, const void* at, std::size_t) { looks = looks || at == awaited; });
  run_threads(2, [&] {
    if (exec::thread_rank() == 0) return put_staged(job, 1);
    while (!looks) exec::pause();
    channel::stop(job.nic.queue(1), abi::status_word(abi::Stop::kClosed));
  });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 1);
}

// The last of ten gets the slot later than a wait may last, and does not fail: it has seen the slot
// change hands.
TEST_P(Memory, ManyThatShareASlotAllGetIt) {
  NicJob job(2, few_slots(plan(), 1));
  job.context().pe.wait_timeout_ns = 2'000'000'000;
  job.nic.watch([] { std::this_thread::sleep_for(std::chrono::milliseconds(250)); });
  run_threads(10, [&] { put_staged(job, 1); });
  EXPECT_EQ(job.job.error().claimed, 0u) << "status " << job.job.error().status;
  EXPECT_EQ(job.nic.counts(1).requests, 10u);
}

TEST_P(Memory, WithoutAFreeSlotAPutFailsInTime) {
  NicJob job(3, few_slots(plan(), 1));
  job.context().pe.wait_timeout_ns = 200'000'000;
  job.nic.memory().staging.busy[slot_of(0, 1)] = 1;
  run_threads(1, [&] { put_staged(job, 1); });
  EXPECT_EQ(job.job.error().claimed, 2u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.job.error().pe, -1) << "no PE is to blame";
  EXPECT_EQ(job.nic.counts(1).requests, 0u);
  EXPECT_EQ(job.nic.queue(1).progress.status, 0u) << "no thread waits for what did not begin";
}

// ---- Long transfers -----------------------------------------------------------------------------

struct Long {
  NicJob job;
  std::byte* here;
  std::uint64_t nic;

  // 8 GiB of registered addresses, which are never touched.
  explicit Long(const NicPlan& plan) : job(2, plan) {
    constexpr std::uint64_t kBegin = 0x5000'0000'0000;
    here = reinterpret_cast<std::byte*>(kBegin);
    abi::NicBuffer& row = job.nic.buffers().tables[0].buffers[0];
    row.begin = kBegin;
    row.end = kBegin + 8 * kGiB;
    nic = row.nic;
    job.nic.note_only();
  }
  std::uint64_t there() {
    return nic::remote_data(job.context(), job.nic.queue(1), job.data<std::byte>(0, kThere))
        .address;
  }
  void expect_covered(unsigned opcode, std::uint64_t bytes, const char* what) {
    std::uint64_t at = 0;
    const auto parts = job.nic.noted();
    for (const NullNic::Transfer& part : parts) {
      if (part.opcode != opcode || part.local == 0) continue;  // the signal
      EXPECT_LE(part.bytes, kGiB) << what;
      EXPECT_EQ(part.remote, there() + at) << what;
      EXPECT_EQ(part.local, nic + at) << what;
      at += part.bytes;
    }
    EXPECT_EQ(at, bytes) << what << " of " << bytes;
  }
};

constexpr std::uint64_t kLengths[] = {kGiB - 1, kGiB, kGiB + 1, 2 * kGiB, 5 * kGiB / 2 + 13};

TEST_P(Memory, LongTransfersAreSplitWithoutGapOrOverlap) {
  for (const std::uint64_t bytes : kLengths)
    for (const bool is_put : {true, false}) {
      Long far(plan());
      unsigned doorbells = 0;
      {
        const WatchOperations watch([&](simt::Operation operation, const void*, std::size_t) {
          doorbells += operation == simt::Operation::kMmioStore;
        });
        run_threads(1, [&] {
          std::byte* const there = far.job.data<std::byte>(0, kThere);
          if (is_put)
            far.job.to(1).put<1>(Thread{}, {there, far.here, bytes, Until::kLocal});
          else
            far.job.to(1).get<1>(Thread{}, {far.here, there, bytes, Until::kLocal});
        });
      }
      far.expect_covered(is_put ? 0x08 : 0x10, bytes, is_put ? "put" : "get");
      EXPECT_EQ(far.job.nic.noted().size(), (bytes + kGiB - 1) / kGiB);
      EXPECT_EQ(doorbells, 1u) << "the last part rings for all";
    }
}

TEST_P(Memory, TheSignalOfALongPutComesLast) {
  for (const std::uint64_t bytes : kLengths) {
    Long far(plan());
    run_threads(1, [&] {
      const SignalUpdate signal{far.job.data<std::uint64_t>(0), 9};
      far.job.to(1).put_signal<1>(
          Thread{}, {far.job.data<std::byte>(0, kThere), far.here, bytes, Until::kLocal}, signal);
      far.job.quiet();
    });
    ASSERT_EQ(far.job.nic.queue(1).progress.done & abi::kFresh, 0u) << "quiet looks elsewhere";
    far.expect_covered(0x08, bytes, "put_signal");
    EXPECT_EQ(far.job.nic.noted().back().bytes, 8u);
    EXPECT_EQ(far.job.nic.noted().back().local, 0u) << "the signal";
  }
}

// Its last part posts the doorbell for all parts.
TEST_P(Memory, ALongPutIsRungAlsoWhereItsKernelIsEnded) {
  for (int run = 0; run < 24; ++run) {
    const int turns = run / 2;
    Long far(plan());
    std::byte* const there = far.job.data<std::byte>(0, kThere);
    run_threads(64, [&] {
      if (exec::warp_id() == 0) {
        for (int i = 0; i < turns; ++i) exec::pause();
        exec::end_kernel();
      }
      const SignalUpdate signal{far.job.data<std::uint64_t>(0), 9};
      const Put put{there, far.here, kLengths[4], Until::kPosted};
      if (run % 2 == 0)
        far.job.to(1).put<1>(Thread{}, put);
      else
        far.job.to(1).put_signal<1>(Thread{}, put, signal);
    });
    const abi::Producer& producer = far.job.nic.queue(1).producer;
    EXPECT_EQ(channel::end_of(producer.ready), producer.resv);
    EXPECT_EQ(far.job.nic.rung(1), static_cast<std::uint16_t>(producer.resv));
  }
}

IN_EACH_MODE(Memory);

}  // namespace
}  // namespace chime::tests
