// The effects of a request that fails or never completes: all threads return, the cause is
// reported, other peers go on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/sync.cuh"
#include "nic_job.hpp"
#include "operations_counter.hpp"

namespace chime::tests {
namespace {

constexpr unsigned kRemoteAccess = 0x13;

class Errors : public EachMode {};

TEST_P(Errors, AFailedRequestIsReportedInFull) {
  NicJob job(3, plan());
  job.nic.fail_at(1, 2, kRemoteAccess);
  run_threads(1, [&] {
    for (int i = 0; i < 2; ++i) job.to(1).p(job.data<int>(0) + i, 1);
    job.to(1).put<8>(Thread{},
                     {job.data<std::byte>(0, 4096), job.data<std::byte>(0), 640, Until::kLocal});
  });
  const abi::ChannelFault& fault = job.nic.fault(1);
  EXPECT_EQ(fault.published, abi::kFaultReported);
  EXPECT_EQ(abi::stop_of(fault.status), abi::Stop::kError);
  EXPECT_EQ(fault.pe, 1);
  EXPECT_EQ(fault.opcode, 0x08);
  EXPECT_EQ(fault.syndrome, kRemoteAccess);
  EXPECT_EQ(fault.vendor_error, 0x77);
  EXPECT_EQ(fault.first_lost, 0);
  EXPECT_EQ(fault.request, 2);
  EXPECT_EQ(fault.bytes, 640u);
  const std::uint64_t offset =
      fault.address - reinterpret_cast<std::uint64_t>(job.context().pe.heap);
  EXPECT_EQ(offset, abi::kHeapReserved + 4096);
  EXPECT_EQ(fault.number, abi::be32(job.nic.queue(1).head.number_be) >> 8);
  EXPECT_EQ(job.job.error().claimed, 2u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 1);
  EXPECT_EQ(job.job.error().address, reinterpret_cast<std::uint64_t>(job.data<std::byte>(0, 4096)));
  EXPECT_EQ(job.job.error().expected, 640u);
}

// A DUMP names memory here; the report shows the read that it flushes.
TEST_P(Errors, AFailedFlushIsReportedWithItsRead) {
  NicPlan flushing = plan();
  flushing.flags |= abi::kNicFlushReads;
  NicJob job(2, flushing);
  constexpr unsigned kLocalProtection = 0x04;
  job.nic.fail_at(1, 1, kLocalProtection);
  run_threads(1, [&] {
    job.to(1).get<1>(Thread{},
                     {job.data<std::byte>(0), job.data<std::byte>(0, 4096), 640, Until::kLocal});
  });
  const abi::ChannelFault& fault = job.nic.fault(1);
  EXPECT_EQ(fault.opcode, static_cast<std::uint8_t>(abi::WqeOpcode::kDump));
  EXPECT_EQ(fault.request, 1);
  EXPECT_EQ(fault.bytes, 640u);
  EXPECT_EQ(job.job.error().address, reinterpret_cast<std::uint64_t>(job.data<std::byte>(0, 4096)));
  EXPECT_EQ(job.job.error().expected, 640u);
}

TEST_P(Errors, EverybodyLeavesAndOtherPeersGoOn) {
  NicJob job(3, plan());
  job.nic.fail_at(1, 40, kRemoteAccess);
  run_threads(256, [&] {
    for (int i = 0; i < 4; ++i) {
      job.to(1).fetch_amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
      job.to(2).amo(Amo<AmoOp::kAdd, std::uint64_t>{job.data<std::uint64_t>(0), 1});
    }
    job.quiet();
  });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kError);
  EXPECT_EQ(job.nic.queue(2).progress.status, 0u);
  run_threads(1, [&] { channel::drain(job.context(), job.nic.queue(2)); });
  EXPECT_EQ(*job.data<std::uint64_t>(2), 4 * 256u);
}

// PE 1 is lost, and the operations to PE 2 complete all the same: with 32 queues to a peer its bit
// is in another word.
void expect_other_peers_complete(NicPlan plan, void (NicJob::*complete)()) {
  for (const unsigned slots : {1u, 32u}) {
    plan.slots = slots;
    NicJob job(3, plan);
    job.nic.fail_at(1, 0, kRemoteAccess);
    job.context().pe.wait_timeout_ns = 0;  // no bound: the failure ends the wait
    run_threads(1, [&] {
      for (int pe : {1, 2}) job.to(pe).p(job.data<int>(0), 7);
      (job.*complete)();
    });
    EXPECT_EQ(job.nic.queue(2).progress.done, 1u) << slots << " queues to each peer";
    EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kError);
    EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
    EXPECT_EQ(job.job.error().pe, 1);
  }
}

