// Changes of a read's source during the read. Two NICs in one process, driven by hand: a ring holds
// a part of the answer, so that the rest is still due when the source changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "side.hpp"

namespace {

using namespace softnic;

constexpr std::uint64_t kBytes = 4 * Ring::kBytes;

class Reads : public testing::Test {
 protected:
  Reads() {
    left.connect(right);
    right.connect(left);
    key = right.add_region(source, kBytes, kRemoteRead);
    into = left.add_region(arrived.data(), kBytes, kLocalWrite);
    left.post_read({reinterpret_cast<std::uint64_t>(source), key}, {arrived.data(), into, kBytes});
    left.engine.turn();
    turn_until(right, [&] { return !right.qp->answers.empty(); });
    EXPECT_GT(right.qp->answers.front().sent, 0u);
    EXPECT_LT(right.qp->answers.front().sent, kBytes);
  }
  ~Reads() override { give_back_source(); }

  static std::byte* sevens() {
    void* at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(at, 7, kBytes);
    return static_cast<std::byte*>(at);
  }
  void give_back_source() {
    if (source) ::munmap(std::exchange(source, nullptr), kBytes);
  }
  void come_to_rest() {
    for (int idle = 0; idle < 4;) {
      const bool moved = left.engine.turn() | right.engine.turn();
      idle = moved ? 0 : idle + 1;
    }
  }

  Side left{"reads"}, right{"reads"};
  std::vector<std::byte> arrived = std::vector<std::byte>(kBytes);
  std::byte* source = sevens();
  std::uint32_t key, into;
};

TEST_F(Reads, OfWhatStaysArriveWhole) {
  come_to_rest();
  EXPECT_EQ(left.syndrome(0), 0);
  EXPECT_TRUE(std::ranges::all_of(arrived, [](std::byte b) { return b == std::byte{7}; }));
}

TEST_F(Reads, OfARegionThatGoesAreRefused) {
  right.device.remove_region(key);
  give_back_source();
  come_to_rest();
  EXPECT_EQ(unsigned{left.syndrome(0)}, 0x13u);
  EXPECT_EQ(left.completions(), 1u);
  EXPECT_EQ(left.qp->state, QpState::kError);
  EXPECT_EQ(right.qp->state, QpState::kError);
  EXPECT_TRUE(right.qp->answers.empty());
}

TEST_F(Reads, OfWhatIsUnmappedAreRefused) {
  give_back_source();
  come_to_rest();
  EXPECT_EQ(unsigned{left.syndrome(0)}, 0x13u);
}

TEST_F(Reads, RefusedTogetherWithTheNextRequestAreOneEvent) {
  constexpr int kFile = 0;
  right.qp->owner.file = kFile;
  right.device.set_async_channel(kFile, right.device.add_channel());
  right.device.remove_region(key);
  left.post_write({arrived.data(), into, 8}, {0, 0x7700});
  come_to_rest();
  EXPECT_EQ(unsigned{left.syndrome(0)}, 0x13u);
  EXPECT_EQ(unsigned{left.syndrome(1)}, 0x05u);
  EXPECT_EQ(left.completions(), 2u);
  EXPECT_EQ(right.qp->owner.async_events, 1u);
}

// No later request is answered, whether it could be or not.
class ReadsBefore : public Reads, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(AWrite, ReadsBefore, testing::Bool(), [](const auto& info) {
  return info.param ? "ThatIsServed" : "ThatIsRefused";
});

TEST_P(ReadsBefore, RefusedMidwayAreTheLast) {
  std::byte word[8];
  const std::uint32_t good = right.add_region(word, sizeof word, Side::kAllAccess);
  left.post_read({reinterpret_cast<std::uint64_t>(source), key}, {arrived.data(), into, 8});
  left.post_write({arrived.data(), into, 8},
                  {reinterpret_cast<std::uint64_t>(word), GetParam() ? good : 0x7700});
  left.engine.turn();
  turn_until(right, [&] { return right.qp->answers.size() == 3; });
  right.device.remove_region(key);
  come_to_rest();
  EXPECT_EQ(unsigned{left.syndrome(0)}, 0x13u);
  EXPECT_EQ(unsigned{left.syndrome(1)}, 0x05u);
  EXPECT_EQ(unsigned{left.syndrome(2)}, 0x05u);
  EXPECT_EQ(left.completions(), 3u);
}

}  // namespace
