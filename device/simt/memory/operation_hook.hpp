// Lets a test program count or watch the memory operations of device code. A program that is
// compiled with CHIME_SIMT_OPERATION_HOOK defines operation_hook, which is called before each
// operation. Other programs call nothing.
#pragma once

#include <cstddef>

namespace chime::simt {

enum class Operation { kLoad, kStore, kStore16, kMmioStore, kAtomic, kFence };

#ifdef CHIME_SIMT_OPERATION_HOOK
void operation_hook(Operation operation, const void* address, std::size_t bytes);
#else
inline void operation_hook(Operation, const void*, std::size_t) {}
#endif

}  // namespace chime::simt
