// The symmetric heap's allocator against a model that marks every byte.
#include "host/memory/allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace chime::host {
namespace {

constexpr std::size_t kFirst = 64;
constexpr std::size_t kEnd = 4096;

// The allocator's contract, one letter for each byte: slow, and too simple to be wrong. A string,
// because the standard library's searches of it are compiled: a sanitized build would take ten
// seconds for the bits of a vector.
class Model {
 public:
  std::optional<std::size_t> allocate(std::size_t bytes, std::size_t alignment) {
    bytes = (bytes + 15) / 16 * 16;
    alignment = std::max<std::size_t>(alignment, 16);
    for (std::size_t start = 0; start + bytes <= kEnd; start += alignment)
      if (start >= kFirst && is_free(start, bytes)) {
        used_.replace(start, bytes, bytes, kUsed);
        allocations_.emplace_back(start, bytes);
        return start;
      }
    return std::nullopt;
  }
  void free(std::size_t start) {
    auto found = std::find_if(allocations_.begin(), allocations_.end(),
                              [&](auto& a) { return a.first == start; });
    used_.replace(start, found->second, found->second, kFree);
    allocations_.erase(found);
  }
  std::size_t free_bytes() const {
    std::size_t bytes = 0;
    for_each_free_block([&](std::size_t block) { bytes += block; });
    return bytes;
  }
  std::size_t largest_free_block() const {
    std::size_t largest = 0;
    for_each_free_block([&](std::size_t block) { largest = std::max(largest, block); });
    return largest;
  }
  const std::vector<std::pair<std::size_t, std::size_t>>& allocations() const {
    return allocations_;
  }

 private:
  static constexpr char kFree = '.', kUsed = 'x';

  bool is_free(std::size_t start, std::size_t bytes) const {
    return std::min(used_.find(kUsed, start), kEnd) >= start + bytes;
  }
  template <class Body>
  void for_each_free_block(Body body) const {
    for (std::size_t begin = used_.find(kFree, kFirst), end; begin < kEnd;
         begin = used_.find(kFree, end)) {
      end = std::min(used_.find(kUsed, begin), kEnd);
      body(end - begin);
    }
  }

  std::string used_ = std::string(kEnd, kFree);
  std::vector<std::pair<std::size_t, std::size_t>> allocations_;
};

TEST(Allocator, AgreesWithTheModel) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Allocator allocator(kFirst, kEnd);
    Model model;
    for (int call = 0; call < 500; ++call) {
      if (random() % 5 < 3) {
        std::size_t bytes = 1 + random() % (random() % 8 == 0 ? 2000 : 150);
        std::size_t alignment = std::size_t{1} << random() % 10;
        ASSERT_EQ(allocator.allocate(bytes, alignment), model.allocate(bytes, alignment));
      } else if (!model.allocations().empty()) {
        std::size_t start = model.allocations()[random() % model.allocations().size()].first;
        ASSERT_EQ(allocator.free(start), Allocator::Freed::kYes);
        model.free(start);
      }
      ASSERT_EQ(allocator.free_bytes(), model.free_bytes());
      ASSERT_EQ(allocator.largest_free_block(), model.largest_free_block());
      ASSERT_EQ(allocator.allocations(), model.allocations().size());
    }
  }
}

// The record of an allocation that is taken back or freed, and those of its neighbours.
TEST(Allocator, WhatIsTakenBackWasNeverThere) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Allocator plain(kFirst, kEnd), tried(kFirst, kEnd);
    std::vector<std::size_t> starts;
    for (int call = 0; call < 300; ++call) {
      if (const auto start = tried.allocate(1 + random() % 900, std::size_t{1} << random() % 10))
        tried.take_back(*start);
      const std::size_t bytes = 1 + random() % 200, alignment = std::size_t{1} << random() % 8;
      if (random() % 5 < 3) {
        const auto start = plain.allocate(bytes, alignment);
        ASSERT_EQ(tried.allocate(bytes, alignment), start);
        if (start) starts.push_back(*start);
      } else if (!starts.empty()) {
        const std::size_t which = random() % starts.size();
        ASSERT_EQ(plain.free(starts[which]), Allocator::Freed::kYes);
        ASSERT_EQ(tried.free(starts[which]), Allocator::Freed::kYes);
        starts.erase(starts.begin() + static_cast<std::ptrdiff_t>(which));
      }
      ASSERT_EQ(tried.free_bytes(), plain.free_bytes());
      ASSERT_EQ(tried.largest_free_block(), plain.largest_free_block());
      for (std::size_t at = kFirst; at < kEnd; at += 16) {
        ASSERT_EQ(tried.may_free(at), plain.may_free(at)) << at;
        ASSERT_EQ(tried.size_of(at), plain.size_of(at)) << at;
      }
    }
  }
}

