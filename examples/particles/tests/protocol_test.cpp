// The particles' messages are right with the weakest Chime that the specification allows: the data
// that a signal announces is there, and no kernel packs data anew that a put may still read.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/state.cuh"
// Included before the code under test.
#include "weakest_chime.hpp"
// Then:
#include "kernels/agree.cuh"
#include "kernels/ghost_lists.cuh"
#include "kernels/migrate.cuh"

namespace particles {
namespace {

constexpr int kOwn = 40, kCapacity = 200;

// One PE that sees its own atoms through the periodic box, in every direction another number of
// them, and in some none.
class Protocol : public testing::Test {
 protected:
  Protocol() {
    weakest::state().puts.clear();
    weakest::state().wrong.clear();
    view_.pes = 1;
    view_.own = kOwn;
    view_.capacity = kCapacity;
    view_.board = &board_;
    view_.send = send_.data();
    view_.send_list = send_list_;
    for (int c = 0; c < 3; ++c)
      for (int parity = 0; parity < 2; ++parity) view_.x[parity][c] = x_[parity][c].data();
    for (int d = 0; d < kDirections; ++d) {
      for (int c = 0; c < 3; ++c) view_.shift[d][c] = 1000 * d + c;
      view_.send_start[d + 1] = view_.send_start[d] + count_to(d);
      view_.ghost_start[d + 1] = view_.ghost_start[d] + count_to(opposite(d));
      for (int k = 0; k < count_to(d); ++k)
        send_list_[view_.send_start[d] + k] = (7 * d + k) % kOwn;
    }
    for (int d = 0; d < kDirections; ++d) {
      view_.peer_base[d] = kOwn;
      view_.peer_offset[d] = view_.ghost_start[opposite(d)];
    }
    weakest::state().on_signal = [this](const std::uint64_t* word) { check_ghosts(word); };
  }
  ~Protocol() override {
    weakest::state().on_signal = [](const std::uint64_t*) {};
  }

  static int count_to(int d) { return d == kHome ? 0 : d % 4; }

  template <class Kernel, class... A>
  static void run(unsigned blocks, Kernel kernel, A... arguments) {
    exec::LaunchConfig config;
    config.grid = blocks;
    config.block = 4;
    config.cooperative = true;
    ASSERT_EQ(exec::launch(config, kernel, arguments...), CHIMEX_OK);
    ASSERT_EQ(exec::stream_synchronize({}), CHIMEX_OK);
  }

  void exchange(std::uint64_t number, unsigned blocks) {
    parity_ = static_cast<int>(number & 1);
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < kOwn; ++i)
        x_[parity_][c][static_cast<std::size_t>(i)] = position(i, c, number);
    number_ = number;
    run(blocks, exchange_ghosts<double>, view_, parity_, number);
  }

  static double position(int atom, int c, std::uint64_t number) {
    return atom + 0.25 * c + 0.001 * static_cast<double>(number);
  }

  // Called when the signal of a direction has come, before anything else may.
  void check_ghosts(const std::uint64_t* word) {
    for (int d = 0; d < kDirections; ++d) {
      if (word != &board_.slot[d].ghosts) continue;
      ++signals_;
      const int from = opposite(d);
      for (int k = 0; k < count_to(from); ++k)
        for (int c = 0; c < 3; ++c) {
          const auto at = static_cast<std::size_t>(kOwn + view_.ghost_start[d] + k);
          const double expected =
              position((7 * from + k) % kOwn, c, number_) + view_.shift[from][c];
          if (x_[parity_][c][at] != expected)
            weakest::state().wrong.push_back("ghost " + std::to_string(k) + " of direction " +
                                             std::to_string(d) + " was not there, coordinate " +
                                             std::to_string(c));
        }
    }
  }

