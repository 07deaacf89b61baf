// The packets between two NICs: a header, then payload. One message of a queue pair is one or more
// packets, in order; the requester numbers a queue pair's messages (`sequence`), and they are
// answered in that order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softnic {

enum class PacketKind : std::uint8_t {
  kWrite = 1,  // payload for remote memory; the last packet may carry an immediate
  kSend,       // payload for a receive WQE
  kRead,       // asks for `total` bytes
  kAtomic,     // asks for an atomic on one word
  kAck,        // every write and send of `dst_qpn` up to `sequence` is done
  kNak,        // message `sequence` failed with `syndrome`
  kReadData,   // answer to kRead and kAtomic
};

enum PacketFlag : std::uint8_t {
  kLast = 1,  // last packet of its message
  kImmediate = 2,
  kSolicited = 4,
  kInvalidate = 8,
  kUnreliable = 16,  // UC and UD: never answered
  kDatagram = 32,    // UD: a 40-byte global route header precedes the payload at the receiver
};

inline constexpr std::size_t kMaxPayload = 16 * 1024;  // of one packet

struct PacketHeader {
  PacketKind kind{};
  std::uint8_t flags = 0;
  std::uint8_t syndrome = 0;
  std::uint8_t atomic_opcode = 0;
  std::uint8_t atomic_bytes = 0;
  std::uint8_t rnr_retry = 0;  // how often the requester would retry; 7 = for ever
  std::uint8_t path_mtu = 0;   // the requester's, enum ibv_mtu
  std::uint8_t max_reads = 0;  // that the requester would have in flight
  std::uint32_t dst_qpn = 0;
  std::uint32_t src_qpn = 0;
  std::uint32_t sequence = 0;
  std::uint32_t payload = 0;  // bytes that follow this header
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;  // wire order
  std::uint32_t qkey = 0;
  std::uint32_t psn = 0;  // the first of the requester's packet numbers
  std::uint64_t address = 0;
  std::uint64_t total = 0;   // bytes of the whole message
  std::uint64_t offset = 0;  // of this packet's payload in the message
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  std::uint64_t swap_mask = 0;
  std::uint64_t compare_mask = 0;

  bool is_last() const { return flags & kLast; }

  // The properties that the receiver relies on. The other fields may have any value: the receiver
  // checks them.
  bool is_sound() const {
    if (payload > kMaxPayload || offset > total || payload > total - offset) return false;
    if (path_mtu > 5) return false;  // IBV_MTU_4096
    return kind != PacketKind::kAtomic || atomic_bytes == 4 || atomic_bytes == 8;
  }
};
static_assert(sizeof(PacketHeader) == 96);

// A queue pair number names its NIC: the upper 12 bits are the NIC's address on the link.
inline constexpr std::uint32_t kQpIndexBits = 12;
inline constexpr std::uint32_t kQpsPerNic = 1u << kQpIndexBits;
// Syndrome of a kNak that only says: no queue pair listens there (yet). Hardware would stay silent.
inline constexpr std::uint8_t kNobodyThere = 0xff;

inline std::uint32_t nic_of(std::uint32_t qpn) { return qpn >> kQpIndexBits; }

}  // namespace softnic
