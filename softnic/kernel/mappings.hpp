// The program's mapping at an address. The kernel answers, because the NIC must not touch memory
// that is not mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softnic {

inline constexpr std::uint64_t kPageBytes = 4096;

// Whether all of [start, start + bytes) is mapped, with any protection.
bool is_mapped(std::uint64_t start, std::uint64_t bytes);

// Whether memory there could be pinned for a device that reads it, or that also writes it: no hole,
// and every mapping permits it. Costs by the mapping, not by the page: a region may be a
// reservation of terabytes.
enum class Use : std::uint8_t { kRead, kWrite };
bool can_pin(std::uint64_t start, std::uint64_t bytes, Use use);

// The same for a doorbell record: two words that the device reads.
inline bool can_pin_record(std::uint64_t address) {
  return address % 4 == 0 && can_pin(address, 8, Use::kRead);
}

// Whether the program may read all of it. Reads one byte of each page: for messages, not for
// regions.
bool is_readable(std::uint64_t start, std::uint64_t bytes);

// Copies into the program's memory; false if it may not be written.
bool copy_out(std::uint64_t to, const void* from, std::size_t bytes);

}  // namespace softnic
