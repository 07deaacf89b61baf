// The translation units of this process that hold a copy of the state for kernels on a GPU
// (chime/abi/tu_state.h). A program compiled for the CPU device has none.
#pragma once

#include "chime/abi/context.h"
#include "host/gpu/gpu.hpp"

namespace chime::host::device_state_registry {

// Whether no code of this process was compiled for a GPU with Chime's device headers. Takes no
// lock: the softgpu asks from within its driver, which the others here call under theirs.
bool empty();

// A PE is there, on `gpu`: copies its Context to every registered unit, and from now on to units as
// they register. A unit has one copy on a device, so where PEs of this process share a GPU no PE
// has it: their kernels take a Context as an argument, and trap if they ask for the unit's. Kernels
// that run meanwhile may see either. All kernels of the units are loaded: a driver that loads a
// kernel at its first launch may wait for running kernels. A warning says where that cannot be.
// Throws Error that names a unit that does not fit this library or cannot be filled.
void fill_all(const Context& context, Gpu& gpu);

// Fills the units that could not be filled when they registered: the CUDA runtime knows the
// variables of clang's units only after their static constructors. Cheap if there are none.
void fill_late_units();

// The PE on `gpu` leaves. The units there speak for the one that is left on that device, or their
// kernels trap until the next fill_all. Nothing where fill_all was not called.
void clear(Gpu& gpu);

// ---- Modules that the program loads by itself ---------------------------------------------------

// The state of the module's kernels is what units on `gpu` hold, until finalize_module, or clear of
// that PE; the kernels are loaded, as units' are. Again: the same. Throws Error saying what is
// wrong with the module.
void init_module(const ProgramModule& module, Gpu& gpu);

// Its kernels trap from here on. Throws Error if init_module was not called for it on `gpu`.
void finalize_module(const ProgramModule& module, Gpu& gpu);

}  // namespace chime::host::device_state_registry
