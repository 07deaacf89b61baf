// Collectives of the lanes of a warp on a GPU: each half of a warp by itself, while the other half
// waits elsewhere. The CUDA guide's facts for masks of 16 lanes.
#include "kernel_check.cuh"

using namespace chime;
using namespace chime::tests;

struct Pair {
  std::uint64_t low, high;
};

struct OfLane {
  unsigned idx, exchanged, up, down;
  double wide;
  unsigned ballot, any, all, elected, sum;
  std::uint64_t sum_of_wide;
  unsigned match, match_of_pair;
};

CHIME_DEVICE void of_half(unsigned mask, unsigned first, OfLane& seen) {
  const unsigned lane = exec::lane_id(), place = lane - first;
  seen.idx = exec::shfl(mask, 100 + lane, static_cast<int>(first) + 3);
  seen.exchanged = exec::shfl_xor(mask, 100 + lane, 1);
  seen.up = exec::shfl_up(mask, 100 + lane, 2);
  seen.down = exec::shfl_down(mask, 100 + lane, 2);
  seen.wide = exec::shfl(mask, 0.5 + lane, static_cast<int>(first));
  seen.ballot = exec::ballot(mask, place % 4 == 0);
  seen.any = exec::any(mask, place == 5);
  seen.all = exec::all(mask, place != 5);
  seen.elected = exec::elect_one(mask);
  seen.sum = exec::reduce_add(mask, lane);
  seen.sum_of_wide = exec::reduce_add(mask, std::uint64_t{lane} << 40);
  seen.match = exec::match_any(mask, place / 4);
  seen.match_of_pair = exec::match_any(mask, Pair{place / 4, place / 2});
}

static CHIME_KERNEL void halves(OfLane (*seen)[32]) {
  OfLane& mine = (*seen)[exec::lane_id()];
  const bool is_low = exec::lane_id() < 16;
  if (is_low) of_half(0x0000ffffu, 0, mine);
  exec::sync_block();
  if (!is_low) of_half(0xffff0000u, 16, mine);
}

static void halves_of_a_warp_are_by_themselves() {
  struct Seen {
    OfLane lane[32];
  };
  Result<Seen> result;
  CHIME_NEED(exec::launch({.block = exec::dim3(32)}, halves, &result.device()->lane) == CHIMEX_OK);
  const Seen seen = result.read();
  for (unsigned lane = 0; lane < 32; ++lane) {
    const OfLane& of = seen.lane[lane];
    const unsigned first = lane / 16 * 16, place = lane - first, four = 0xfu << (lane / 4 * 4);
    CHIME_CHECK(of.idx == 100 + first + 3);
    CHIME_CHECK(of.exchanged == 100 + (lane ^ 1));
    if (place >= 2) CHIME_CHECK(of.up == 100 + lane - 2);
    if (place < 14) CHIME_CHECK(of.down == 100 + lane + 2);
    CHIME_CHECK(of.wide == 0.5 + first);
    CHIME_CHECK(of.ballot == 0x1111u << first);
    CHIME_CHECK(of.any == 1);
    CHIME_CHECK(of.all == 0);
    CHIME_CHECK(of.elected == (place == 0));
    CHIME_CHECK(of.sum == 16 * first + 120);
    CHIME_CHECK(of.sum_of_wide == std::uint64_t{16 * first + 120} << 40);
    CHIME_CHECK(of.match == four);
    CHIME_CHECK(of.match_of_pair == 0x3u << (lane / 2 * 2));
  }
}

struct OfMasks {
  unsigned count, wide_count, lowest, wide_lowest;
};
static CHIME_KERNEL void of_masks(OfMasks* seen) {
  *seen = {exec::count_bits(0x80010010u), exec::count_bits(std::uint64_t{0x8000000000000110}),
           exec::lowest_bit(0x80010010u), exec::lowest_bit(std::uint64_t{0x8000010000000000})};
}
static void bits_of_masks_are_counted_and_found() {
  Result<OfMasks> result;
  CHIME_NEED(exec::launch({}, of_masks, result.device()) == CHIMEX_OK);
  const OfMasks seen = result.read();
  CHIME_CHECK(seen.count == 3);
  CHIME_CHECK(seen.wide_count == 3);
  CHIME_CHECK(seen.lowest == 4);
  CHIME_CHECK(seen.wide_lowest == 40);
}

struct OfBlock {
  unsigned wrong_rank, count, is_any, is_all, is_none, met, is_any_of_two, is_none_of_two;
};
static CHIME_KERNEL void of_block(OfBlock* seen) {
  CHIME_SHARED_VAR(unsigned, word);
  const unsigned rank = exec::thread_rank(),
                 three = (exec::thread_idx().z * 2 + exec::thread_idx().y) * 24;
  if (rank != three + exec::thread_idx().x || exec::warp_id() != rank / 32)
    exec::red_add<exec::Order::kRelaxed, exec::Scope::kDevice>(&seen->wrong_rank, 1u);
  if (rank == 0) word = 0;
  const int count = exec::sync_block_count(rank % 3 == 0);
  const bool is_any = exec::sync_block_or(rank == 77), is_all = exec::sync_block_and(rank != 77);
  const bool is_none = exec::sync_whole_block_or(false);
  if (rank == 95) {
    exec::nanosleep(500'000);  // the others run ahead
    word = 9;
  }
  if (rank >= 32) exec::sync_named(2, 64);  // the last two warps
  if (rank == 33) seen->met = word;
  if (rank >= 32) {  // with a number unknown at compile time
    const int id = 8 + static_cast<int>(rank / 128);
    const bool held = exec::sync_named_or(id, 64, rank == 50);
    const bool none = exec::sync_named_or(id, 64, false);
    if (rank == 90) seen->is_any_of_two = held, seen->is_none_of_two = none;
  }
  exec::sync_block();
  if (rank == 0) {
    seen->count = static_cast<unsigned>(count);
    seen->is_any = is_any, seen->is_all = is_all, seen->is_none = is_none;
  }
}
static void a_block_of_three_dimensions_meets_and_votes() {
  Result<OfBlock> result;
  CHIME_NEED(exec::launch({.block = exec::dim3(24, 2, 2)}, of_block, result.device()) == CHIMEX_OK);
  const OfBlock seen = result.read();
  CHIME_CHECK(seen.wrong_rank == 0);
  CHIME_CHECK(seen.count == 32);
  CHIME_CHECK(seen.is_any == 1);
  CHIME_CHECK(seen.is_any_of_two == 1 && seen.is_none_of_two == 0);
  CHIME_CHECK(seen.is_all == 0);
  CHIME_CHECK(seen.is_none == 0);
  CHIME_CHECK(seen.met == 9);
}

int main() {
  need_gpu();
  halves_of_a_warp_are_by_themselves();
  bits_of_masks_are_counted_and_found();
  a_block_of_three_dimensions_meets_and_votes();
  return verdict();
}
