// The values of translated code. Registers are unsigned words of their size, or f32 and f64 where
// PTX declares them so; each instruction says how to read them, and how its result goes back.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chime/device/simt/exec/cuda_names.hpp"
#include "softgpu/vocabulary/env.hpp"

#define SOFTGPU_INLINE [[gnu::always_inline]] inline

// A function that is compiled once for all kernels: a process may have plain and watched code.
#define SOFTGPU_EXPORTED extern "C" __attribute__((visibility("default")))
#if SOFTGPU_WATCHED
#define SOFTGPU_FUNCTION(name) softgpu_watched_##name
#else
#define SOFTGPU_FUNCTION(name) softgpu_plain_##name
#endif

namespace softgpu {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
using u128 = unsigned __int128;
using s128 = __int128;

// 16-bit floats are bits, computed in float: it has more than twice their digits, so that a sum,
// difference or product has the result of a single rounding.
struct f16 {
  u16 bits;
  f16() = default;
  explicit f16(f32 value) : bits(chime::exec::detail::half_bits(value)) {}
  explicit operator f32() const { return chime::exec::detail::half_value(bits); }
};
struct bf16 {
  u16 bits;
  bf16() = default;
  explicit bf16(f32 value) : bits(chime::exec::detail::bfloat16_bits(value)) {}
  explicit operator f32() const { return chime::exec::detail::bfloat16_value(bits); }
};

template <class T>
inline constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::same_as<T, f16> || std::same_as<T, bf16>;

template <std::size_t kBytes>
using WordOf = std::conditional_t<
    kBytes == 8, u64,
    std::conditional_t<kBytes == 4, u32, std::conditional_t<kBytes == 2, u16, u8>>>;

// A register, or its lowest bits, as a T. Registers of floats are floats.
template <class T, class R>
SOFTGPU_INLINE T as(R value) {
  if constexpr (std::same_as<T, R>) {
    return value;
  } else if constexpr (std::is_floating_point_v<R>) {
    return as<T>(std::bit_cast<WordOf<sizeof(R)>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return std::bit_cast<T>(static_cast<WordOf<sizeof(T)>>(value));
  }
}

// A result in a register: in a wider register a signed one is extended by its sign.
template <class R, class T>
SOFTGPU_INLINE R word(T value) {
  if constexpr (std::same_as<R, T>) {
    return value;
  } else if constexpr (std::is_floating_point_v<R>) {
    return std::bit_cast<R>(word<WordOf<sizeof(R)>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<R>(value);
  } else {
    return static_cast<R>(std::bit_cast<WordOf<sizeof(T)>>(value));
  }
}

// The bits of the NaN that arithmetic produces.
template <class T>
SOFTGPU_INLINE T canonical_nan() {
  if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(u16{0x7fff});
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(u32{0x7fffffff});
  } else {
    return std::bit_cast<T>(u64{0x7ff8000000000000});
  }
}

}  // namespace softgpu