TEST_P(Errors, QuietCompletesWhatWentToOtherPeers) {
  expect_other_peers_complete(plan(), &NicJob::quiet);
}

TEST_P(Errors, FenceOrdersWhatWentToOtherPeers) {
  NicPlan unordered = plan();
  unordered.flags |= abi::kNicUnorderedData;
  expect_other_peers_complete(unordered, &NicJob::fence);
}

TEST_P(Errors, LaterCallsReturnAtOnceAndSaySo) {
  NicJob job(2, plan());
  job.nic.fail_at(1, 0, kRemoteAccess);
  run_threads(1, [&] { job.to(1).g(job.data<int>(0)); });
  job.job.error().claimed = 0;  // the host has reported it
  const std::uint64_t ready = job.nic.queue(1).producer.ready;
  run_threads(1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    EXPECT_EQ(job.to(1).g(job.data<int>(0)), 0);
  });
  EXPECT_EQ(job.nic.queue(1).producer.ready, ready);
  EXPECT_EQ(job.nic.counts(1).requests, 1u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().pe, 1);
}

TEST_P(Errors, AWaitHasAnEnd) {
  NicJob job(2, plan());
  job.context().pe.wait_timeout_ns = 50'000'000;
  job.nic.hold();
  run_threads(64, [&] { job.to(1).g(job.data<int>(0)); });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kGaveUp);
  EXPECT_EQ(job.nic.fault(1).published, abi::kFaultReported);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.job.error().pe, 1);
}

// A thread that acquires the record finds its queue's fault; one that acquires "told", the record.
TEST_P(Errors, AFaultIsThereThenRecordedThenTold) {
  for (const bool is_given_up : {false, true}) {
    NicJob job(2, plan());
    if (is_given_up) {
      job.context().pe.wait_timeout_ns = 50'000'000;
      job.nic.hold();
    } else {
      job.nic.fail_at(1, 0, kRemoteAccess);
    }
    const abi::ErrorRecord& record = job.job.error();
    const abi::ChannelFault& fault = job.nic.fault(1);
    std::uint32_t fault_before_record = 0, record_before_told = 0;
    std::uint64_t bytes_when_published = 0;
    {
      const WatchOperations watch([&](simt::Operation operation, const void* at, std::size_t) {
        if (operation != simt::Operation::kStore) return;
        if (at == &fault.published && fault.published == abi::kFaultClaimed)
          bytes_when_published = fault.bytes;
        if (at == &record.claimed) fault_before_record = fault.published;
        if (at == &fault.published && fault.published != 0) record_before_told = record.claimed;
      });
      run_threads(1, [&] { job.to(1).g(job.data<int>(0)); });
    }
    EXPECT_EQ(bytes_when_published, is_given_up ? 0 : sizeof(int));  // of the failed request
    EXPECT_EQ(fault_before_record, abi::kFaultWhole);
    EXPECT_EQ(record_before_told, 2u);
    EXPECT_EQ(fault.published, abi::kFaultReported);
  }
}

// The host ends the queue after the report, and must find the reason for giving it up.
TEST_P(Errors, NoReportComesBeforeTheCauseOfTheStop) {
  NicJob job(2, plan());
  std::atomic_ref claimed(job.job.error().claimed);
  std::atomic_ref published(job.nic.queue(1).fault->published);
  published.store(abi::kFaultClaimed);
  channel::stop(job.nic.queue(1), abi::status_word(abi::Stop::kGaveUp));
  std::thread kernel([&] { run_threads(1, [&] { job.to(1).p(job.data<int>(0), 1); }); });
  for (const std::uint32_t state : {abi::kFaultClaimed, abi::kFaultWhole}) {
    published.store(state);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(claimed.load(), 0u);
  }
  published.store(abi::kFaultReported);
  kernel.join();
  EXPECT_EQ(claimed.load(), 2u);
}

// Posters that wait for room hold reservations: when one gives up, later ones leave, too.
TEST_P(Errors, GivingUpAFullQueueFreesThoseBehind) {
  NicJob job(2, plan());
  job.context().pe.wait_timeout_ns = 50'000'000;
  job.nic.hold();
  run_threads(512, [&] { job.to(1).p(job.data<int>(0), 1); });
  EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kGaveUp);
}

