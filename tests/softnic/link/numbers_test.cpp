// Numbers of objects are finite: doorbell pages, queue pairs, memory keys.

#include "softnic/firmware/numbers.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <set>

#include "side.hpp"

namespace {

using namespace softnic;

TEST(Numbers, ComeBackWhenAllOthersWereGiven) {
  Numbers numbers(2, 5, 4);
  std::set<std::uint32_t> used;
  const auto take = [&] { return numbers.take([&](std::uint32_t n) { return used.contains(n); }); };
  for (const std::uint32_t expected : {4u, 5u, 2u, 3u, 4u}) EXPECT_EQ(take(), expected);
  used = {5, 3};
  EXPECT_EQ(take(), 2u);
  EXPECT_EQ(take(), 4u);
  used = {2, 3, 4, 5};
  EXPECT_EQ(take(), std::nullopt);
  used.erase(3);
  EXPECT_EQ(take(), 3u);
}

TEST(Numbers, OfDoorbellPagesEndWithTheirFile) {
  constexpr unsigned kPages = 4;  // page 0 is reserved
  const int bar = ::memfd_create("test-bar", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(bar, kPages * 4096), 0);
  {
    Device device(1, bar);
    std::set<std::uint32_t> pages;
    for (unsigned i = 1; i < kPages; ++i) pages.insert(device.add_uar()->page);
    EXPECT_EQ(pages, (std::set<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(device.add_uar(), nullptr);
    device.uars().at(2).words[0x800 / 8] = 77;
    device.remove_uar(2);
    const Uar* again = device.add_uar();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->page, 2u);
    EXPECT_EQ(again->words[0x800 / 8], 0u) << "a doorbell of the owner before";
  }
  ::close(bar);
}

TEST(Numbers, OfQueuePairsComeBack) {
  Side side("numbers");
  for (unsigned i = 0; i < 2 * kQpsPerNic; ++i) {
    const QueuePair* made = side.device.add_qp({});
    ASSERT_NE(made, nullptr);
    ASSERT_NE(made->qpn, side.number);
    ASSERT_GE(made->qpn % kQpsPerNic, 2u);
    side.device.remove_qp(made->qpn);
  }
  for (unsigned i = 3; i < kQpsPerNic; ++i) ASSERT_NE(side.device.add_qp({}), nullptr);
  EXPECT_EQ(side.device.add_qp({}), nullptr);
}

// A key's low byte belongs to the program: keys that differ in it alone are one key.
TEST(Numbers, OfKeysAreOneWhateverTheirLowByte) {
  Side side("numbers");
  std::set<std::uint32_t> keys;
  for (unsigned i = 0; i < 256; ++i) {
    MemoryRegion region;
    region.variant = static_cast<std::uint8_t>(i);
    keys.insert(side.device.add_region(region)->key >> 8);
  }
  EXPECT_EQ(keys.size(), 256u);
}

// A channel of three descriptors, when only two numbers are left: the call fails, and keeps
// nothing.
TEST(Numbers, OfDescriptorsMayEndInAChannel) {
  Side side("numbers");
  const auto next_free = [] {
    const int fd = ::dup(0);
    ::close(fd);
    return fd;
  };
  const int free = next_free();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit tight{static_cast<rlim_t>(free) + 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const int channel = side.device.add_channel();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(channel, -1);
  EXPECT_EQ(next_free(), free);
}

// A closed file takes its channel of asynchronous events with it, and no later one.
TEST(Numbers, OfAClosedFileNameNothing) {
  Side side("numbers");
  constexpr int kFile = 7;
  const int events = side.device.add_channel();
  side.device.set_async_channel(kFile, events);
  side.device.forget_file(kFile);
  EXPECT_EQ(side.device.channel(events), nullptr);
  EXPECT_EQ(side.device.async_channel(kFile), -1);
  side.device.set_async_channel(kFile, side.device.add_channel());
  const int again = side.device.async_channel(kFile);
  ::close(again);  // the program's end: the next channel gets its number
  ASSERT_EQ(side.device.add_channel(), again);
  side.device.forget_file(kFile);
  EXPECT_NE(side.device.channel(again), nullptr);
}

}  // namespace
