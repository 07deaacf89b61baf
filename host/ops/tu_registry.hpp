// The translation units of this process that hold a copy of the state for kernels on a GPU
// (chime/abi/tu_state.h). A program compiled for the CPU device has none.
#pragma once

#include <string>
#include <vector>

#include "chime/abi/context.h"

namespace chime::host::tu_registry {

// Whether any code of this process was compiled by nvcc with Chime's device headers.
bool empty();

// PE `context` is there, on the GPU of that address, which is the calling thread's current device:
// copies its Context to every registered unit, and from now on to units as they register. A unit
// has one copy on a device, so where PEs of this process share a GPU none has it: their kernels
// take a Context as an argument, and trap where they ask for the unit's. Throws Error naming the
// unit that does not fit this library or cannot be filled.
void fill_all(const Context& context, const std::string& gpu);

// Fills, for PE `pe` on the calling thread's current device, the units that could not be when they
// registered: of clang's, the CUDA runtime knows the variables only after their static
// constructors, and where PEs have a GPU each, only their own threads reach a copy. Nothing if
// there are none, and cheap then.
void fill_late_units(int pe);

// PE `pe` has left. The units on its GPU speak for the one that is left there, or their kernels
// trap until the next fill_all.
void clear(int pe);

}  // namespace chime::host::tu_registry
