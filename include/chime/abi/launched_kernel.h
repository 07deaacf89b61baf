// A kernel on a GPU, as the program's own CUDA runtime knows it. In a checked job (CHIME_CHECK=1)
// exec::launch reports kernels to the library, which checks that nothing is allocated while one
// runs (host/gpu/device_activity.hpp).
#ifndef CHIME_ABI_LAUNCHED_KERNEL_H_
#define CHIME_ABI_LAUNCHED_KERNEL_H_

#include "chime/cxx20.h"
#include "chime/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct chime_launched_kernel {
  char name[128];
  void* event;  // comes after the kernel in its stream; owner: the library, until `forget`
  int (*has_ended)(void* event);
  void (*forget)(void* event);
} chime_launched_kernel;

CHIME_EXPORT int chime_launches_are_watched(void);
CHIME_EXPORT void chime_kernel_is_launched(chime_launched_kernel kernel);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // CHIME_ABI_LAUNCHED_KERNEL_H_
