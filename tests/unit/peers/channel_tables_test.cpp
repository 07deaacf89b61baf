// The channels of a PE with a NIC and a proxy: which QP set or FIFO leads to which peer, in both
// contexts.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "chime/abi/words.h"
#include "host/gpu/factory.hpp"
#include "host/transport/channels/tables.hpp"

namespace chime::host {
namespace {

constexpr int kPes = 5;
constexpr ContextOwner kOwners[] = {ContextOwner::kKernels, ContextOwner::kHost};

// A NIC of `places` QP sets, with two queue pairs each, and FIFOs, of which there would be 8.
struct Two {
  explicit Two(unsigned places, bool on_demand = false)
      : needs{ChannelNeeds{places, 2, 1, on_demand}, ChannelNeeds{1, 8, 1, false}},
        tables(*gpu, kPes, needs),
        nic(tables.take_places(places)),
        fifos(tables.take_places(1)) {}

  const std::unique_ptr<Gpu> gpu = open_simt_gpu();
  const std::array<ChannelNeeds, 2> needs;
  ChannelTables tables;
  const unsigned nic, fifos;

  std::uint32_t route(ContextOwner owner, int pe) const { return tables.channels(owner).route[pe]; }
};

TEST(ChannelTables, WithoutNeedsThereAreNoChannels) {
  const auto gpu = open_simt_gpu();
  ChannelTables tables(*gpu, kPes, std::vector<ChannelNeeds>(3));
  tables.publish();
  Context context;
  for (const ContextOwner owner : kOwners) {
    tables.view(owner, context);
    EXPECT_EQ(context.channels.pool.channels, nullptr);
  }
  EXPECT_EQ(tables.buffers(), nullptr);
  EXPECT_EQ(tables.opening_requests(), nullptr);
}

TEST(ChannelTables, PlacesLieSideBySideAndHaveAsManyChannelsAsTheFirstWants) {
  Two two(3);
  two.tables.publish();
  EXPECT_EQ(two.nic, 0u);
  EXPECT_EQ(two.fifos, 3u);
  for (const ContextOwner owner : kOwners) {
    const unsigned slots = owner == ContextOwner::kKernels ? 2 : 1;
    const abi::Channels& all = two.tables.channels(owner);
    EXPECT_EQ(all.slots, slots);
    EXPECT_EQ(all.first, 0u);
    EXPECT_EQ(all.count, 64u);
    for (std::uint32_t i = 0; i < 4 * slots; ++i) {
      const abi::Channel& channel = all.pool.channels[i];
      EXPECT_EQ(channel.index, i);
      EXPECT_EQ(channel.pe, -1);
      EXPECT_EQ(channel.progress.done, abi::kFresh);
      EXPECT_EQ(channel.fault, &two.tables.faults(owner, i / slots, 1)[i % slots]);
    }
  }
}

// Each peer by its own QP set, or by the FIFOs for all others.
TEST(ChannelTables, APeerNotReachedFirstTakesThePlaceOfAllOthers) {
  Two two(2);
  two.tables.lead(1, Path::kNic, two.nic);
  two.tables.lead(3, Path::kNic, two.nic + 1);
  two.tables.lead_others(Path::kProxy, two.fifos, [](int pe) { return pe != 4; });
  two.tables.publish();
  EXPECT_EQ(two.route(ContextOwner::kKernels, 1), abi::route_word(Path::kNic, 0));
  EXPECT_EQ(two.route(ContextOwner::kKernels, 3), abi::route_word(Path::kNic, 2));
  EXPECT_EQ(two.route(ContextOwner::kHost, 3), abi::route_word(Path::kNic, 1));
  for (const int pe : {0, 2}) {
    EXPECT_EQ(two.route(ContextOwner::kKernels, pe), abi::route_word(Path::kProxy, 4));
    EXPECT_EQ(two.route(ContextOwner::kHost, pe), abi::route_word(Path::kProxy, 2));
  }
  for (const ContextOwner owner : kOwners) EXPECT_EQ(two.route(owner, 4), 0u);
}

// On demand a peer has no route before the first request, except peers connected at init.
TEST(ChannelTables, OnDemandTheOthersAreThoseWhoAreRefused) {
  Two two(2, true);
  two.tables.lead(0, Path::kNic, two.nic);
  two.tables.lead_others(Path::kProxy, two.fifos, [](int pe) { return pe != 4; });
  two.tables.publish();
  for (const int pe : {2, 4}) two.tables.opening_requests()->refuse(pe);
  for (const ContextOwner owner : kOwners) {
    const abi::Channels& all = two.tables.channels(owner);
    EXPECT_EQ(abi::path_of_route(all.route[0]), Path::kNic);
    ASSERT_NE(all.openings, nullptr);
    for (int pe = 1; pe < kPes; ++pe) EXPECT_EQ(all.route[pe], 0u);
    EXPECT_EQ(all.openings->answers[1], abi::kNotAnswered);
    EXPECT_EQ(all.openings->answers[2], abi::answer_word(Path::kProxy, 2));
    EXPECT_EQ(all.openings->answers[4], abi::kRefused);
  }
}

// Before kernels run a GPU's part is an image here.
TEST(ChannelTables, WhatWasFilledIsThereWhenItIsPublished) {
  Two two(1);
  two.tables.channel(ContextOwner::kKernels, two.fifos, 1).head.path = Path::kProxy;
  const abi::Channel& there = two.tables.channels(ContextOwner::kKernels).pool.channels[3];
  EXPECT_EQ(there.head.path, Path::kNone);
  two.tables.publish();
  EXPECT_EQ(there.head.path, Path::kProxy);
}

}  // namespace
}  // namespace chime::host
