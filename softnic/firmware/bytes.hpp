// Big-endian words and bit fields, as in the NIC's formats.
#pragma once

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace softnic {

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline std::uint16_t load_be16(const void* from) { return be16toh(load<std::uint16_t>(from)); }
inline std::uint32_t load_be32(const void* from) { return be32toh(load<std::uint32_t>(from)); }
inline std::uint64_t load_be64(const void* from) { return be64toh(load<std::uint64_t>(from)); }
inline void store_be16(void* to, std::uint16_t value) { store(to, htobe16(value)); }
inline void store_be32(void* to, std::uint32_t value) { store(to, htobe32(value)); }
inline void store_be64(void* to, std::uint64_t value) { store(to, htobe64(value)); }

// A bit field: `width` bits at `shift` of the big-endian dword that starts at `byte`.
struct Field {
  std::uint16_t byte;
  std::uint8_t shift;
  std::uint8_t width;

  constexpr std::uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
  std::uint32_t get(const void* base) const {
    return load_be32(static_cast<const std::byte*>(base) + byte) >> shift & mask();
  }
  void set(void* base, std::uint32_t value) const {
    std::byte* dword = static_cast<std::byte*>(base) + byte;
    const std::uint32_t kept = load_be32(dword) & ~(mask() << shift);
    store_be32(dword, kept | (value & mask()) << shift);
  }
};

}  // namespace softnic
