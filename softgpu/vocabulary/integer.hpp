// Integer arithmetic that C++ has no operator for, or that it leaves undefined and PTX does not.
#pragma once

#include "softgpu/vocabulary/values.hpp"

namespace softgpu {

template <class T>
inline constexpr u32 kBits = sizeof(T) * 8;

template <class T>
SOFTGPU_INLINE T shl(T a, u32 n) {
  using U = std::make_unsigned_t<T>;
  return n >= kBits<T> ? T{0} : static_cast<T>(static_cast<U>(a) << n);
}
template <class T>
SOFTGPU_INLINE T shr(T a, u32 n) {
  if (n >= kBits<T>) n = std::is_signed_v<T> ? kBits<T> - 1 : kBits<T>;
  return n == kBits<T> ? T{0} : static_cast<T>(a >> n);
}
// 32 bits of the 64 bits a:b, with b high: from the left or from the right.
SOFTGPU_INLINE u32 funnel_left(u32 a, u32 b, u32 n) {
  return static_cast<u32>(((u64{b} << 32 | a) << n) >> 32);
}
SOFTGPU_INLINE u32 funnel_right(u32 a, u32 b, u32 n) {
  return static_cast<u32>((u64{b} << 32 | a) >> n);
}

// The halves of a register, each of 16 bits.
template <class Half, class Act>
SOFTGPU_INLINE u32 of_pairs(u32 a, u32 b, Act act) {
  const auto low = static_cast<u16>(act(static_cast<Half>(a), static_cast<Half>(b)));
  const auto high = static_cast<u16>(act(static_cast<Half>(a >> 16), static_cast<Half>(b >> 16)));
  return u32{high} << 16 | low;
}
template <class Half>
SOFTGPU_INLINE u32 add_pairs(u32 a, u32 b) {
  return of_pairs<Half>(a, b, [](Half x, Half y) { return x + y; });
}
template <class Half>
SOFTGPU_INLINE u32 min_pairs(u32 a, u32 b) {
  return of_pairs<Half>(a, b, [](Half x, Half y) { return x < y ? x : y; });
}
template <class Half>
SOFTGPU_INLINE u32 max_pairs(u32 a, u32 b) {
  return of_pairs<Half>(a, b, [](Half x, Half y) { return x > y ? x : y; });
}

template <class T>
SOFTGPU_INLINE T mul_hi(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, s128, u128>;
  if constexpr (sizeof(T) < 8) {
    using Word = std::conditional_t<std::is_signed_v<T>, s64, u64>;
    return static_cast<T>((static_cast<Word>(a) * static_cast<Word>(b)) >> kBits<T>);
  } else {
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> kBits<T>);
  }
}

// The lowest 24 bits of each.
template <class T>
SOFTGPU_INLINE s64 mul24(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<s64>(shr(shl(a, 8), 8)) * shr(shl(b, 8), 8);
  } else {
    return static_cast<s64>(static_cast<u64>(a & 0xffffffu) * (b & 0xffffffu));
  }
}

// PTX does not define division by zero; a GPU gives all ones, and the dividend as the remainder.
template <class T>
SOFTGPU_INLINE T div(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return static_cast<T>(0 - static_cast<u64>(a));
  return static_cast<T>(a / b);
}
template <class T>
SOFTGPU_INLINE T rem(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
}

template <class T>
SOFTGPU_INLINE T abs(T a) {
  return a < 0 ? static_cast<T>(0 - static_cast<u64>(a)) : a;
}
// The value of T's range that is nearest to an s64.
template <class T>
SOFTGPU_INLINE T saturated(s64 value) {
  constexpr s64 kMost =
      std::is_signed_v<T> ? (s64{1} << (kBits<T> - 1)) - 1 : static_cast<s64>(static_cast<T>(-1));
  constexpr s64 kLeast = std::is_signed_v<T> ? -kMost - 1 : 0;
  return static_cast<T>(value < kLeast ? kLeast : value > kMost ? kMost : value);
}
template <class T>
SOFTGPU_INLINE T sad(T a, T b, T c) {
  return static_cast<T>(c + (a < b ? static_cast<T>(b - a) : static_cast<T>(a - b)));
}

