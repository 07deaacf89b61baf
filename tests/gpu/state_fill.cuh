// The state that a kernel of a translation unit sees.
#pragma once

#include "chime/chime.h"

struct Seen {
  std::uint32_t abi_version;
  int my_pe, n_pes;
  void* heap;
};

// By a kernel of this translation unit; without self(), which traps on an unfilled state.
static CHIME_KERNEL void look(Seen* seen) {
  const chime::Context* const state = chime::exec::launch_context();
  *seen = {state->abi_version, state->pe.my_pe, state->pe.n_pes, state->pe.heap};
}
