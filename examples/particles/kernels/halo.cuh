// The halo: in every step each PE sends the positions of the atoms near its faces, edges and
// corners to the neighbours that see them as ghosts. It is fused: the kernel that computes also
// packs, stores into the peer and signals.
//
// It needs no barrier. A neighbour's word `ghosts` counts exchanges. Positions alternate between
// two parities, so the data for step s+1 does not overwrite what step s reads. And it is not sent
// before all PEs have begun to agree on step s (agree.cuh), when none reads step s-1 any more.
// README.md, "Why no barrier is needed", has the whole argument.
#pragma once

#include "kernels/state.cuh"

namespace particles {

// My slot on the neighbour in direction d is the one of the opposite direction.
CHIME_HOST_DEVICE int opposite(int d) { return kDirections - 1 - d; }

// Copies what the neighbour in direction d sees, in its frame, to x y z. Members of the block share
// the work.
template <class Real>
CHIME_DEVICE void pack(const View<Real>& a, int d, int parity, Real* const to[3]) {
  const int first = a.send_start[d];
  const int count = a.send_start[d + 1] - first;
  for (int k = static_cast<int>(exec::thread_rank()); k < count;
       k += static_cast<int>(exec::block_threads())) {
    const int i = a.send_list[first + k];
    for (int c = 0; c < 3; ++c) {
      exec::st<exec::Order::kRelaxed, exec::Scope::kSystem>(to[c] + k,
                                                            a.x[parity][c][i] + a.shift[d][c]);
    }
  }
}

// A mapped neighbour: pack straight into its ghosts, then one fence and one signal.
template <class Real>
CHIME_DEVICE void store_to_neighbour(const View<Real>& a, int d, int parity,
                                     std::uint64_t exchange) {
  const int pe = a.neighbour[d];
  const int place = a.peer_base[d] + a.peer_offset[d];
  Real* to[3];
  for (int c = 0; c < 3; ++c) to[c] = static_cast<Real*>(chime_ptr(a.x[parity][c], pe)) + place;
  pack(a, d, parity, to);
  exec::sync_block();
  if (exec::thread_rank() == 0) {
    // All stores of the block are before the signal: pairs with wait_for_ghosts on the neighbour.
    chime_fence();
    chimex_signal_op(&a.board->slot[opposite(d)].ghosts, exchange, CHIME_SIGNAL_SET, pe);
  }
}

// A neighbour that is not mapped: pack into the send buffer, three puts, the last with the signal.
template <class Real>
CHIME_DEVICE void put_to_neighbour(const View<Real>& a, int d, int parity, std::uint64_t exchange) {
  const int pe = a.neighbour[d];
  const int place = a.peer_base[d] + a.peer_offset[d];
  const std::size_t bytes = (a.send_start[d + 1] - a.send_start[d]) * sizeof(Real);
  Real* packed[3];
  for (int c = 0; c < 3; ++c)
    packed[c] = a.send + static_cast<std::int64_t>(c) * a.capacity + a.send_start[d];
  // The puts of the exchange before, which a grid barrier separates from this one, have read the
  // buffer.
  if (exec::thread_rank() == 0) chime_quiet();
  exec::sync_block();
  pack(a, d, parity, packed);
  exec::sync_block();
  // Templates, which do not meet at entry: the block has just met, and no thread writes packed data
  // before the quiet above. The leader calls the fence, because it has posted the puts.
  const chime::Context& ctx = chime::self();
  const chime::Block block;
  chime::putmem_nbi(ctx, block, a.x[parity][0] + place, packed[0], bytes, pe);
  chime::putmem_nbi(ctx, block, a.x[parity][1] + place, packed[1], bytes, pe);
  if (block.is_leader()) chime::fence(ctx);
  exec::sync_block();
  chime::putmem_signal_nbi(ctx, block, a.x[parity][2] + place, packed[2], bytes,
                           {&a.board->slot[opposite(d)].ghosts, exchange, chime::SignalOp::kSet},
                           pe);
}

// Sends to all 26 neighbours, blocks sharing the directions. The caller has made all own positions
// of `parity` visible to the grid. A neighbour that sees nothing of mine still gets its signal.
template <class Real>
CHIME_DEVICE void send_ghosts(const View<Real>& a, int parity, std::uint64_t exchange) {
  for (int d = static_cast<int>(exec::block_rank()); d < kDirections;
       d += static_cast<int>(exec::grid_blocks())) {
    if (d == kHome) continue;
    if (chime_ptr(a.board, a.neighbour[d]) != nullptr) {
      store_to_neighbour(a, d, parity, exchange);
    } else {
      put_to_neighbour(a, d, parity, exchange);
    }
  }
}

// Returns, in all threads of the block, when the ghosts of this exchange are in place.
template <class Real>
CHIME_DEVICE void wait_for_ghosts(const View<Real>& a, std::uint64_t exchange) {
  for (int d = static_cast<int>(exec::thread_rank()); d < kDirections;
       d += static_cast<int>(exec::block_threads())) {
    // Acquires what the neighbour released in store_to_neighbour or by its put_signal.
    if (d != kHome) chime_signal_wait_until(&a.board->slot[d].ghosts, CHIME_CMP_GE, exchange);
  }
  exec::sync_block();
}

}  // namespace particles
