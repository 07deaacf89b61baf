#include "host/peers/node/pe_words.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace chime::host {
namespace {

std::string words(const std::vector<int>& pes) { return pe_words(pes); }

TEST(PeWords, OfOne) { EXPECT_EQ(words({7}), "PE 7"); }

TEST(PeWords, OfNeighboursAreARange) {
  EXPECT_EQ(words({0, 1}), "PEs 0-1");
  EXPECT_EQ(words({0, 1, 2, 3, 7}), "PEs 0-3, 7");
  EXPECT_EQ(words({2, 5, 6, 8, 9, 10}), "PEs 2, 5-6, 8-10");
  EXPECT_EQ(words({1, 3, 5}), "PEs 1, 3, 5");
}

TEST(PeWords, OfManyAreShort) {
  std::vector<int> pes(512);
  std::iota(pes.begin(), pes.end(), 1);
  EXPECT_EQ(pe_words(pes), "PEs 1-512");
}

}  // namespace
}  // namespace chime::host