// No thread waits for a request that was given up; a later quiet notices its end.
TEST_P(Errors, QuietSeesWhatEndsLateOnAQueueOutOfUse) {
  NicJob job(2, plan());
  job.context().pe.wait_timeout_ns = 50'000'000;
  abi::Channel& queue = job.nic.queue(1);
  job.nic.hold();
  run_threads(1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    job.quiet();
  });
  EXPECT_EQ(abi::stop_of(queue.progress.status), abi::Stop::kGaveUp);
  EXPECT_EQ(channel::through(queue), 0u);
  job.nic.go_on();
  while (job.nic.counts(1).completions == 0) std::this_thread::yield();
  run_threads(1, [&] { job.quiet(); });
  EXPECT_EQ(channel::through(queue), 1u);
}

TEST_P(Errors, AnAbortEndsEveryWait) {
  NicJob job(2, plan());
  job.nic.hold();
  job.job.raise_abort(0, CHIMEX_ERR_PEER_DEAD, 1);
  run_threads(64, [&] { job.to(1).g(job.data<int>(0)); });
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_PEER_DEAD);
}

// ---- Waits for other PEs ------------------------------------------------------------------------

// Sends four times to PE 1; the last one fails. Then waits for the answer. No other thread polls.
void send_and_wait(NicJob& job) {
  for (int i = 0; i < 4; ++i) job.to(1).p(job.data<int>(0), i);
  signal_wait_until(job.context(), job.data<std::uint64_t>(0, 8), Cmp::kEq, 2);
}

TEST_P(Errors, AWaitForTheAnswerFindsWhatFailed) {
  for (const bool by_host : {false, true}) {
    if (by_host && simt::kTsan) continue;  // TSan does not see the order of a host thread's fences
    NicJob job(2, plan());
    job.context().pe.wait_timeout_ns = 100'000'000;
    job.nic.fail_at(1, 3, kRemoteAccess);
    by_host ? send_and_wait(job) : run_threads(1, [&] { send_and_wait(job); });
    EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kError);
    EXPECT_EQ(job.nic.fault(1).request, 3);
    EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
    EXPECT_EQ(job.job.error().pe, 1);
    EXPECT_EQ(job.job.error().address, reinterpret_cast<std::uint64_t>(job.data<int>(0)))
        << "the request, not the wait";
  }
}

// The failure is reported at once, and does not end the wait for another PE: PE 2 answers after it.
TEST_P(Errors, AWaitForOthersReportsItAndGoesOn) {
  NicJob job(3, plan());
  job.nic.fail_at(1, 0, kRemoteAccess);
  std::uint64_t* const signal = job.data<std::uint64_t>(0, 8);
  std::thread pe_2([&] {
    const std::uint64_t end = exec::clock_ns() + wait_limit_ns();
    while (!channel::is_stopped(job.nic.queue(1)) && exec::clock_ns() < end) exec::pause();
    exec::st<nic::Order::kRelease, nic::Scope::kSystem>(signal, std::uint64_t{2});
  });
  std::uint64_t seen = 0;
  run_threads(1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    seen = signal_wait_until(job.context(), signal, Cmp::kEq, 2);
  });
  pe_2.join();
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
}

// It may be another host thread's: the wait's own record stays free for its own failure.
TEST_P(Errors, WhatAWaitFindsIsNotItsOwn) {
  NicJob job(3, plan());
  abi::ErrorRecord own{};
  job.context().pe.error = &own;
  job.nic.fail_at(1, 0, kRemoteAccess);
  std::uint64_t* const signal = job.data<std::uint64_t>(0, 8);
  run_threads(2, [&] {
    if (exec::thread_rank() == 0) {
      job.to(1).p(job.data<int>(0), 1);
      while (!channel::is_stopped(job.nic.queue(1))) exec::pause();
      exec::st<nic::Order::kRelease, nic::Scope::kSystem>(signal, std::uint64_t{2});
    } else {
      signal_wait_until(job.context(), signal, Cmp::kEq, 2);
    }
  });
  EXPECT_EQ(own.claimed, 0u);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
  job.job.error().claimed = 0;  // the host has reported it
  run_threads(1, [&] { job.to(1).g(job.data<int>(0)); });
  EXPECT_EQ(own.status, CHIMEX_ERR_NETWORK);
  EXPECT_EQ(job.job.error().claimed, 0u);
}

