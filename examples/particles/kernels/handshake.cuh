// How senders learn where to write: each PE sends each neighbour the number of items for it; the
// neighbour answers with the place. Used twice in each rebuild: for atoms that change owner, and
// for the lists of ghosts.
//
// A count of round r+1 is sent only after the answer of round r was read, and an answer only after
// its count: so no word is overwritten before it is read.
#pragma once

#include "kernels/halo.cuh"

namespace particles {

struct HandshakeResult {
  int received_start[kDirections + 1];  // where the items of each direction go here
  int peer_offset[kDirections];         // where mine go there
  int peer_base[kDirections];           // the neighbour's `base`
  int needed;  // items that come in total; if more than `room`, no answer was sent
};

struct HandshakeArguments {
  std::uint64_t round;
  int base;  // sent to the neighbours with the answer
  int room;  // items that fit here
};

CHIME_DEVICE std::uint64_t in_round(std::uint64_t round, int number) {
  return round << 32 | static_cast<std::uint32_t>(number);
}

// The number that the neighbour sent into this word in this round.
CHIME_DEVICE int wait_for_number(std::uint64_t* word, std::uint64_t round) {
  return static_cast<int>(chime_signal_wait_until(word, CHIME_CMP_GE, round << 32) & 0xffffffffu);
}

// Calls visit(d) for this thread's share of the 26 directions.
template <class Visit>
CHIME_DEVICE void for_my_directions(Visit visit) {
  const int threads = static_cast<int>(exec::block_threads());
  for (int d = static_cast<int>(exec::thread_rank()); d < kDirections; d += threads) {
    if (d != kHome) visit(d);
  }
}

// Turns counts into places; without room it sends no answers.
CHIME_DEVICE void scan_counts(const int count[kDirections], HandshakeResult* result) {
  int sum = 0;
  for (int d = 0; d < kDirections; ++d) {
    result->received_start[d] = sum;
    sum += count[d];
  }
  result->received_start[kDirections] = sum;
  result->needed = sum;
}

// One block. `send_start` says which of my items go in each direction.
template <class Real>
CHIME_KERNEL void handshake(CHIME_GRID_CONSTANT const View<Real> a, const std::int32_t* send_start,
                            CHIME_GRID_CONSTANT const HandshakeArguments args,
                            HandshakeResult* result) {
  CHIME_SHARED_ARRAY(int, count, kDirections);
  Slot* slot = a.board->slot;
  if (exec::thread_rank() == 0) count[kHome] = 0;
  for_my_directions([&](int d) {
    const int mine = send_start[d + 1] - send_start[d];
    chimex_signal_op(&slot[opposite(d)].count, in_round(args.round, mine), CHIME_SIGNAL_SET,
                     a.neighbour[d]);
  });
  for_my_directions([&](int d) { count[d] = wait_for_number(&slot[d].count, args.round); });
  exec::sync_block();
  if (exec::thread_rank() == 0) scan_counts(count, result);
  exec::sync_block();
  if (result->needed > args.room) return;
  for_my_directions([&](int d) {
    const std::uint64_t offset = in_round(args.round, result->received_start[d]);
    chimex_signal_op(&slot[opposite(d)].base, in_round(args.round, args.base), CHIME_SIGNAL_SET,
                     a.neighbour[d]);
    chimex_signal_op(&slot[opposite(d)].offset, offset, CHIME_SIGNAL_SET, a.neighbour[d]);
  });
  for_my_directions([&](int d) {
    result->peer_base[d] = wait_for_number(&slot[d].base, args.round);
    result->peer_offset[d] = wait_for_number(&slot[d].offset, args.round);
  });
}

}  // namespace particles
