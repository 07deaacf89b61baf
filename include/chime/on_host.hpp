// The functions that rows of families.h call on the host where the arguments of host_ops.h have
// another form: that header knows no types, so values are passed and returned as bits.
#ifndef CHIME_ON_HOST_HPP_
#define CHIME_ON_HOST_HPP_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/cxx20.h"
#include "chime/host_ops.h"
#include "chime/types.h"

namespace chime::on_host {

inline std::size_t bytes(std::size_t n, std::size_t size) { return CHIME_BYTES(n, size); }

template <class T>
T g(const T* src, int pe) {
  T value = {};
  chime_host_g(&value, src, sizeof(T), pe);
  return value;
}

template <class T>
T g_on_stream(const T* src, int pe, chimex_stream_t stream) {
  T value = {};
  chime_host_g_on_stream(&value, src, sizeof(T), pe, stream);
  return value;
}

// ---- Atomics ------------------------------------------------------------------------------------

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

template <class T>
void amo(chime_amo_op op, T* word, T operand, int pe) {
  chime_host_amo(op, 0, word, sizeof(T), bits_of(operand), 0, pe);
}
// Returns the value before.
template <class T>
T fetch_amo(chime_amo_op op, T* word, T operand, int pe) {
  return value_of<T>(chime_host_amo(op, 1, word, sizeof(T), bits_of(operand), 0, pe));
}
template <class T>
T fetch(const T* word, int pe) {
  return fetch_amo(CHIME_AMO_FETCH, const_cast<T*>(word), T{}, pe);
}
template <class T>
T compare_swap(T* word, T expected, T value, int pe) {
  return value_of<T>(chime_host_amo(CHIME_AMO_COMPARE_SWAP, 1, word, sizeof(T), bits_of(value),
                                    bits_of(expected), pe));
}

// ---- Waits and tests ----------------------------------------------------------------------------

// `mode`: CHIME_WAIT_*. `indices`: only for SOME. `vector`: whether there is a value for each
// element.
template <class T>
chime_wait_request request_of(int mode, const T* elements, std::size_t count, std::size_t* indices,
                              const int* skip, int cmp, const T* values, int vector) {
  return {.elements = elements,
          .count = count,
          .skip = skip,
          .cmp = cmp,
          .values = values,
          .vector = vector,
          .width = sizeof(T),
          .is_signed = std::is_signed_v<T>,
          .mode = mode,
          .indices = indices};
}

template <class T>
std::size_t wait(int mode, const T* elements, std::size_t count, std::size_t* indices,
                 const int* skip, int cmp, const T* values, int vector) {
  const auto request = request_of(mode, elements, count, indices, skip, cmp, values, vector);
  return chime_host_wait(&request);
}
template <class T>
void wait_on_stream(int mode, const T* elements, std::size_t count, const int* skip, int cmp,
                    const T* values, int vector, chimex_stream_t stream) {
  const auto request = request_of(mode, elements, count, nullptr, skip, cmp, values, vector);
  chime_host_wait_on_stream(&request, stream);
}
template <class T>
std::size_t test(int mode, const T* elements, std::size_t count, std::size_t* indices,
                 const int* skip, int cmp, const T* values, int vector) {
  const auto request = request_of(mode, elements, count, indices, skip, cmp, values, vector);
  return chime_host_test(&request);
}
template <class T>
int wait_timeout(const T* element, int cmp, const T* value, std::uint64_t timeout_ns) {
  const auto request = request_of(CHIME_WAIT_ONE, element, 1, nullptr, nullptr, cmp, value, 0);
  return chime_host_wait_timeout(&request, timeout_ns);
}

// ---- Collectives --------------------------------------------------------------------------------

inline chime_collective_request request_to_move(int kind, chime_team_t team, void* dst,
                                                const void* src, std::size_t n, std::size_t size,
                                                int root) {
  chime_collective_request request = {};
  request.kind = kind;
  request.team = team;
  request.dst = dst;
  request.src = src;
  request.n = n;
  request.bytes = static_cast<int>(size);
  request.root = root;
  return request;
}
inline int move(int kind, chime_team_t team, void* dst, const void* src, std::size_t n,
                std::size_t size, int root) {
  const chime_collective_request request = request_to_move(kind, team, dst, src, n, size, root);
  return chime_host_collective(&request);
}
inline int move_on_stream(int kind, chime_team_t team, void* dst, const void* src, std::size_t n,
                          std::size_t size, int root, chimex_stream_t stream) {
  const chime_collective_request request = request_to_move(kind, team, dst, src, n, size, root);
  return chime_host_collective_on_stream(&request, stream);
}

// Of those that have more arguments: request_to_move(), and them.
inline chime_collective_request request_to_move_strided(chime_team_t team, void* dst,
                                                        const void* src, std::ptrdiff_t dst_stride,
                                                        std::ptrdiff_t src_stride, std::size_t n,
                                                        std::size_t size) {
  chime_collective_request request =
      request_to_move(CHIME_COLLECTIVE_ALLTOALLS, team, dst, src, n, size, 0);
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  return request;
}
inline chime_collective_request request_to_move_counted(
    chime_team_t team, void* dst, std::size_t* dst_counts, const std::size_t* dst_offsets,
    const void* src, const std::size_t* src_counts, const std::size_t* src_offsets,
    std::size_t size) {
  chime_collective_request request =
      request_to_move(CHIME_COLLECTIVE_ALLTOALLV, team, dst, src, 0, size, 0);
  request.dst_counts = dst_counts;
  request.dst_offsets = dst_offsets;
  request.src_counts = src_counts;
  request.src_offsets = src_offsets;
  return request;
}
inline int collective(const chime_collective_request& request) {
  return chime_host_collective(&request);
}
inline int collective_on_stream(const chime_collective_request& request, chimex_stream_t stream) {
  return chime_host_collective_on_stream(&request, stream);
}
inline int collective_within(std::uint64_t timeout_ns, const chime_collective_request& request) {
  return chime_host_collective_timeout(&request, timeout_ns);
}
inline int move_within(std::uint64_t timeout_ns, int kind, chime_team_t team, void* dst,
                       const void* src, std::size_t bytes, int root) {
  return collective_within(timeout_ns, request_to_move(kind, team, dst, src, bytes, 1, root));
}
inline int meet_within(std::uint64_t timeout_ns, int kind, chime_team_t team) {
  return move_within(timeout_ns, kind, team, nullptr, nullptr, 0, 0);
}

// 16 bits of another format than half's; device/forms.cuh says of which type.
template <class T>
inline constexpr bool kIsBfloat16 = false;
// std::complex, whose header is large.
template <class T>
inline constexpr bool kIsComplex = requires {
  requires std::is_floating_point_v<typename T::value_type>;
  requires sizeof(T) == 2 * sizeof(typename T::value_type);
};

template <class T>
constexpr int element_of() {
  if (std::is_integral_v<T>) return std::is_signed_v<T> ? CHIME_ELEMENT_INT : CHIME_ELEMENT_UINT;
  if (kIsComplex<T>) return CHIME_ELEMENT_COMPLEX;
  if (std::is_same_v<T, long double>) return CHIME_ELEMENT_LONG_DOUBLE;
  if (sizeof(T) == sizeof(double[2])) return CHIME_ELEMENT_DOUBLE2;
  return kIsBfloat16<T> ? CHIME_ELEMENT_BFLOAT16 : CHIME_ELEMENT_FLOAT;
}
template <class T>
chime_collective_request request_to_reduce(int kind, int op, chime_team_t team, T* dst,
                                           const T* src, std::size_t n) {
  chime_collective_request request = request_to_move(kind, team, dst, src, n, sizeof(T), 0);
  request.op = op;
  request.element = element_of<T>();
  return request;
}
template <class T>
int reduce(int kind, int op, chime_team_t team, T* dst, const T* src, std::size_t n) {
  const chime_collective_request request = request_to_reduce(kind, op, team, dst, src, n);
  return chime_host_collective(&request);
}
template <class T>
int reduce_on_stream(int kind, int op, chime_team_t team, T* dst, const T* src, std::size_t n,
                     chimex_stream_t stream) {
  const chime_collective_request request = request_to_reduce(kind, op, team, dst, src, n);
  return chime_host_collective_on_stream(&request, stream);
}

}  // namespace chime::on_host

#endif  // CHIME_ON_HOST_HPP_