TEST(Allocator, EachAllocationHasItsOwnAlignment) {
  Allocator allocator(kFirst, kEnd);
  EXPECT_EQ(allocator.allocate(16, 64), 64u);
  EXPECT_EQ(allocator.allocate(16, 256), 256u);
  EXPECT_EQ(allocator.allocate(16, 16), 80u);  // in the gap, where it is free
  EXPECT_EQ(allocator.allocate(16, 128), 128u);
  EXPECT_EQ(allocator.allocate(200, 64), 320u);  // no gap has room for it
  EXPECT_EQ(allocator.size_of(64), 16u);
  EXPECT_EQ(allocator.size_of(320), 208u);
  EXPECT_EQ(allocator.size_of(336), std::nullopt);
}

// Joined with both neighbours, the lower, the higher, and none.
TEST(Allocator, AFreedBlockIsJoinedWithEachNeighbourThatIsFree) {
  for (const bool lower : {false, true})
    for (const bool higher : {false, true}) {
      Allocator allocator(kFirst, kFirst + 3 * 96);
      std::size_t starts[3];
      for (std::size_t& start : starts) start = *allocator.allocate(96, 1);
      if (lower) allocator.free(starts[0]);
      if (higher) allocator.free(starts[2]);
      allocator.free(starts[1]);
      EXPECT_EQ(allocator.largest_free_block(), 96u * (1 + lower + higher));
      EXPECT_EQ(allocator.allocate(96u * (1 + lower + higher), 1), starts[lower ? 0 : 1]);
    }
}

// A freed start that lies in a later allocation is part of that.
TEST(Allocator, AFreedStartInsideAnotherAllocationIsNoDoubleFree) {
  Allocator allocator(kFirst, kEnd);
  const std::size_t first = *allocator.allocate(32, 1), second = *allocator.allocate(32, 1);
  allocator.free(first);
  allocator.free(second);
  EXPECT_EQ(allocator.free(second), Allocator::Freed::kTwice);
  EXPECT_EQ(allocator.allocate(64, 1), first);
  EXPECT_EQ(allocator.free(second), Allocator::Freed::kNotAnAllocation);
  EXPECT_EQ(allocator.free(first), Allocator::Freed::kYes);
  EXPECT_EQ(allocator.free(second), Allocator::Freed::kNotAnAllocation);
  EXPECT_EQ(allocator.free(first), Allocator::Freed::kTwice);
}

TEST(Allocator, FillsToTheLastByteAndNoFurther) {
  Allocator allocator(kFirst, kEnd);
  EXPECT_EQ(allocator.allocate(kEnd - kFirst + 1, 1), std::nullopt);
  EXPECT_EQ(allocator.allocate(kEnd - kFirst, 1), kFirst);
  EXPECT_EQ(allocator.free_bytes(), 0u);
  EXPECT_EQ(allocator.allocate(1, 1), std::nullopt);
}

TEST(Allocator, NeighboursThatBecomeFreeAreJoined) {
  Allocator allocator(kFirst, kEnd);
  std::vector<std::size_t> starts;
  while (auto start = allocator.allocate(100, 1)) starts.push_back(*start);
  for (std::size_t i = 0; i < starts.size(); i += 2) allocator.free(starts[i]);
  for (std::size_t i = 1; i < starts.size(); i += 2) allocator.free(starts[i]);
  EXPECT_EQ(allocator.largest_free_block(), kEnd - kFirst);
}

TEST(Allocator, DistinguishesADoubleFreeFromAForeignPointer) {
  Allocator allocator(kFirst, kEnd);
  std::size_t start = *allocator.allocate(100, 1);
  EXPECT_EQ(allocator.free(start + 16), Allocator::Freed::kNotAnAllocation);
  EXPECT_EQ(allocator.free(start), Allocator::Freed::kYes);
  EXPECT_EQ(allocator.free(start), Allocator::Freed::kTwice);
  EXPECT_EQ(allocator.allocate(32, 1), start);  // reused: a new allocation, not a freed one
  EXPECT_EQ(allocator.free(start), Allocator::Freed::kYes);
}