// A wait with a bound returns whether its event came; it reports a failure that it finds, too.
TEST_P(Errors, AWaitWithABoundKeepsIt) {
  NicJob job(2, plan());
  job.context().pe.wait_timeout_ns = 1;
  job.nic.fail_at(1, 0, kRemoteAccess);
  int status = CHIMEX_OK;
  run_threads(1, [&] {
    job.to(1).p(job.data<int>(0), 1);
    std::uint64_t seen = 0;
    status = signal_wait_until_timeout(job.context(), job.data<std::uint64_t>(0, 8), Cmp::kEq, 2,
                                       500'000'000, &seen);
  });
  EXPECT_EQ(status, CHIMEX_ERR_TIMEOUT);
  EXPECT_EQ(job.job.error().status, CHIMEX_ERR_NETWORK);
}

// ---- Ends ---------------------------------------------------------------------------------------

// With CHIME_ON_ERROR=exit a thread of a kernel does not return.
TEST_P(Errors, ThreadsLeaveTheirKernel) {
  NicJob job(2, plan());
  job.context().pe.on_error = OnError::kExit;
  job.nic.fail_at(1, 0, kRemoteAccess);
  std::atomic<int> came_back = 0;
  run_threads(8, [&] {
    job.to(1).g(job.data<int>(0));
    ++came_back;
  });
  EXPECT_EQ(came_back, 0);
}

// Queues without a failure after their kernel has ended: no operation is left half done.
void expect_usable(NicJob& job, int pe) {
  const abi::Channel& queue = job.nic.queue(pe);
  EXPECT_EQ(queue.progress.status, 0u);
  EXPECT_EQ(channel::end_of(queue.producer.ready), queue.producer.resv);
  std::uint64_t unread = 0, staged = 0;
  for (std::uint32_t i = 0; i < queue.head.depth; ++i) unread += queue.nic.fetch[i].busy;
  const abi::NicStaging& staging = job.nic.memory().staging;
  for (std::uint32_t i = 0; i < staging.slots; ++i) staged += staging.busy[i];
  EXPECT_EQ(unread, 0u);
  EXPECT_EQ(staged, 0u);
}

// One warp fails at PE 1, the others put, fetch, get and stage at PE 2.
void use_a_lost_and_a_good_queue(NicJob& job) {
  run_threads(256, [&] {
    auto* const word = job.data<std::uint64_t>(0);
    const Amo<AmoOp::kAdd, std::uint64_t> add{word, 1};
    const std::byte on_stack[64] = {};
    for (int i = 0; i < 12; ++i) {
      switch (exec::warp_id()) {
        case 0:
        case 4:
          job.to(2).p(word + 8, std::uint64_t{1});
          break;
        case 1:
        case 5:
          job.to(2).fetch_amo(add);
          break;
        case 2:
        case 6:
          job.to(2).g(word);
          break;
        case 3:
          job.to(1).fetch_amo(add);
          break;
        default:
          job.to(2).put<8>(
              Thread{}, {job.data<std::byte>(0, 128), on_stack, sizeof(on_stack), Until::kLocal});
      }
    }
  });
}

TEST_P(Errors, AKernelThatIsEndedFinishesWhatItBegan) {
  const simt::Options before = simt::options();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    simt::Options options = before;
    options.seed = seed;
    options.weak = seed % 2 == 1;
    simt::set_options(options);
    NicJob job(3, plan());
    job.context().pe.on_error = OnError::kExit;
    job.nic.fail_at(1, 20 + seed, kRemoteAccess);
    use_a_lost_and_a_good_queue(job);
    EXPECT_EQ(abi::stop_of(job.nic.queue(1).progress.status), abi::Stop::kError);
    expect_usable(job, 2);
    if (HasFailure()) break;  // the next thread would wait for ever
    run_threads(1, [&] { job.to(2).g(job.data<std::uint64_t>(0)); });
    expect_usable(job, 2);
  }
  simt::set_options(before);
}

TEST(LostCause, IsNotMadeUp) {
  NicJob job(2);
  job.nic.hold();
  job.nic.fail_at(1, 0, kRemoteAccess);
  std::thread kernel([&] {
    run_threads(1, [&] {
      for (int i = 0; i < 20; ++i) job.to(1).p(job.data<int>(0), 1);
      job.nic.go_on();
      while (job.nic.counts(1).requests < 20) exec::pause();
      job.quiet();
    });
  });
  kernel.join();
  EXPECT_EQ(job.nic.fault(1).syndrome, 0x05);
  EXPECT_EQ(job.nic.fault(1).first_lost, 1);
}

IN_EACH_MODE(Errors);

}  // namespace
}  // namespace chime::tests
