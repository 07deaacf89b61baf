// The mathematical functions that kernels get from the host's library. For a name f the PTX calls
// softgpu_f with doubles and softgpu_ff with floats (device_math.h); vocabulary/mathematics.hpp
// defines them.
#pragma once

// clang-format off
#define SOFTGPU_HOST_FUNCTIONS_OF_ONE(X)                                                          \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos)   \
  X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(cbrt) X(erf) X(erfc) X(tgamma)     \
  X(lgamma)
#define SOFTGPU_HOST_FUNCTIONS_OF_TWO(X) \
  X(pow) X(atan2) X(fmod) X(remainder) X(hypot) X(fdim) X(nextafter)
// clang-format on
