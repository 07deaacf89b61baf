// Rebuilds what depends on positions: owners, the order of atoms, ghost lists and neighbour rows.
#pragma once

#include "kernels/handshake.cuh"
#include "system/launcher.hpp"
#include "system/memory.hpp"

namespace particles {

template <class Real>
class Rebuilder {
 public:
  Rebuilder(Memory<Real>& memory, const Launcher& launcher);

  // All PEs call it at the same step, with the number of a new ghost exchange. Throws if there is
  // not enough room.
  void run(std::int64_t step, std::uint64_t exchange);

 private:
  void migrate(int parity);
  void sort_atoms(int parity, int count);
  void list_ghosts(int parity);
  void bin_all(int parity);
  void fill_rows(int parity);
  HandshakeResult shake_hands(int base, int room, const char* what);

  Memory<Real>& memory_;
  const Launcher launcher_;
  DeviceArray<HandshakeResult> handshake_;
  std::uint64_t round_ = 0;
  std::uint64_t rebuild_ = 0;
};

}  // namespace particles
