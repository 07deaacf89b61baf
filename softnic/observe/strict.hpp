// Reports, by name, what would silently corrupt data on hardware, or what hardware would refuse
// without a reason. Each name is reported once for each queue pair, with the bytes.
// SOFTNIC_STRICT=0 turns the reports off; errors of hardware itself stay errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "softnic/firmware/objects.hpp"

namespace softnic::strict {

// One violation: `name` is stable and documented in docs/softnic.md.
[[gnu::format(printf, 3, 4)]] void report(const char* name, std::uint32_t qpn, const char* format,
                                          ...);

// As above, followed by a dump of `bytes`.
void report_bytes(const char* name, std::uint32_t qpn, std::span<const std::byte> bytes);

// An access to memory by a key.
struct Attempt {
  const char* key_name;
  std::uint32_t key;
  std::uint64_t address;
  std::uint64_t bytes;
};
void report_access(const char* name, std::uint32_t qpn, const Attempt& attempt);

// The queue pair is gone; its number may be used again.
void forget(std::uint32_t qpn);

// How many violations this process reported.
std::uint64_t count();

// A hash of the WQE's bytes in the send ring, to be compared before it completes.
std::uint64_t fingerprint(const QueuePair& qp, std::uint32_t first_block, std::uint32_t blocks);

// Reports "wqe-changed" if the program wrote to the WQE between its doorbell and its completion.
void check_unchanged(const QueuePair& qp, const Outstanding& outstanding);

}  // namespace softnic::strict
