// How a function of libchime.so is declared.
#ifndef CHIME_EXPORT_H_
#define CHIME_EXPORT_H_

#ifdef __CUDACC_RTC__
// NVRTC compiles kernels alone and refuses what is the host's: here these are functions that are
// declared, and that a kernel cannot call.
#define CHIME_EXPORT __device__
#else
#define CHIME_EXPORT __attribute__((visibility("default")))
#endif

#endif  // CHIME_EXPORT_H_
