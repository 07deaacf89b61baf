// A dying peer ends the requests in flight to it, in bounded time and with a reason; no others.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#include "pes.hpp"

namespace chime::host::ofi::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kTimeoutNs = 4'000'000'000;  // for a live PE on a machine with other work

constexpr World kProcesses[] = {
    {.name = "tcp",
     .provider = "tcp;ofi_rxm",
     .as_processes = true,
     .most_bytes = {},
     .timeout_ns = kTimeoutNs},
    {.name = "tcp_unordered",
     .provider = "tcp;ofi_rxm",
     .as_processes = true,
     .holds_atomics = true,
     .most_bytes = {},
     .timeout_ns = kTimeoutNs},
    {.name = "shm",
     .provider = "shm",
     .as_processes = true,
     .most_bytes = {},
     .timeout_ns = kTimeoutNs},
    {.name = "tcp_gpu",
     .provider = "tcp;ofi_rxm",
     .as_processes = true,
     .is_gpu = true,
     .most_bytes = {},
     .timeout_ns = kTimeoutNs},
    {.name = "shm_gpu",
     .provider = "shm",
     .as_processes = true,
     .is_gpu = true,
     .most_bytes = {},
     .timeout_ns = kTimeoutNs},
};

class Losses : public Pes {
 protected:
  // PE 1 serves until words[1] is set, and is killed when words[0] is; the others run `body`.
  void lose_pe_1(int n, const Body& body) {
    if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
    const auto statuses = run_forked(GetParam(), n, [&](Pe& pe) {
      board_.words[3 + pe.me] = ::getpid();
      pe.meet();
      if (pe.me != 1) {
        body(pe);
        pe.board.arrived += pe.me == 0 ? 1 : 0;  // for PE 1, at the next meeting
        return;
      }
      pe.poll_until([&] { return pe.board.words[1] != 0 || pe.board.words[0] != 0; });
      while (pe.board.words[0] == 0 && !pe.board.has_failed) std::this_thread::sleep_for(1ms);
      ::kill(::getpid(), SIGKILL);
    });
    for (int pe = 0; pe < n; ++pe) {
      const int status = statuses[static_cast<std::size_t>(pe)];
      if (pe == 1)
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
      else
        EXPECT_EQ(status, 0) << "PE " << pe;
      EXPECT_THAT(left_in_shared_memory_by(board_.words[3 + pe]), testing::IsEmpty()) << pe;
    }
  }

  static void stop_serving_at_1(Pe& pe) { pe.board.words[1] = 1; }
  // A PE itself notices at the latest when the peer is silent for kTimeoutNs.
  static void kill_1(Pe& pe) { pe.board.words[0] = 1; }
  // Returns when it is dead: a PE that leaves after it removes its remains.
  static void see_1_dead(Pe& pe) {
    const int process =
        static_cast<int>(::syscall(SYS_pidfd_open, pe.board.words[3 + 1].load(), 0));
    pollfd end{process, POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, 30'000), 1) << "PE 1 has not ended";
    ::close(process);
  }

  // All requests have ended, within the promised time and some seconds of a busy machine.
  static void expect_an_end(Pe& pe) {
    pe.poll_until([&] { return pe.outstanding() == 0; }, "the requests' ends", 30s);
  }
};
INSTANTIATE_TEST_SUITE_P(Ofi, Losses, testing::ValuesIn(kProcesses), name_of);

TEST_P(Losses, WhatIsInFlightToADeadPeEndsAndOthersGoOn) {
  lose_pe_1(3, [](Pe& pe) {
    if (pe.me == 2) return;  // serves at the meeting
    EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
    stop_serving_at_1(pe);
    std::vector<std::byte> data(1 << 20);
    std::vector<std::size_t> puts, atomics;
    for (int i = 0; i < 100; ++i) puts.push_back(pe.put(1, 0, data.data(), data.size()));
    for (int i = 0; i < 20; ++i) atomics.push_back(pe.add(1, 0, 1));
    for (int i = 0; i < 1000; ++i) pe.poll();
    kill_1(pe);
    EXPECT_EQ(pe.wait(pe.add(2, 0, 1)), CHIMEX_OK);
    expect_an_end(pe);
    EXPECT_EQ(pe.status(puts.back()), CHIMEX_ERR_NETWORK);
    for (const std::size_t atomic : atomics)
      EXPECT_EQ(pe.status(atomic), CHIMEX_ERR_NETWORK) << "no PE can have carried it out";
    const std::string why = pe.transport.why_lost(1).value_or("");
    EXPECT_THAT(why, HasSubstr("PE 1"));
    EXPECT_THAT(why, HasSubstr(GetParam().provider));
    // Later requests fail at once, and do not delay others.
    EXPECT_EQ(pe.wait(pe.put(1, 0, data.data(), 8)), CHIMEX_ERR_NETWORK);
    EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_ERR_NETWORK);
    const std::string why_2 = pe.transport.why_lost(2).value_or("");
    // A GPU's PE has no transfers with the provider: the owners make them.
    if (GetParam().provider == std::string_view("shm") && !GetParam().is_gpu) {
      EXPECT_THAT(why_2, HasSubstr("since PE 1 is lost; with CHIME_FABRIC=tcp;ofi_rxm"));
      EXPECT_EQ(pe.wait(pe.put(2, 64, data.data(), 8)), CHIMEX_ERR_NETWORK);
      return;
    }
    EXPECT_EQ(why_2, "");
    EXPECT_EQ(pe.wait(pe.put(2, 64, data.data(), data.size())), CHIMEX_OK);
    EXPECT_EQ(pe.wait(pe.add(2, 0, 1)), CHIMEX_OK);
  });
}