// Bits [position, position + length) of a, extended by the highest of them where T is signed.
template <class T>
inline T bfe(T a, u32 b, u32 c) {
  using U = std::make_unsigned_t<T>;
  const u32 position = b & 255, length = c & 255;
  if (length == 0) return T{0};
  const u32 sign_at = position + length - 1 < kBits<T> ? position + length - 1 : kBits<T> - 1;
  const bool fill = std::is_signed_v<T> && (static_cast<U>(a) >> sign_at & 1);
  U result = shr(static_cast<U>(a), position);
  const u32 have = position >= kBits<T>           ? 0
                   : length < kBits<T> - position ? length
                                                  : kBits<T> - position;
  if (have < kBits<T>) {
    const U outside = static_cast<U>(~U{0} << have);
    result = static_cast<U>(fill ? result | outside : result & ~outside);
  }
  return static_cast<T>(result);
}
// b with the lowest `length` bits of a at `position`.
template <class T>
inline T bfi(T a, T b, u32 c, u32 d) {
  const u32 position = c & 255, length = d & 255;
  if (position >= kBits<T> || length == 0) return b;
  const T ones = length >= kBits<T> ? static_cast<T>(-1) : static_cast<T>((T{1} << length) - 1);
  const T mask = static_cast<T>(ones << position);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << position) & mask));
}
// The place of the highest bit that is not a sign; all ones if there is none.
template <class T>
inline u32 bfind(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
  return bits == 0 ? ~0u : kBits<T> - 1 - static_cast<u32>(std::countl_zero(bits));
}
template <class T>
inline u32 bfind_shift(T a) {
  const u32 place = bfind(a);
  return place == ~0u ? place : kBits<T> - 1 - place;
}
template <class T>
inline T brev(T a) {
  T result = 0;
  for (u32 i = 0; i < kBits<T>; ++i) result = static_cast<T>(result << 1 | (a >> i & 1));
  return result;
}
SOFTGPU_INLINE u32 popc(u64 a) { return static_cast<u32>(std::popcount(a)); }
template <class T>
SOFTGPU_INLINE u32 clz(T a) {
  return static_cast<u32>(std::countl_zero(a));
}

// Four bytes chosen from the eight of b:a, each by 4 bits of c; the highest of these replaces the
// byte by its sign in all bits.
inline u32 prmt(u32 a, u32 b, u32 c) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 selector = c >> (4 * i) & 15;
    u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
// The other modes, by the lowest two bits of c.
inline u32 prmt_of(u32 a, u32 b, const u16 (&selectors)[4], u32 c) {
  return prmt(a, b, selectors[c & 3]);
}
inline constexpr u16 kPrmt_f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543};
inline constexpr u16 kPrmt_b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
inline constexpr u16 kPrmt_rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333};
inline constexpr u16 kPrmt_ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
inline constexpr u16 kPrmt_ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210};
inline constexpr u16 kPrmt_rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};

// Any function of three bits, its eight results in `table`.
inline u32 lop3(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
  if (table & 1) result |= ~a & ~b & ~c;
  if (table & 2) result |= ~a & ~b & c;
  if (table & 4) result |= ~a & b & ~c;
  if (table & 8) result |= ~a & b & c;
  if (table & 16) result |= a & ~b & ~c;
  if (table & 32) result |= a & ~b & c;
  if (table & 64) result |= a & b & ~c;
  if (table & 128) result |= a & b & c;
  return result;
}

// Sums with the carry flag; a function of PTX has one such flag.
template <class T>
SOFTGPU_INLINE T add_carry(T a, T b, bool carry_in, bool* carry) {
  const u128 sum = static_cast<u128>(a) + b + (carry_in ? 1 : 0);
  *carry = (sum >> kBits<T>) != 0;
  return static_cast<T>(sum);
}
template <class T>
SOFTGPU_INLINE T sub_borrow(T a, T b, bool borrow_in, bool* borrow) {
  const u128 difference = static_cast<u128>(a) - b - (borrow_in ? 1 : 0);
  *borrow = (difference >> kBits<T>) != 0;
  return static_cast<T>(difference);
}

}  // namespace softgpu
