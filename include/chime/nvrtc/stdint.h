// <stdint.h> under NVRTC (README.md). Types and values are those of libcu++ there, so that a kernel
// may include both.
#ifndef CHIME_NVRTC_STDINT_H_
#define CHIME_NVRTC_STDINT_H_

typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;

// libcu++ has macros of these names, too.
#ifndef UINT64_MAX
#define UINT64_MAX (~0ULL)
#endif
#ifndef SIZE_MAX
#define SIZE_MAX UINT64_MAX
#endif

#endif  // CHIME_NVRTC_STDINT_H_