TEST_P(Losses, AnAtomicThatADeadPeWasAskedForEnds) {
  lose_pe_1(2, [](Pe& pe) {
    EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
    stop_serving_at_1(pe);
    const std::size_t atomic = pe.add(1, 0, 1);
    for (int i = 0; i < 1000; ++i) pe.poll();
    kill_1(pe);
    expect_an_end(pe);
    EXPECT_EQ(pe.status(atomic), CHIMEX_ERR_NETWORK);
    EXPECT_TRUE(pe.transport.why_lost(1).has_value());
  });
}

TEST_P(Losses, APeThatWasNeverSpokenToIsFoundDead) {
  lose_pe_1(2, [](Pe& pe) {
    kill_1(pe);
    std::this_thread::sleep_for(100ms);
    std::uint64_t word = 0;
    const std::size_t put = pe.put(1, 0, &word, 8);
    const std::size_t atomic = pe.add(1, 0, 1);
    expect_an_end(pe);
    EXPECT_EQ(pe.status(put), CHIMEX_ERR_NETWORK);
    EXPECT_EQ(pe.status(atomic), CHIMEX_ERR_NETWORK);
  });
}

TEST_P(Losses, APeThatServesNoneIsLostAndTheReasonNamesTheVariable) {
  lose_pe_1(2, [](Pe& pe) {
    EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
    stop_serving_at_1(pe);
    std::this_thread::sleep_for(100ms);
    const auto begin = Clock::now();
    const std::size_t atomic = pe.add(1, 0, 1);
    expect_an_end(pe);
    EXPECT_GE(Clock::now() - begin, std::chrono::nanoseconds(kTimeoutNs));
    EXPECT_EQ(pe.status(atomic), CHIMEX_ERR_NETWORK);
    EXPECT_THAT(pe.transport.why_lost(1).value_or(""),
                HasSubstr("no sign of life by libfabric's " + std::string(GetParam().provider) +
                          " for 4 s (CHIME_FABRIC_TIMEOUT)"));
    kill_1(pe);
    see_1_dead(pe);
  });
}

TEST_P(Losses, APeThatServesWithoutWorkForLongIsNotLost) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
      const auto end = Clock::now() + std::chrono::nanoseconds(kTimeoutNs) * 3 / 2;
      pe.poll_until([&] { return Clock::now() > end; });
      EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
    }
    pe.meet();
  });
}

TEST_P(Losses, FailEndsWhatIsInFlightToALivePe) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      std::vector<std::byte> data(1 << 20);
      for (int i = 0; i < 50; ++i) pe.put(1, 0, data.data(), data.size());
      pe.add(1, 0, 1);
      const std::size_t last = pe.add(1, 0, 1);
      pe.transport.fail(1);
      pe.poll_until([&] { return pe.outstanding() == 0; }, "the ends", 10s);
      EXPECT_EQ(pe.status(last), CHIMEX_ERR_NETWORK);
      EXPECT_THAT(pe.transport.why_lost(1).value_or(""), HasSubstr("PE 1 was given up"));
    }
    pe.meet();
  });
}

// It still serves, but traffic without its help is no answer.
TEST_P(Losses, AnAtomicAtAPeThatHasGivenUpThisOneEndsAlsoBesidePuts) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      EXPECT_EQ(pe.wait(pe.add(1, 0, 1)), CHIMEX_OK);
      pe.transport.fail(1);
      pe.poll();
    }
    pe.meet();
    if (pe.me == 1) {
      const std::size_t atomic = pe.add(0, 0, 1);
      std::uint64_t word = 0;
      const auto put_and_see = [&] {
        if (pe.outstanding() < 4) pe.put(0, 64, &word, 8);
        return pe.status(atomic).has_value();
      };
      pe.poll_until(put_and_see, "the atomic's end", 15s);
      EXPECT_EQ(pe.status(atomic), CHIMEX_ERR_NETWORK);
      EXPECT_THAT(pe.transport.why_lost(0).value_or(""), HasSubstr("PE 0 has given up PE 1"));
    }
    pe.meet();
  });
}

}  // namespace
}  // namespace chime::host::ofi::test
