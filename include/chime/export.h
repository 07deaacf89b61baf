// How a function of libchime.so is declared.
#ifndef CHIME_EXPORT_H_
#define CHIME_EXPORT_H_

#ifdef __CUDACC_RTC__
// NVRTC compiles only kernels and refuses host functions: so it gets declarations of device
// functions that no kernel can call.
#define CHIME_EXPORT __device__
#else
#define CHIME_EXPORT __attribute__((visibility("default")))
#endif

#endif  // CHIME_EXPORT_H_
