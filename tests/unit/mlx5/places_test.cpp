// QP sets for peers: one each, as many as exist, and free again when they are given back.
#include "host/transport/mlx5/places.hpp"

#include <gtest/gtest.h>

#include <set>

namespace chime::host::mlx5 {
namespace {

TEST(Places, EveryPeerHasOneOfItsOwn) {
  Places places(3);
  std::set<unsigned> taken;
  for (const int pe : {7, 900'000, 0}) {
    EXPECT_TRUE(places.has_room_for(pe));
    const auto place = places.take(pe);
    ASSERT_TRUE(place);
    EXPECT_LT(*place, 3u);
    EXPECT_TRUE(taken.insert(*place).second);
    EXPECT_EQ(places.take(pe), place) << "the same again";
    EXPECT_EQ(places.of(pe), place);
  }
  EXPECT_FALSE(places.has_room_for(1));
  EXPECT_TRUE(places.has_room_for(7)) << "it has one";
  EXPECT_EQ(places.take(1), std::nullopt);
  EXPECT_EQ(places.of(1), std::nullopt);
}

TEST(Places, WhatIsGivenBackIsTakenByAnother) {
  Places places(2);
  const auto first = places.take(4);
  places.take(5);
  places.give_back(4);
  EXPECT_EQ(places.of(4), std::nullopt);
  EXPECT_EQ(places.take(6), first);
  places.give_back(9);  // has none
  EXPECT_FALSE(places.has_room_for(9));
}

// Its queue pairs are no longer as they were made, whatever became of the connection: a peer may
// refuse after this PE has accepted.
TEST(Places, AConnectedPlaceIsGivenToNobodyElse) {
  Places places(2);
  const auto first = places.take(4), second = places.take(5);
  EXPECT_EQ(places.connect(5), second);
  places.give_back(5);
  places.give_back(5);
  EXPECT_EQ(places.of(5), second);
  EXPECT_FALSE(places.has_room_for(6));
  EXPECT_EQ(places.take(6), std::nullopt);
  places.give_back(4);  // held, and not connected
  EXPECT_EQ(places.take(6), first);
}

// All PEs in turn, as at init: the QP set's number is the PE's.
TEST(Places, InTurnTheyAreThePesNumbers) {
  Places places(8);
  for (int pe = 0; pe < 8; ++pe) EXPECT_EQ(places.take(pe), static_cast<unsigned>(pe));
}

}  // namespace
}  // namespace chime::host::mlx5
