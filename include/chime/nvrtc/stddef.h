// <stddef.h> under NVRTC (README.md), which knows size_t by itself.
#ifndef CHIME_NVRTC_STDDEF_H_
#define CHIME_NVRTC_STDDEF_H_

typedef decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr)) ptrdiff_t;
#ifndef offsetof
#define offsetof(T, member) __INTADDR__(&((T*)0)->member)
#endif
#ifndef NULL
#define NULL 0
#endif

// A word of g++'s for its own warnings, which this compiler does not know.
#define __extension__

#endif  // CHIME_NVRTC_STDDEF_H_
