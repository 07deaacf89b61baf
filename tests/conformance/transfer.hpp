// The body of every contiguous transfer test: one kernel moves pieces of all shapes between regions
// of two PEs; then every byte of the target region is compared with its expected value.
#pragma once

#include <vector>

#include "support/image.hpp"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {

// Moves pieces i, i + groups, ... of the calling group with `Op`: a struct with
// `static void move(const Context&, Group, T* target, const T* source, size_t n, int pe)`.
template <class Op, class T, class Group>
CHIME_KERNEL void move_pieces(CHIME_GRID_CONSTANT const Context context, std::byte* target,
                              const std::byte* source, const Piece* pieces, unsigned count,
                              int pe) {
  for (unsigned i = Crowd<Group>::index(); i < count; i += Crowd<Group>::kGroups) {
    const Piece piece = pieces[i];
    Op::move(context, Group{}, reinterpret_cast<T*>(target + piece.target),
             reinterpret_cast<const T*>(source + piece.source), piece.count, pe);
  }
}

// As move_pieces, by one call from the host per piece.
template <class Op, class T>
void move_pieces_from_host(std::byte* target, const std::byte* source,
                           const std::vector<Piece>& pieces, int pe) {
  for (const Piece& piece : pieces)
    Op::move(reinterpret_cast<T*>(target + piece.target),
             reinterpret_cast<const T*>(source + piece.source), piece.count, pe);
}

// PE p writes into PE p+1: afterwards p+1 holds p's pieces, and no other byte has changed.
template <class Op, class T, class Group>
void expect_put_is_exact(Pe& pe) {
  const Picture picture(shapes(), sizeof(T));
  Symmetric<std::byte> target(picture.bytes());
  const Private<std::byte> source(picture.source(pe.rank()));
  const Private<Piece> pieces(picture.pieces());
  for_each_memory_mode(pe, [&] {
    target.fill(int(kGuard));
    pe.barrier();
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, move_pieces<Op, T, Group>, pe.context(),
           target.data(), source.data(), pieces.data(), unsigned(picture.pieces().size()),
           pe.next());
    pe.barrier();
    EXPECT_TRUE(picture.same(picture.target(pe.previous()), target.read()));
  });
}

// PE p reads from PE p+1 into memory of its own.
template <class Op, class T, class Group>
void expect_get_is_exact(Pe& pe) {
  const Picture picture(shapes(), sizeof(T));
  Symmetric<std::byte> source(picture.bytes());
  source.write(picture.source(pe.rank()));
  Private<std::byte> target(picture.bytes());
  const Private<Piece> pieces(picture.pieces());
  pe.barrier();
  for_each_memory_mode(pe, [&] {
    target.write(std::vector<std::byte>(picture.bytes(), kGuard));
    pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, move_pieces<Op, T, Group>, pe.context(),
           target.data(), source.data(), pieces.data(), unsigned(picture.pieces().size()),
           pe.next());
    EXPECT_TRUE(picture.same(picture.target(pe.next()), target.read()));
  });
}

}  // namespace chime::tests
