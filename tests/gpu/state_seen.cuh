// The queries of the tests of a unit's state: for this unit, another one and a library.
#pragma once

#include "kernel_check.cuh"
#include "state_fill.cuh"

namespace chime::tests {

using LookLate = int (*)(Seen*);

inline exec::Status look_from_this_unit(Seen* seen) { return exec::launch({}, look, seen); }

template <class Look>
Seen seen_by(Look look_from) {
  Result<Seen> seen;
  CHIME_CHECK(look_from(seen.device()) == CHIMEX_OK);
  return seen.read();
}

inline bool is_this_pe(const Seen& seen) {
  const Context& mine = context();
  return seen.abi_version == kAbiVersion && seen.my_pe == mine.pe.my_pe &&
         seen.n_pes == mine.pe.n_pes && seen.heap == mine.pe.heap && mine.pe.heap != nullptr;
}

inline bool is_nobody(const Seen& seen) { return seen.abi_version == 0 && seen.my_pe == -1; }

}  // namespace chime::tests

chime::exec::Status look_from_other_unit(Seen* seen);  // state_fill_other.cu
