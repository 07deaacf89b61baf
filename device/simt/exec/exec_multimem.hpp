// exec on the CPU: it has no multicast addresses, so no call of device code comes here.
#pragma once

#include <type_traits>

#include "chime/device/simt/exec/exec_memory.hpp"
#include "chime/device/simt/threads/thread.hpp"

namespace chime::exec {

constexpr bool has_multimem() { return false; }

enum class Multimem { kAdd, kMin, kMax, kAnd, kOr, kXor };

namespace detail {

[[noreturn]] inline void trap_without_multimem() {
  simt::trap("chime: the CPU device has no multicast addresses");
}

}  // namespace detail

template <Multimem kOp, class T>
T multimem_ld_reduce(const T*) {
  detail::trap_without_multimem();
}
template <class T>
void multimem_st(T*, std::type_identity_t<T>) {
  detail::trap_without_multimem();
}
inline void multimem_st16(void*, Vec16) { detail::trap_without_multimem(); }
inline void multimem_fence() { detail::trap_without_multimem(); }

}  // namespace chime::exec
