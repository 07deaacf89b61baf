// multimem: each instruction accesses the memory of all devices that have some at its address, one
// after another. PTX promises no order among them.
#pragma once

#include "softgpu/vocabulary/memory.hpp"

namespace softgpu {

template <Atom kAtom, Order kOrder, class T>
SOFTGPU_INLINE T multimem_ld_reduce(const Env& e, u64 address) {
  u64 all[kMostMulticast];
  const unsigned devices = e.services->multicast(address, sizeof(T), all);
  T value = strong_ld<kOrder, Scope::kSystem, T>(e, all[0]);
  for (unsigned i = 1; i < devices; ++i)
    value = applied<kAtom>(value, strong_ld<kOrder, Scope::kSystem, T>(e, all[i]));
  return value;
}
template <Order kOrder, class T>
SOFTGPU_INLINE void multimem_st(const Env& e, u64 address, T value) {
  u64 all[kMostMulticast];
  const unsigned devices = e.services->multicast(address, sizeof(T), all);
  for (unsigned i = 0; i < devices; ++i) strong_st<kOrder, Scope::kSystem>(e, all[i], value);
}
template <Atom kAtom, Order kOrder, class T>
SOFTGPU_INLINE void multimem_red(const Env& e, u64 address, T value) {
  u64 all[kMostMulticast];
  const unsigned devices = e.services->multicast(address, sizeof(T), all);
  for (unsigned i = 0; i < devices; ++i) red<kAtom, kOrder, Scope::kSystem>(e, all[i], value);
}

}  // namespace softgpu
