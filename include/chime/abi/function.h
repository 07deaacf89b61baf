// How the functions of abi/ are declared.
#ifndef CHIME_ABI_FUNCTION_H_
#define CHIME_ABI_FUNCTION_H_

#include "chime/cxx20.h"

// The functions run in kernels, too: the platform layer, included before, defines the qualifiers
// for that. It also defines CHIME_SWAP_BYTES(word) if the compiler does not recognise that one
// instruction swaps a word's bytes.
#ifdef CHIME_HOST_DEVICE
#define CHIME_ABI_FN CHIME_HOST_DEVICE constexpr
#else
#define CHIME_ABI_FN inline constexpr
#endif

#endif  // CHIME_ABI_FUNCTION_H_
