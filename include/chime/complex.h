// Collectives of complex numbers, by the host and on streams: the rows complexf and complexd of
// types.h, which OpenSHMEM has. Contracts: chime_device.cuh, "Collectives". Apart from chime.h,
// because C++'s <complex> is large.
//
// The elements are float _Complex and double _Complex in C, std::complex in C++.
#ifndef CHIME_COMPLEX_H_
#define CHIME_COMPLEX_H_

#include "chime/chime.h"

#if defined(__GNUC__) && (!defined(__cplusplus) || __cplusplus < 202002L)
#pragma GCC system_header  // why: types.h
#endif

#ifdef __CUDACC_RTC__
#error "chime/complex.h has calls of the host alone, which NVRTC does not compile"
#endif

#ifdef __cplusplus
#include <complex>
#define CHIME_COMPLEX_OF(REAL) std::complex<REAL>
#else
#define CHIME_COMPLEX_OF(REAL) REAL _Complex
#endif

#if !defined(__cplusplus) || defined(CHIME_HOST_ONLY)
#ifdef __cplusplus
extern "C" {
#endif
#define CHIME_DECLARATION(RESULT, PREFIX, STEM, PARAMETERS, TEMPLATE, ARGUMENTS, CALL) \
  CHIME_EXPORT RESULT PREFIX##STEM PARAMETERS;
CHIME_FOR_COMPLEX_COLLECTIVES(CHIME_DECLARATION)
#undef CHIME_DECLARATION
#ifdef __cplusplus
}  // extern "C"
#endif
#else
CHIME_FOR_COMPLEX_COLLECTIVES(CHIME_HOST_FORM)
#endif

#endif  // CHIME_COMPLEX_H_
