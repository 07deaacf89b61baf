// Decides whether all PEs go on or any of them needs new neighbour lists. Asked in every step,
// answered on the device.
//
// Dissemination: in round r each PE sends what it knows to the PE 2^r further on; after log2(PEs)
// rounds all know whether any flag was set ("or" may count a PE twice). A word is 2 * step + flag,
// so it only grows. Words alternate by the step's parity: step s+2 is not sent to me before all
// PEs, this one included, have begun step s+1, and so have finished s.
#pragma once

#include "kernels/state.cuh"

namespace particles {

// One thread per PE calls this.
template <class Real>
CHIME_DEVICE bool any_pe_wants_rebuild(const View<Real>& a, std::int64_t step) {
  const int parity = static_cast<int>(step & 1);
  std::uint64_t* words = a.board->agreement[parity].word;
  const std::uint64_t base = 2 * static_cast<std::uint64_t>(step);
  std::uint64_t flag =
      exec::ld<exec::Order::kRelaxed, exec::Scope::kDevice>(&a.moved[parity]) == step;
  for (int round = 0, distance = 1; distance < a.pes; ++round, distance *= 2) {
    chimex_signal_op(&words[round], base + flag, CHIME_SIGNAL_SET, (a.pe + distance) % a.pes);
    flag |= chime_signal_wait_until(&words[round], CHIME_CMP_GE, base) & 1;
  }
  return flag != 0;
}

}  // namespace particles
