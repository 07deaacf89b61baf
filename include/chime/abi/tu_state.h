// How a translation unit that was compiled for a GPU registers its copy of the state with libchime.
//
// Without -rdc=true a `__constant__` variable belongs to one translation unit, and has one value on
// a device. It belongs to no PE if threads of the process are several PEs on that device. So each
// unit that includes Chime's device code has a Context of its own, and registers itself before main
// (or when its library is opened). A function compiled in that unit fills it, because only the CUDA
// runtime that the unit links knows the variable's name.
#ifndef CHIME_ABI_TU_STATE_H_
#define CHIME_ABI_TU_STATE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Owner: the translation unit. libchime writes only `next`, and only while the unit is registered.
struct chime_tu {
  uint32_t abi_version;    // kAbiVersion that the unit was compiled with
  uint32_t context_bytes;  // sizeof(Context) there
  const char* file;        // for messages
  // Copies `bytes` of a Context to the unit's variable on the calling thread's current device,
  // apart from all streams. Null on success, else the CUDA runtime's message.
  const char* (*fill)(const void* context, size_t bytes);
  // The variable's address on that device. Null on success, else the message.
  const char* (*address)(void** device_address);
  struct chime_tu* next;  // after the members that all versions of this struct have
  // A kernel of the unit on that device, as a CUfunction: by it the driver finds the others of the
  // unit's module. Null on success, else the message.
  const char* (*kernel)(void** function);
};

// Called by a unit's static constructor and destructor; exported by libchime.
__attribute__((visibility("default"))) void chime_register_tu(struct chime_tu* unit);
__attribute__((visibility("default"))) void chime_unregister_tu(struct chime_tu* unit);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // CHIME_ABI_TU_STATE_H_
