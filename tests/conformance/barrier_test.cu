// barrier_all and sync_all, from kernels of every group and from the host; fence and quiet from the
// host.
#include "chime/device/coll/barrier.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

constexpr int kRounds = 20;

template <class Group>
struct SingleGroup;  // a kernel of one group
template <>
struct SingleGroup<Thread> {
  static constexpr unsigned kThreads = 1;
};
template <>
struct SingleGroup<Warp> {
  static constexpr unsigned kThreads = 32;
};
template <>
struct SingleGroup<Block> {
  static constexpr unsigned kThreads = 70;
};

// Every member writes the round's number into its own slot on every PE, all meet, then every member
// checks all slots here: counts[0] grows by the slots that are missing or from another round.
template <class Group>
CHIME_KERNEL void meet_by_barrier(CHIME_GRID_CONSTANT const Context context, std::uint64_t* slots,
                                  std::uint64_t* wrong) {
  Group group{};
  const std::uint64_t mine = std::uint64_t(context.pe.my_pe) * group.size() + group.rank();
  const std::uint64_t all = std::uint64_t(context.pe.n_pes) * group.size();
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    for (int pe = 0; pe < context.pe.n_pes; ++pe) p(context, slots + mine, round, pe);
    barrier_all(context, group);
    for (std::uint64_t i = 0; i < all; ++i)
      if (exec::ld(slots + i) != round) exec::atomic_add(wrong, std::uint64_t(1));
    barrier_all(context, group);
  }
}

// sync_all: the other PEs' gets see each PE's stores to its own memory.
template <class Group>
CHIME_KERNEL void meet_by_sync(CHIME_GRID_CONSTANT const Context context, std::uint64_t* slots,
                               std::uint64_t* wrong) {
  Group group{};
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    exec::st(slots + group.rank(), round);
    sync_all(context, group);
    for (int pe = 0; pe < context.pe.n_pes; ++pe)
      for (unsigned i = 0; i < group.size(); ++i)
        if (g(context, slots + i, pe) != round) exec::atomic_add(wrong, std::uint64_t(1));
    sync_all(context, group);
  }
}

IN_EVERY_WORLD(Barrier, CompletesPutsOfAllMembersBeforeAnyoneLeaves) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      Symmetric<std::uint64_t> slots(std::size_t(pe.size()) * SingleGroup<Group>::kThreads);
      Private<std::uint64_t> wrong(1);
      pe.barrier();
      pe.run(1, SingleGroup<Group>::kThreads, meet_by_barrier<Group>, pe.context(), slots.data(),
             wrong.data());
      EXPECT_EQ(0u, wrong.read()[0]);
      pe.barrier();
    });
  });
}

IN_EVERY_WORLD(Sync, ShowsEachPesOwnStores) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      Symmetric<std::uint64_t> slots(SingleGroup<Group>::kThreads);
      Private<std::uint64_t> wrong(1);
      pe.barrier();
      pe.run(1, SingleGroup<Group>::kThreads, meet_by_sync<Group>, pe.context(), slots.data(),
             wrong.data());
      EXPECT_EQ(0u, wrong.read()[0]);
      pe.barrier();
    });
  });
}

IN_EVERY_WORLD(HostBarrier, CompletesHostPuts) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()));
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      for (int to = 0; to < pe.size(); ++to)
        chime_putmem(slots.data() + pe.rank(), &round, sizeof round, to);
      chime_barrier_all();
      EXPECT_EQ(std::vector<std::uint64_t>(std::size_t(pe.size()), round), slots.read());
      chime_barrier_all();
    }
  });
}

IN_EVERY_WORLD(HostSync, ShowsEachPesOwnStores) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slot(1);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      slot.write(std::vector{round});
      chime_sync_all();
      for (int from = 0; from < pe.size(); ++from) {
        std::uint64_t seen = 0;
        chime_getmem(&seen, slot.data(), sizeof seen, from);
        EXPECT_EQ(round, seen) << "of PE " << from;
      }
      chime_sync_all();
    }
  });
}

IN_EVERY_WORLD(Barrier, MixesHostAndDeviceCallers) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> slots(std::size_t(pe.size()));
    Private<std::uint64_t> wrong(1);
    for (int turn = 0; turn < 5; ++turn) {
      slots.fill(0);
      chime_barrier_all();
      pe.run(1, 1, meet_by_barrier<Thread>, pe.context(), slots.data(), wrong.data());
      chime_barrier_all();
    }
    EXPECT_EQ(0u, wrong.read()[0]);
  });
}

}  // namespace
}  // namespace chime::tests
