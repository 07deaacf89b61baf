// Arguments of the host's operations, which know no types, turned into typed ones: elements by
// their size, waits and tests also by their sign. Host code on the CPU device (host/ops: rma.cpp,
// signals.cpp, stream.cpp), kernels of the library on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/device/exec/exec.cuh"
#include "chime/device/sync.cuh"
#include "chime/host_ops.h"
#include "host/gpu/library_kernel.hpp"

namespace chime::host {

// ---- Elements -----------------------------------------------------------------------------------

inline bool element_exists(std::size_t bytes) {
  return bytes != 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0;
}

// Calls `body` with a value of the unsigned type of `bytes`. REQUIRES: element_exists(bytes).
template <class Body>
CHIME_DEVICE void with_element(std::size_t bytes, Body body) {
  if (bytes == 1) body(std::uint8_t{});
  if (bytes == 2) body(std::uint16_t{});
  if (bytes == 4) body(std::uint32_t{});
  if (bytes == 8) body(std::uint64_t{});
  if (bytes == 16) body(exec::Vec16{});
}

// ---- Waits and tests ----------------------------------------------------------------------------

// The name of a wait or test, by its mode and whether it has one value per element.
inline constexpr Operation kWaits[][2] = {
    {Operation::kWaitUntilAll, Operation::kWaitUntilAllVector},
    {Operation::kWaitUntilAny, Operation::kWaitUntilAnyVector},
    {Operation::kWaitUntilSome, Operation::kWaitUntilSomeVector},
    {Operation::kWaitUntil, Operation::kWaitUntil},
};
inline constexpr Operation kTests[][2] = {
    {Operation::kTestAll, Operation::kTestAllVector},
    {Operation::kTestAny, Operation::kTestAnyVector},
    {Operation::kTestSome, Operation::kTestSomeVector},
    {Operation::kTest, Operation::kTest},
};
inline Operation named_in(const Operation (&table)[4][2], const chime_wait_request& request) {
  return table[request.mode & 3][request.vector != 0];
}

inline bool width_exists(const chime_wait_request& request) {
  return request.width == 2 || request.width == 4 || request.width == 8;
}

// Calls `body` with the elements in their type. REQUIRES: width_exists(request).
template <class Body>
CHIME_DEVICE auto with_wait_set(Operation called, const chime_wait_request& request, Body body) {
  const auto as = [&]<class T>(T) {
    const T* const values = static_cast<const T*>(request.values);
    return body(chime::detail::WaitSet<T>{.operation = called,
                                          .elements = static_cast<const T*>(request.elements),
                                          .count = request.count,
                                          .skip = request.skip,
                                          .cmp = static_cast<Cmp>(request.cmp),
                                          .value = request.vector ? T{} : *values,
                                          .values = request.vector ? values : nullptr});
  };
  if (request.width == 2) return request.is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
  if (request.width == 4) return request.is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
  return request.is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
}

CHIME_DEVICE void wait_all(const Context& ctx, const WaitCall& call) {
  chime_wait_request request = call.request;
  if (request.vector == 0) request.values = &call.value;
  with_wait_set(call.operation, request,
                [&](const auto& set) { chime::detail::wait_all(ctx, set); });
}

}  // namespace chime::host
