// Puts and gets arrive whole, whatever their size and number, and leave no remains.
#include <gmock/gmock.h>
#include <poll.h>

#include <set>

#include "pes.hpp"

namespace chime::host::ofi::test {
namespace {

class Transfers : public Pes {};
INSTANTIATE_TEST_SUITE_P(Ofi, Transfers, testing::ValuesIn(kWorlds), name_of);

// Differs at each place and for each seed.
std::vector<std::byte> pattern(std::size_t bytes, int seed) {
  std::vector<std::byte> all(bytes);
  std::uint32_t state = 0x9e3779b9u * static_cast<std::uint32_t>(seed + 1);
  for (std::byte& one : all) {
    state = state * 1664525u + 1013904223u;
    one = static_cast<std::byte>(state >> 24);
  }
  return all;
}

// Edges of injected sizes, for each provider, and of pieces.
constexpr std::size_t kSizes[] = {0,     1,     7,     8,     63,    64,      65,   127,
                                  128,   129,   4095,  4096,  4097,  5000,    5001, 10000,
                                  16383, 16384, 16385, 65536, 65537, 3u << 20};
constexpr std::size_t kGuard = 64;

TEST_P(Transfers, PutsOfAnySizeArriveWholeAndTouchNothingElse) {
  run(2, [](Pe& pe) {
    const int peer = 1 - pe.me;
    for (const std::size_t size : kSizes) {
      std::memset(pe.heap(), 0x5a, size + 2 * kGuard);
      pe.meet();
      const auto data = pattern(size, pe.me);
      pe.put(peer, kGuard, data.data(), size);
      pe.wait_all();
      pe.meet();  // it has ended, so it is there
      const auto theirs = pattern(size, peer);
      ASSERT_TRUE(std::equal(theirs.begin(), theirs.end(), pe.heap() + kGuard)) << size;
      for (std::size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(pe.heap()[i], std::byte{0x5a}) << size;
        ASSERT_EQ(pe.heap()[kGuard + size + i], std::byte{0x5a}) << size;
      }
      pe.meet();
    }
  });
}

TEST_P(Transfers, GetsOfAnySizeArriveWholeAndTouchNothingElse) {
  run(2, [](Pe& pe) {
    const int peer = 1 - pe.me;
    for (const std::size_t size : kSizes) {
      const auto mine = pattern(size, pe.me);
      std::ranges::copy(mine, pe.heap() + 8);
      pe.meet();
      std::vector<std::byte> got(size + 2 * kGuard, std::byte{0x5a});
      pe.get(peer, 8, got.data() + kGuard, size);
      pe.wait_all();
      const auto theirs = pattern(size, peer);
      ASSERT_TRUE(std::equal(theirs.begin(), theirs.end(), got.begin() + kGuard)) << size;
      for (std::size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(got[i], std::byte{0x5a}) << size;
        ASSERT_EQ(got[kGuard + size + i], std::byte{0x5a}) << size;
      }
      pe.meet();
    }
  });
}

// A PE that does not poll takes no data off tcp, so no put to it ends meanwhile.
TEST_P(Transfers, APutHasEndedWhenItsDataIsThere) {
  run(2, [](Pe& pe) {
    std::atomic<int>& is_over = pe.board.words[0];
    const auto word = reinterpret_cast<std::uint64_t*>(pe.heap());
    if (pe.me == 0) {
      pe.wait(pe.add(1, 64, 1));  // connected
      is_over = 1;
      const std::array<std::uint64_t, kMostPutBytes / 8 + 1> data{1};  // too long for a message
      const std::size_t put = pe.put(1, 0, data.data(), sizeof data);
      const auto end = Clock::now() + 200ms;
      while (Clock::now() < end && !pe.status(put)) pe.poll();
      if (pe.status(put)) is_over = 2;
      std::this_thread::sleep_for(50ms);
      if (is_over == 1) is_over = 3;
      EXPECT_EQ(pe.wait(put), CHIMEX_OK);
    } else {
      pe.poll_until([&] { return is_over != 0; });
      while (is_over == 1) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(is_over == 3 || std::atomic_ref(*word) == 1u)
          << "a put has ended before its data was there";
    }
    pe.meet();
    EXPECT_EQ(*word, pe.me == 1 ? 1u : 0u);
  });
}

TEST_P(Transfers, ThereMayBeMoreThanThereIsRoomFor) {
  run(3, [](Pe& pe) {
    constexpr std::size_t kMany = 3 * Driver::kRoom;
    const auto data = pattern(kMany * 8, pe.me);
    const std::size_t mine = static_cast<std::size_t>(pe.me) * kMany * 8;
    for (std::size_t i = 0; i < kMany; ++i)
      for (int peer = 0; peer < pe.n; ++peer)  // and to itself
        pe.put(peer, mine + 8 * i, data.data() + 8 * i, 8);
    pe.wait_all();
    pe.meet();
    for (int peer = 0; peer < pe.n; ++peer)
      EXPECT_EQ(std::memcmp(pe.heap() + static_cast<std::size_t>(peer) * kMany * 8,
                            pattern(kMany * 8, peer).data(), kMany * 8),
                0);
  });
}

TEST_P(Transfers, PostRefusesWhatThereIsNoRoomForAndTakesItWhenAnotherHasEnded) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      std::uint64_t word = 7;
      const HostRequest put{HostRequest::Kind::kPut, 1, 0, reinterpret_cast<std::byte*>(&word), 8};
      std::size_t posted = 0;
      while (pe.driven().post(put, posted)) ++posted;
      EXPECT_EQ(posted, Driver::kRoom);
      std::set<std::uint64_t> ended;
      const auto deadline = Clock::now() + kLimit;
      while (ended.size() <= posted && Clock::now() < deadline) {
        std::array<HostDriven::Ended, 1> one;
        if (pe.driven().poll(one) == 0) continue;
        EXPECT_EQ(one[0].status, CHIMEX_OK);
        EXPECT_TRUE(ended.insert(one[0].completion).second) << "reported twice";
        if (ended.size() != 1) continue;
        EXPECT_TRUE(pe.driven().post(put, posted)) << "for the one that has ended";
      }
      EXPECT_EQ(ended.size(), posted + 1);
    }
    pe.meet();
  });
}

