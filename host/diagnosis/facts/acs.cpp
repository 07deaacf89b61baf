#include "host/diagnosis/facts/acs.hpp"

#include <cstdint>

namespace chime::doctor {
namespace {

// Linux: include/uapi/linux/pci_regs.h. Extended capabilities are a list: id in 16 bits, version in
// 4, the next one's offset in 12.
constexpr std::size_t kFirst = 0x100;
constexpr std::uint32_t kAcs = 0x0d;
constexpr std::size_t kControl = 6;
constexpr std::uint32_t kRequest = 0x04, kCompletion = 0x08, kUpstream = 0x10;

std::uint32_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count && at + i < bytes.size(); ++i)
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

}  // namespace

std::optional<bool> redirects_peers(const std::string& config) {
  if (config.size() < kFirst) return std::nullopt;
  std::size_t at = kFirst;
  for (int hops = 0; at >= kFirst && at < config.size() && hops < 64; ++hops) {
    const std::uint32_t header = little_endian(config, at, 4);
    if ((header & 0xffff) == kAcs)
      return (little_endian(config, at + kControl, 2) & (kRequest | kCompletion | kUpstream)) != 0;
    at = header >> 20;
  }
  return false;
}

}  // namespace chime::doctor
