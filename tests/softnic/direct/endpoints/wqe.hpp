// Work requests by hand: the bytes of one send WQE, segment by segment, after the PRM and the notes
// in softnic/README.md. Nothing here comes from the softnic's own tables, so a wrong constant on
// one side shows.
#pragma once

#include <endian.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace direct {

enum Op : std::uint8_t {
  kNop = 0x00,
  kSendInvalidate = 0x01,
  kWrite = 0x08,
  kWriteImm = 0x09,
  kSend = 0x0a,
  kSendImm = 0x0b,
  kRead = 0x10,
  kCompareSwap = 0x11,
  kFetchAdd = 0x12,
  kMaskedCompareSwap = 0x14,
  kMaskedFetchAdd = 0x15,
  kDump = 0x23,
};

// When a WQE causes a CQE.
enum class Ce : std::uint8_t { kOnError = 0, kOnFirstError = 1, kAlways = 2, kWithEvent = 3 };

enum class Fence : std::uint8_t {
  kNone = 0,
  kSmall = 1,
  kFence = 2,
  kStrong = 3,
  kFenceAndSmall = 4
};

constexpr std::uint8_t kExtended4 = 0x08;  // opmod of the masked atomics
constexpr std::uint8_t kExtended8 = 0x09;

class Wqe {
 public:
  explicit Wqe(std::uint8_t opcode, std::uint8_t opmod = 0) : bytes_(16) {
    bytes_[0] = opmod;
    bytes_[3] = opcode;
    signalled(Ce::kAlways);
  }

  Wqe& signalled(Ce mode) { return set_modes(0x0c, static_cast<unsigned>(mode) << 2); }
  Wqe& fenced(Fence mode) { return set_modes(0xe0, static_cast<unsigned>(mode) << 5); }
  Wqe& solicited() { return set_modes(0x02, 0x02); }
  Wqe& immediate(std::uint32_t host_order) {
    const std::uint32_t wire = htobe32(host_order);
    std::memcpy(&bytes_[12], &wire, 4);
    return *this;
  }
  Wqe& remote(const void* address, std::uint32_t rkey) {
    return u64(reinterpret_cast<std::uint64_t>(address)).u32(rkey).u32(0);
  }
  Wqe& data(const void* address, std::uint32_t count, std::uint32_t lkey) {
    return u32(count).u32(lkey).u64(reinterpret_cast<std::uint64_t>(address));
  }
  Wqe& inlined(const void* from, std::uint32_t count) {
    u32(0x80000000u | count);
    const auto* at = static_cast<const std::uint8_t*>(from);
    bytes_.insert(bytes_.end(), at, at + count);
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    return *this;
  }
  // A UD address vector: the bytes of ibv_create_ah's object, with key and queue pair.
  Wqe& vector(std::span<const std::uint8_t> path, std::uint32_t qkey, std::uint32_t qpn) {
    u32(qkey).u32(0).u32(0x80000000u | qpn);
    bytes_.insert(bytes_.end(), path.begin(), path.end());
    return *this;
  }
  Wqe& u32(std::uint32_t value) { return append(htobe32(value)); }
  Wqe& u64(std::uint64_t value) { return append(htobe64(value)); }

  std::vector<std::uint8_t>& bytes() { return bytes_; }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  unsigned segments() const { return static_cast<unsigned>(bytes_.size() / 16); }
  unsigned blocks() const { return (segments() + 3) / 4; }

 private:
  template <class T>
  Wqe& append(T value) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), at, at + sizeof value);
    return *this;
  }
  Wqe& set_modes(unsigned mask, unsigned bits) {
    bytes_[11] = static_cast<std::uint8_t>((bytes_[11] & ~mask) | bits);
    return *this;
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace direct