TEST(Allocator, NumbersWhatWasAskedFor) {
  Allocator allocator(kFirst, kEnd);
  const std::size_t first = *allocator.allocate(100, 1);
  const std::size_t second = *allocator.allocate(20, 1);
  EXPECT_EQ(allocator.at(first + 99)->number, 1u);
  EXPECT_EQ(allocator.at(second + 31)->number, 2u);  // the rest of its last granule
  EXPECT_EQ(allocator.at(second + 5)->start, second);
  EXPECT_EQ(allocator.at(second)->bytes, 20u);
  EXPECT_FALSE(allocator.at(second + 32));
  allocator.free(first);
  EXPECT_FALSE(allocator.at(first));
  EXPECT_EQ(allocator.at(*allocator.allocate(100, 1))->number, 3u);  // in the same place
}

// The owner of each byte: of free bytes, the latest allocation that was freed there.
TEST(Allocator, RemembersWhoseAFreedByteWas) {
  struct Owner {
    std::uint64_t number;
    bool is_live;
  };
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Allocator allocator(kFirst, kEnd);
    std::vector<Owner> owners(kEnd);  // of each byte, in whole granules
    std::vector<Allocator::Allocation> live;
    std::uint64_t made = 0;
    const auto mark = [&](const Allocator::Allocation& allocation, bool is_live) {
      const std::size_t end = allocation.start + (allocation.bytes + 15) / 16 * 16;
      for (std::size_t at = allocation.start; at < end; ++at)
        owners[at] = {allocation.number, is_live};
    };
    for (int call = 0; call < 200; ++call) {
      if (random() % 2 == 0) {
        const std::size_t bytes = 1 + random() % 300;
        if (const auto start = allocator.allocate(bytes, std::size_t{1} << random() % 8)) {
          live.push_back({*start, bytes, ++made});
          mark(live.back(), true);
        }
      } else if (!live.empty()) {
        const auto which = live.begin() + static_cast<std::ptrdiff_t>(random() % live.size());
        ASSERT_EQ(allocator.free(which->start), Allocator::Freed::kYes);
        mark(*which, false);
        live.erase(which);
      }
      std::uint64_t last = 0;  // the last that starts at or before
      // Each granule is queried, at different offsets.
      for (std::size_t at = kFirst; at < kEnd; at += 5) {
        const Owner& owner = owners[at];
        const auto freed = allocator.freed_at(at);
        ASSERT_EQ(freed ? freed->number : 0, owner.is_live ? 0 : owner.number) << at;
        if (owner.is_live) last = owner.number;
        const auto before = allocator.last_before(at);
        ASSERT_EQ(before ? before->number : 0, last) << at;
      }
    }
  }
}

TEST(Allocator, AFreedAllocationSaysWhatItWas) {
  Allocator allocator(kFirst, kEnd);
  const std::size_t first = *allocator.allocate(100, 1);
  EXPECT_FALSE(allocator.freed_at(first));
  allocator.free(first);
  EXPECT_EQ(allocator.freed_at(first + 99)->start, first);
  EXPECT_EQ(allocator.freed_at(first + 99)->bytes, 100u);
  allocator.allocate(16, 1);  // in its place
  EXPECT_FALSE(allocator.freed_at(first));
  EXPECT_EQ(allocator.freed_at(first + 16)->bytes, 100u);
}

TEST(Allocator, NumbersAreNotTakenByWhatIsTakenBack) {
  Allocator allocator(kFirst, kEnd);
  allocator.take_back(*allocator.allocate(100, 1));
  EXPECT_EQ(allocator.at(*allocator.allocate(100, 1))->number, 1u);
}

TEST(Allocator, ImpossibleRequestsChangeNothing) {
  Allocator allocator(kFirst, kEnd);
  EXPECT_EQ(allocator.allocate(~std::size_t{0}, 1), std::nullopt);
  EXPECT_EQ(allocator.allocate(~std::size_t{0} - 7, 16), std::nullopt);
  EXPECT_EQ(allocator.allocate(16, std::size_t{1} << 63), std::nullopt);
  EXPECT_EQ(allocator.free_bytes(), kEnd - kFirst);
}

}  // namespace
}  // namespace chime::host
