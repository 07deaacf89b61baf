// Firmware mailboxes by hand: a command's bytes and the fields of the few commands that tests send.
// The offsets are {byte, shift, width} of big-endian dwords. They were read from the PRM a second
// time, independently of softnic/firmware/prm.hpp.
#pragma once

#include <endian.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace direct {

struct Bits {
  unsigned byte, shift, width;
  constexpr std::uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
};

template <std::size_t kBytes>
struct Mailbox {
  alignas(8) std::array<std::uint8_t, kBytes> bytes{};

  Mailbox& set(Bits f, std::uint32_t value, unsigned base = 0) {
    std::uint32_t dword;
    std::memcpy(&dword, &bytes.at(base + f.byte), 4);
    dword = htobe32((be32toh(dword) & ~(f.mask() << f.shift)) | (value & f.mask()) << f.shift);
    std::memcpy(&bytes[base + f.byte], &dword, 4);
    return *this;
  }
  Mailbox& set64(unsigned byte, std::uint64_t value) {
    const std::uint64_t wire = htobe64(value);
    std::memcpy(&bytes.at(byte), &wire, 8);
    return *this;
  }
  std::uint32_t get(Bits f, unsigned base = 0) const {
    std::uint32_t dword;
    std::memcpy(&dword, &bytes.at(base + f.byte), 4);
    return be32toh(dword) >> f.shift & f.mask();
  }
};

namespace cmd {
constexpr std::uint32_t kQueryHcaCap = 0x100, kCreateMkey = 0x200, kCreateCq = 0x400,
                        kCreateQp = 0x500, kRst2Init = 0x502, kInit2Rtr = 0x503, kRtr2Rts = 0x504,
                        kRts2Rts = 0x505, k2Err = 0x507, k2Rst = 0x50a, kQueryQp = 0x50b,
                        kInit2Init = 0x50e;
constexpr Bits kOpcode{0x0, 16, 16}, kOpMod{0x4, 0, 16}, kStatus{0x0, 24, 8}, kSyndrome{0x4, 0, 32},
    kNumber{0x8, 0, 24};
}  // namespace cmd

namespace cqf {  // CREATE_CQ; context at 0x10
constexpr unsigned kContext = 0x10, kUmemOffset = 0x50, kDbrAddr = kContext + 0x38;
constexpr Bits kUmemId{0x58, 0, 32}, kUmemValid{0x5c, 31, 1};
constexpr Bits kDbrUmemValid{0x0, 25, 1}, kCqeSize{0x0, 21, 3}, kCollapsed{0x0, 20, 1},
    kOi{0x0, 17, 1}, kDbrUmemId{0x4, 0, 32}, kLogSize{0xc, 24, 5}, kUarPage{0xc, 0, 24},
    kEqn{0x14, 0, 8}, kLogPage{0x18, 24, 5};
}  // namespace cqf

namespace mkf {  // CREATE_MKEY; context at 0x10
constexpr unsigned kContext = 0x10, kLength = kContext + 0x18;
constexpr Bits kEntries{0x60, 0, 32};
constexpr Bits kAccessMode{0x0, 8, 2}, kPd{0xc, 0, 24}, kLogEntitySize{0x38, 0, 5};
}  // namespace mkf

namespace qpf {  // CREATE_QP, the modify commands and QUERY_QP's output; context at 0x18
constexpr unsigned kContext = 0x18, kUmemOffset = 0x100, kDbrAddr = kContext + 0xa0;
constexpr Bits kUmemId{0x108, 0, 32}, kUmemValid{0x10c, 31, 1};
constexpr Bits kState{0x0, 28, 4}, kService{0x0, 16, 8}, kPmState{0x0, 11, 2}, kPd{0x4, 0, 24},
    kMtu{0x8, 29, 3}, kLogMsgMax{0x8, 24, 5}, kLogRqSize{0x8, 19, 4}, kLogRqStride{0x8, 16, 3},
    kNoSq{0x8, 15, 1}, kLogSqSize{0x8, 11, 4}, kDataInOrder{0x8, 5, 1}, kUarPage{0xc, 0, 24},
    kUserIndex{0x10, 0, 24}, kRemoteQpn{0x14, 0, 24}, kPkeyIndex{0x18, 0, 16}, kRlid{0x1c, 0, 16},
    kAckTimeout{0x20, 27, 5}, kSrcAddrIndex{0x20, 16, 8}, kHopLimit{0x20, 0, 8}, kPort{0x3c, 16, 8},
    kRmacHigh{0x3c, 0, 16}, kRmacLow{0x40, 0, 32}, kUdpSport{0x38, 0, 16}, kLogSraMax{0x70, 21, 3},
    kRetryCount{0x70, 16, 3}, kRnrRetry{0x70, 13, 3}, kNextSendPsn{0x78, 0, 24},
    kCqnSnd{0x7c, 0, 24}, kLogRraMax{0x90, 21, 3}, kAtomicMode{0x90, 16, 4}, kRre{0x90, 15, 1},
    kRwe{0x90, 14, 1}, kRae{0x90, 13, 1}, kMinRnrNak{0x94, 24, 5}, kCqnRcv{0x9c, 0, 24},
    kQkey{0xa8, 0, 32}, kRqType{0xac, 24, 3}, kSrqn{0xac, 0, 24}, kDbrUmemValid{0xd0, 28, 1},
    kDbrUmemId{0xe4, 0, 32};
constexpr unsigned kRgid = 0x28;  // 16 bytes
}  // namespace qpf

using Command = Mailbox<272>;
using Answer = Mailbox<16>;

}  // namespace direct
