// Functions of numbers without a GPU instruction, from the host's library. The CPU device calls the
// same ones, so that both compute the same bits.
#pragma once

#include "softgpu/vocabulary/memory.hpp"
#include "softgpu/words/host_functions.h"

namespace softgpu {

#define SOFTGPU_OF_ONE_AS(NAME, T)                                                 \
  inline void f_softgpu_##NAME(Env&, u8* result, u8* x) {                          \
    plain_st<T>(address_of(result), __builtin_##NAME(plain_ld<T>(address_of(x)))); \
  }
#define SOFTGPU_OF_ONE(NAME)   \
  SOFTGPU_OF_ONE_AS(NAME, f64) \
  SOFTGPU_OF_ONE_AS(NAME##f, f32)
SOFTGPU_HOST_FUNCTIONS_OF_ONE(SOFTGPU_OF_ONE)
#undef SOFTGPU_OF_ONE
#undef SOFTGPU_OF_ONE_AS

#define SOFTGPU_OF_TWO_AS(NAME, T)                                                         \
  inline void f_softgpu_##NAME(Env&, u8* result, u8* x, u8* y) {                           \
    plain_st<T>(address_of(result),                                                        \
                __builtin_##NAME(plain_ld<T>(address_of(x)), plain_ld<T>(address_of(y)))); \
  }
#define SOFTGPU_OF_TWO(NAME)   \
  SOFTGPU_OF_TWO_AS(NAME, f64) \
  SOFTGPU_OF_TWO_AS(NAME##f, f32)
SOFTGPU_HOST_FUNCTIONS_OF_TWO(SOFTGPU_OF_TWO)
#undef SOFTGPU_OF_TWO
#undef SOFTGPU_OF_TWO_AS

}  // namespace softgpu
