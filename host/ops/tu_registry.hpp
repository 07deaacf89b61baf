// The translation units of this process that hold a copy of the state for kernels on a GPU
// (chime/abi/tu_state.h). A program compiled for the CPU device has none.
#pragma once

#include <string>
#include <vector>

#include "chime/abi/context.h"

namespace chime::host::tu_registry {

// Whether any code of this process was compiled by nvcc with Chime's device headers.
bool empty();

// Copies `context` to every registered unit, on the calling thread's current device, and from now
// on to units as they register. Throws Error naming the unit that does not fit this library or
// cannot be filled.
void fill_all(const Context& context);

// Fills the units that could not be filled when they registered: of clang's, the CUDA runtime knows
// the variables only after their static constructors. Nothing if there are none, and cheap then.
void fill_late_units();

// PE `pe` has left. If the units speak for it, their kernels trap until the next fill_all.
void clear(int pe);

}  // namespace chime::host::tu_registry
