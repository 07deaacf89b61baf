// How the functions of abi/ are declared.
#ifndef CHIME_ABI_FUNCTION_H_
#define CHIME_ABI_FUNCTION_H_

#include "chime/cxx20.h"

// They run in kernels too: the platform layer, included before, says what that takes, and defines
// CHIME_SWAP_BYTES(word) where the compiler does not find by itself that a word's bytes are swapped
// by one instruction.
#ifdef CHIME_HOST_DEVICE
#define CHIME_ABI_FN CHIME_HOST_DEVICE constexpr
#else
#define CHIME_ABI_FN inline constexpr
#endif

#endif  // CHIME_ABI_FUNCTION_H_
