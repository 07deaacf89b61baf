// <limits.h> under NVRTC, which has no standard headers: what Chime's need (README.md).
#ifndef CHIME_NVRTC_LIMITS_H_
#define CHIME_NVRTC_LIMITS_H_

#ifndef INT_MAX  // libcu++ has it, too
#define INT_MAX 2147483647
#endif

#endif  // CHIME_NVRTC_LIMITS_H_
