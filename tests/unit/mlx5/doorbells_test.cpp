// Which side posts doorbells, and that one left in a mailbox reaches its register, latest last.
#include "host/transport/mlx5/queues/doorbells.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

struct alignas(4096) Page {
  std::uint64_t words[512];
};

// A page of registers, seen by kernels at another address.
struct Registers {
  Page page{}, seen_by_kernels{};
  std::array<std::uint64_t, 4> mailboxes{};
  int mapped = 0;
  bool maps = true;

  struct At final : IoMapping {
    explicit At(Page& page) : page(page) {}
    std::byte* address() const override { return reinterpret_cast<std::byte*>(&page); }
    Page& page;
  };
  Doorbells open(NicDoorbell choice) {
    return Doorbells(
        choice,
        [this](std::byte*, std::size_t) {
          if (!maps) throw Error("CUDA", CHIMEX_ERR_SYSTEM, "no PeerMappingOverride");
          ++mapped;
          return std::make_unique<At>(seen_by_kernels);
        },
        mailboxes);
  }
};

std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
bool becomes(const std::uint64_t& word, std::uint64_t value) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (load(word) != value) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(Doorbells, AreRegistersWhereAPageCanBeMapped) {
  Registers nic;
  for (const NicDoorbell choice : {NicDoorbell::kAuto, NicDoorbell::kDirect}) {
    nic.mapped = 0;
    Doorbells bells = nic.open(choice);
    EXPECT_EQ(bells.map(&nic.page.words[3]), &nic.seen_by_kernels.words[3]);
    EXPECT_EQ(bells.map(&nic.page.words[7]), &nic.seen_by_kernels.words[7]);
    EXPECT_EQ(nic.mapped, 1) << "a page is mapped once";
    EXPECT_EQ(bells.describe(), "rung by kernels");
  }
}

TEST(Doorbells, AreMailboxesWhereItCannotAndSayWhy) {
  Registers nic;
  nic.maps = false;
  Doorbells bells = nic.open(NicDoorbell::kAuto);
  EXPECT_EQ(bells.map(&nic.page.words[3]), &nic.mailboxes[0]);
  EXPECT_EQ(bells.map(&nic.page.words[7]), &nic.mailboxes[1]);
  EXPECT_EQ(bells.describe(), "rung by a host thread (no PeerMappingOverride)");
  EXPECT_THROW(nic.open(NicDoorbell::kDirect).map(&nic.page.words[3]), Error);
}

TEST(Doorbells, OfTheCpuAreMailboxesEvenSo) {
  Registers nic;
  Doorbells bells = nic.open(NicDoorbell::kCpu);
  EXPECT_EQ(bells.map(&nic.page.words[3]), &nic.mailboxes[0]);
  EXPECT_EQ(nic.mapped, 0);
  EXPECT_EQ(bells.describe(), "rung by a host thread (CHIME_NIC_DOORBELL=cpu)");
}

TEST(Doorbells, LeftInMailboxesReachTheirRegisters) {
  Registers nic;
  {
    Doorbells bells = nic.open(NicDoorbell::kCpu);
    std::uint64_t* const first = bells.map(&nic.page.words[3]);
    std::uint64_t* const second = bells.map(&nic.page.words[7]);
    const auto writer = bells.start();
    for (std::uint64_t value = 1; value <= 200; ++value) {
      __atomic_store_n(first, value, __ATOMIC_RELEASE);
      if (value % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it sleeps
      ASSERT_TRUE(becomes(nic.page.words[3], value));
    }
    EXPECT_EQ(load(nic.page.words[7]), 0u) << "it got no doorbell";
    __atomic_store_n(second, 5, __ATOMIC_RELEASE);
  }
  EXPECT_EQ(nic.page.words[7], 5u) << "carried on at the end, however late it came";
}

// The NIC finds the stores before its doorbell complete, and no doorbell goes back. TSan checks the
// pairing, too.
TEST(Doorbells, ComeAfterWhatWasStoredBefore) {
  Registers nic;
  Doorbells bells = nic.open(NicDoorbell::kCpu);
  std::uint64_t* const mailbox = bells.map(&nic.page.words[0]);
  const auto writer = bells.start();
  constexpr std::uint64_t kLast = 20000;
  std::vector<std::uint64_t> requests(kLast + 1);
  std::thread kernel([&] {
    for (std::uint64_t value = 1; value <= kLast; ++value) {
      requests[value] = value;
      __atomic_store_n(mailbox, value, __ATOMIC_RELEASE);
    }
  });
  std::uint64_t before = 0;
  bool in_order = true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (before != kLast && std::chrono::steady_clock::now() < end) {
    const std::uint64_t rung = load(nic.page.words[0]);
    in_order &= rung >= before && requests[rung] == rung;
    before = rung;
  }
  kernel.join();
  EXPECT_EQ(before, kLast);
  EXPECT_TRUE(in_order);
}

// Every poll after the first ones waits for a sleep, which is never too short.
TEST(Doorbells, LookRarelyAtRest) {
  const std::uint64_t mailbox = 0;
  std::uint64_t reg = 0;
  DoorbellWriter writer;
  writer.add(&mailbox, &reg);
  const auto start = std::chrono::steady_clock::now();
  writer.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::uint64_t looks = writer.looks();
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  constexpr std::uint64_t kGrowing = 10;  // sleeps shorter than 1 ms
  EXPECT_LE(looks, std::uint64_t(elapsed.count()) + DoorbellWriter::kLooksAwake + kGrowing);
}

}  // namespace
}  // namespace chime::host::mlx5
