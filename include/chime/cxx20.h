// Chime's device side is C++20. Under an older standard compilation ends here, with one error,
// before anything else of Chime is read. Every header that needs C++20 includes this one first.
//
// An include that cannot be found, because g++, clang++ and nvcc all stop after that error. After
// #error they continue, and print hundreds of lines about the program.
#if defined(__cplusplus) && __cplusplus < 202002L && !defined(CHIME_HOST_ONLY)
#include "Chime's device side is C++20: compile with -std=c++20, or define CHIME_HOST_ONLY before including chime.h"
#endif

#if defined(__CUDACC_RTC__) && !__has_include(<cstdint>)
#include "NVRTC has no standard headers: name the folder chime/nvrtc, beside chime.h, by -I, too"
#endif