  View<double> view_{};
  Board board_{};
  std::vector<double> x_[2][3] = {
      {std::vector<double>(kCapacity + 1), std::vector<double>(kCapacity + 1),
       std::vector<double>(kCapacity + 1)},
      {std::vector<double>(kCapacity + 1), std::vector<double>(kCapacity + 1),
       std::vector<double>(kCapacity + 1)}};
  std::vector<double> send_ = std::vector<double>(3 * kCapacity);
  std::int32_t send_list_[kCapacity] = {};
  std::int64_t moved_[2] = {-1, -1};
  std::uint64_t number_ = 0;
  int parity_ = 0, signals_ = 0;
};

TEST_F(Protocol, GhostsAreThereWhenTheirSignalIs) {
  for (std::uint64_t number = 1; number <= 4; ++number) exchange(number, 1);
  EXPECT_EQ(signals_, 4 * (kDirections - 1));
  weakest::quiet();
  EXPECT_EQ(weakest::state().wrong, std::vector<std::string>());
}

TEST_F(Protocol, GhostsAreThereWhereBlocksShareTheDirections) {
  for (std::uint64_t number = 1; number <= 4; ++number) exchange(number, 3);
  weakest::quiet();
  EXPECT_EQ(weakest::state().wrong, std::vector<std::string>());
}

// The kernel that packs the next emigrants begins when this one has ended.
TEST_F(Protocol, DeparturesArePackedAgainWhenTheyHaveBeenRead) {
  std::vector<Traveller<double>> departures(kCapacity), arrivals(kCapacity);
  view_.departures = departures.data();
  view_.arrivals = arrivals.data();
  TravelArguments arguments{};
  for (int d = 0; d < kDirections; ++d) {
    arguments.start[d + 1] = arguments.start[d] + count_to(d);
    arguments.peer_offset[d] = view_.ghost_start[opposite(d)];
  }
  for (std::uint64_t rebuild = 1; rebuild <= 2; ++rebuild) {
    for (std::size_t i = 0; i < departures.size(); ++i)
      departures[i].id = static_cast<std::int64_t>(1000 * rebuild + i);
    arguments.rebuild = rebuild;
    run(1, travel<double>, view_, arguments);
    for (int d = 0; d < kDirections; ++d)
      for (int k = 0; k < count_to(opposite(d)); ++k)
        EXPECT_EQ(arrivals[static_cast<std::size_t>(view_.ghost_start[d] + k)].id,
                  departures[static_cast<std::size_t>(arguments.start[opposite(d)] + k)].id);
  }
  for (Traveller<double>& one : departures) one.id = -1;
  weakest::quiet();
  EXPECT_EQ(weakest::state().wrong, std::vector<std::string>());
}

CHIME_KERNEL void agree(CHIME_GRID_CONSTANT const View<double> a, std::int64_t step, bool* wants) {
  if (exec::thread_rank() == 0) *wants = any_pe_wants_rebuild(a, step);
}

// The peer may be a step ahead. Its word for that step must not count for this one.
TEST_F(Protocol, AgreementIsOnItsOwnStep) {
  view_.pes = 2;
  view_.moved = moved_;
  const auto agreed = [&](std::uint64_t step, bool peer, bool peer_next, bool mine) {
    moved_[step & 1] = mine ? static_cast<std::int64_t>(step) : -1;
    board_.agreement[step & 1].word[0] = 2 * step + peer;
    board_.agreement[(step + 1) & 1].word[0] = 2 * (step + 1) + peer_next;
    bool wants = false;
    run(1, agree, view_, static_cast<std::int64_t>(step), &wants);
    return wants;
  };
  for (const std::uint64_t step : {6u, 7u}) {
    EXPECT_FALSE(agreed(step, false, true, false))
        << "the peer wants it in the step after " << step;
    EXPECT_TRUE(agreed(step, true, false, false)) << "the peer wants it in step " << step;
    EXPECT_TRUE(agreed(step, false, false, true)) << "this PE wants it in step " << step;
    EXPECT_FALSE(agreed(step, false, false, false));
  }
}

}  // namespace
}  // namespace particles
