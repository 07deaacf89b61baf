#include "chime/device/copy.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fake_job.hpp"

namespace chime::tests {
namespace {

constexpr std::size_t kRoom = 1024;
constexpr std::byte kGuard{0xA5};

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + 3); }

enum class Direction { kToPeer, kFromPeer };

struct Case {
  std::size_t dst, src, bytes;
};

template <class Group>
CHIME_KERNEL void copy(Direction direction, std::byte* dst, const std::byte* src,
                       std::size_t bytes) {
  if (direction == Direction::kToPeer) {
    copy_to_peer(Group{}, dst, src, bytes);
  } else {
    copy_from_peer(Group{}, dst, src, bytes);
  }
  order::puts_visible();
}

// Everything is copied, and no other byte changes.
void expect_copied(const std::vector<std::byte>& dst, const Case& c) {
  for (std::size_t i = 0; i < dst.size(); ++i) {
    const bool inside = i >= c.dst && i < c.dst + c.bytes;
    ASSERT_EQ(dst[i], inside ? pattern(c.src + i - c.dst) : kGuard)
        << "byte " << i << " of dst+" << c.dst << ", src+" << c.src << ", " << c.bytes << " bytes";
  }
}

template <class Group>
void check(Direction direction, unsigned threads, const Case& c) {
  alignas(64) static std::byte dst_memory[kRoom];
  alignas(64) static std::byte src_memory[kRoom];
  std::fill(std::begin(dst_memory), std::end(dst_memory), kGuard);
  for (std::size_t i = 0; i < kRoom; ++i) src_memory[i] = pattern(i);
  run_block(threads, copy<Group>, direction, dst_memory + c.dst, src_memory + c.src, c.bytes);
  expect_copied({std::begin(dst_memory), std::end(dst_memory)}, c);
}

// Every pair of alignments, and sizes around every width, batch and slice.
template <class Group>
void check_matrix(unsigned threads, std::size_t step) {
  const std::size_t sizes[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 67, 255, 256, 257, 700};
  std::size_t number = 0;
  for (const Direction direction : {Direction::kToPeer, Direction::kFromPeer}) {
    for (std::size_t dst = 32; dst < 32 + 17; ++dst) {
      for (std::size_t src = 16; src < 16 + 17; ++src) {
        for (const std::size_t bytes : sizes) {
          if (number++ % step == 0) check<Group>(direction, threads, {dst, src, bytes});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Copy, ByOneThread) { check_matrix<Thread>(1, 5); }
TEST(Copy, ByAWarp) { check_matrix<Warp>(32, 23); }
TEST(Copy, ByABlock) { check_matrix<Block>(48, 29); }

// Without memcpy: in the words that a GPU would move.
TEST(Copy, ByOneThreadInWords) {
  WeakMemory weak(1);
  check_matrix<Thread>(1, 5);
}
TEST(Copy, ByAWarpInWords) {
  WeakMemory weak(2);
  check_matrix<Warp>(32, 23);
}
TEST(Copy, ByABlockInWords) {
  WeakMemory weak(3);
  check_matrix<Block>(48, 29);
}

CHIME_KERNEL void keep_writing(std::uint64_t* peer, const std::uint64_t* values, unsigned* stop) {
  while (exec::ld<exec::Order::kAcquire, exec::Scope::kDevice>(stop) == 0) {
    // Off by 8 bytes from each other's alignment to 16, then aligned.
    copy_to_peer<8>(Thread{}, peer, values, 5 * sizeof(*values));
    copy_to_peer<8>(Thread{}, peer, values + 5, 5 * sizeof(*values));
    order::puts_visible();
  }
}

// A reader never sees an aligned element half written, also where wider words carry two.
TEST(Copy, DoesNotTearElements) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  alignas(16) std::uint64_t peer[6] = {};
  alignas(16) std::uint64_t values[10];
  for (int i = 0; i < 10; ++i) values[i] = i < 5 ? 0 : kOnes;
  unsigned stop = 0;
  ASSERT_EQ(exec::launch({}, keep_writing, peer + 1, values, &stop), CHIMEX_OK);
  for (int turn = 0; turn < 200'000; ++turn) {
    const std::uint64_t seen = __atomic_load_n(&peer[1 + turn % 5], __ATOMIC_RELAXED);
    ASSERT_TRUE(seen == 0 || seen == kOnes) << seen;
  }
  __atomic_store_n(&stop, 1u, __ATOMIC_RELEASE);
  ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
}

}  // namespace
}  // namespace chime::tests