TEST_P(Transfers, MemoryMayBeRegisteredAndForgotten) {
  run(2, [](Pe& pe) {
    auto data = pattern(100'000, pe.me);
    auto registration = pe.transport.register_memory(data.data(), data.size());
    pe.put(1 - pe.me, 0, data.data() + 5, data.size() - 5);
    pe.wait_all();
    pe.transport.forget_all_memory();
    pe.put(1 - pe.me, 200'000, data.data(), data.size());
    pe.wait_all();
    registration.reset();
    pe.put(1 - pe.me, 400'000, data.data(), data.size());
    pe.wait_all();
    pe.meet();
    const auto theirs = pattern(data.size(), 1 - pe.me);
    EXPECT_EQ(std::memcmp(pe.heap(), theirs.data() + 5, theirs.size() - 5), 0);
    EXPECT_EQ(std::memcmp(pe.heap() + 200'000, theirs.data(), theirs.size()), 0);
    EXPECT_EQ(std::memcmp(pe.heap() + 400'000, theirs.data(), theirs.size()), 0);
  });
}

TEST_P(Transfers, OnePollReportsNotMoreThanThereIsSpaceFor) {
  run(2, [](Pe& pe) {
    if (pe.me == 0) {
      std::uint64_t word = 7;
      for (std::uint64_t i = 0; i < 5; ++i)
        ASSERT_TRUE(pe.driven().post(
            {HostRequest::Kind::kPut, 0, 8 * i, reinterpret_cast<std::byte*>(&word), 8}, i));
      std::array<HostDriven::Ended, 2> some;
      EXPECT_EQ(pe.driven().poll(some), 2u);
      EXPECT_EQ(pe.driven().poll(some), 2u);
      EXPECT_EQ(pe.driven().poll(some), 1u);
      EXPECT_EQ(some[0].completion, 4u);
      EXPECT_EQ(pe.driven().poll(some), 0u);
    }
    pe.meet();
  });
}

// PE 1 sleeps whenever it may, and incoming data wakes it.
TEST_P(Transfers, APeThatSleepsAtTheIdleDescriptorServesPeersInTime) {
  run(2, [](Pe& pe) {
    constexpr std::uint64_t kAtomics = 50;
    if (pe.me == 0) {
      const auto begin = Clock::now();
      for (std::uint64_t i = 0; i < kAtomics; ++i) {
        std::this_thread::sleep_for(2ms);
        ASSERT_EQ(pe.wait(pe.add(1, 8, 1)), CHIMEX_OK);
      }
      EXPECT_LT(Clock::now() - begin, 15s) << "each slept through its second";
      pe.board.words[0] = 1;
      EXPECT_EQ(pe.wait(pe.add(1, 8, 1)), CHIMEX_OK);
    } else {
      const bool has_descriptor = std::string_view(GetParam().provider) != "shm";
      int sleeps = 0;
      while (pe.board.words[0] == 0) {
        const int descriptor = pe.driven().idle_descriptor();
        if (descriptor >= 0) {
          pollfd readable{.fd = descriptor, .events = POLLIN, .revents = 0};
          sleeps += ::poll(&readable, 1, 1000) >= 0;
        }
        pe.poll();
      }
      EXPECT_EQ(sleeps > 0, has_descriptor);
    }
    pe.meet();
  });
}

TEST_P(Transfers, OfOneNodeTcpListensAtLoopbackAlone) {
  if (std::string_view(GetParam().provider) == "shm") GTEST_SKIP() << "shm has no addresses";
  run(2, [](Pe& pe) {
    EXPECT_THAT(pe.transport.describe(), testing::HasSubstr("//127.0.0.1:"));
    EXPECT_THAT(pe.transport.describe(), testing::HasSubstr("tcp;ofi_rxm "));
  });
}

// ---- Remains

// Links of /proc/self/fd that are sockets.
std::size_t open_sockets() {
  std::size_t count = 0;
  for (const std::string& fd : names_in("/proc/self/fd")) {
    char to[64] = {};
    if (::readlink(("/proc/self/fd/" + fd).c_str(), to, sizeof to - 1) > 0)
      count += std::string_view(to).starts_with("socket:");
  }
  return count;
}

TEST_P(Transfers, NothingIsLeftInTheProcessOrInSharedMemory) {
  const auto job = [&] {
    run(3, [](Pe& pe) {
      std::uint64_t word = 1;
      for (int peer = 0; peer < pe.n; ++peer) {
        pe.put(peer, 64, &word, 8);
        pe.add(peer, 128, 1);
      }
      pe.wait_all();
    });
    board_.arrived = 0;
    for (auto& shown : board_.shown) shown.bytes = 0;
  };
  const std::size_t sockets = open_sockets();
  job();
  EXPECT_EQ(open_sockets(), sockets);
  const std::size_t descriptors = names_in("/proc/self/fd").size();
  job();
  EXPECT_EQ(names_in("/proc/self/fd").size(), descriptors);
  EXPECT_THAT(left_in_shared_memory_by(::getpid()), testing::IsEmpty());
}

}  // namespace
}  // namespace chime::host::ofi::test
