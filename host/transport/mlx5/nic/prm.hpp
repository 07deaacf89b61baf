// The firmware interface of mlx5 NICs as tables: commands, and the fields of their mailboxes as
// {byte, shift, width}. rdma-core installs no such header. Names follow the Programmer's Reference
// Manual; only what Chime uses is listed. Fields of qpc and cqc count from the start of the
// context.
#pragma once

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chime::host::mlx5::prm {

// `width` bits at `shift` of the big-endian dword at `byte`.
struct Field {
  std::uint16_t byte;
  std::uint8_t shift;
  std::uint8_t width;

  constexpr std::uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
  std::uint32_t get(const std::byte* base) const { return load(base) >> shift & mask(); }
  void set(std::byte* base, std::uint32_t value) const {
    const std::uint32_t others = load(base) & ~(mask() << shift);
    const std::uint32_t dword = htobe32(others | (value & mask()) << shift);
    std::memcpy(base + byte, &dword, sizeof dword);
  }

 private:
  std::uint32_t load(const std::byte* base) const {
    std::uint32_t dword;
    std::memcpy(&dword, base + byte, sizeof dword);
    return be32toh(dword);
  }
};

// A big-endian word of 64 bits.
struct Field64 {
  std::uint16_t byte;
  void set(std::byte* base, std::uint64_t value) const {
    const std::uint64_t word = htobe64(value);
    std::memcpy(base + byte, &word, sizeof word);
  }
};

enum Command : std::uint32_t {
  kQueryHcaCap = 0x100,
  kCreateCq = 0x400,
  kCreateQp = 0x500,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  kQp2Err = 0x507,
  kQueryQp = 0x50b,
};

namespace command {
inline constexpr std::size_t kBytes = 16;  // of the shortest input and output
inline constexpr Field kOpcode{0x00, 16, 16};
inline constexpr Field kOpMod{0x04, 0, 16};
inline constexpr Field kStatus{0x00, 24, 8};
inline constexpr Field kSyndrome{0x04, 0, 32};
inline constexpr Field kObject{0x08, 0, 24};  // qpn or cqn: created by, or named to, a command
}  // namespace command

namespace create_cq {
inline constexpr std::size_t kInBytes = 272;
inline constexpr std::size_t kContext = 0x10;
inline constexpr Field64 kUmemOffset{0x50};
inline constexpr Field kUmemId{0x58, 0, 32};
inline constexpr Field kUmemValid{0x5c, 31, 1};
}  // namespace create_cq

namespace cqc {
inline constexpr Field kDbrUmemValid{0x00, 25, 1};
inline constexpr Field kCollapsed{0x00, 20, 1};
inline constexpr Field kOverrunIgnore{0x00, 17, 1};
inline constexpr Field kDbrUmemId{0x04, 0, 32};
inline constexpr Field kLogCqSize{0x0c, 24, 5};
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kEqn{0x14, 0, 8};
inline constexpr Field64 kDbrAddress{0x38};
}  // namespace cqc

// Fields of CREATE_QP and of the commands that move a queue pair.
namespace qp_in {
inline constexpr std::size_t kInBytes = 272;
inline constexpr std::size_t kContext = 0x18;
inline constexpr Field64 kUmemOffset{0x100};
inline constexpr Field kUmemId{0x108, 0, 32};
inline constexpr Field kUmemValid{0x10c, 31, 1};
}  // namespace qp_in

namespace query_qp {
inline constexpr std::size_t kOutBytes = 272;
inline constexpr std::size_t kContext = 0x18;
}  // namespace query_qp

namespace qpc {
inline constexpr Field kPathMigration{0x00, 11, 2};
inline constexpr Field kPd{0x04, 0, 24};
inline constexpr Field kMtu{0x08, 29, 3};
inline constexpr Field kLogMessageMax{0x08, 24, 5};
inline constexpr Field kLogSqSize{0x08, 11, 4};  // log2 of 64-byte blocks
inline constexpr Field kDataInOrder{0x08, 5, 1};
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kUserIndex{0x10, 0, 24};
inline constexpr Field kRemoteQpn{0x14, 0, 24};
inline constexpr Field kLogSendReads{0x70, 21, 3};
inline constexpr Field kRetryCount{0x70, 16, 3};
inline constexpr Field kRnrRetry{0x70, 13, 3};
inline constexpr Field kNextSendPsn{0x78, 0, 24};
inline constexpr Field kSendCqn{0x7c, 0, 24};
inline constexpr Field kLogReceiveReads{0x90, 21, 3};
inline constexpr Field kAtomicMode{0x90, 16, 4};
inline constexpr Field kRemoteRead{0x90, 15, 1};
inline constexpr Field kRemoteWrite{0x90, 14, 1};
inline constexpr Field kRemoteAtomic{0x90, 13, 1};
inline constexpr Field kMinRnrNak{0x94, 24, 5};
inline constexpr Field kNextReceivePsn{0x94, 0, 24};
inline constexpr Field kReceiveCqn{0x9c, 0, 24};
inline constexpr Field64 kDbrAddress{0xa0};
inline constexpr Field kRqType{0xac, 24, 3};
inline constexpr Field kDbrUmemValid{0xd0, 28, 1};
inline constexpr Field kDbrUmemId{0xe4, 0, 32};

inline constexpr std::uint32_t kMigrated = 3;
inline constexpr std::uint32_t kAtomicsTo64Bits = 3;
inline constexpr std::uint32_t kRqZeroSize = 3;
}  // namespace qpc

// The primary path, counted from the start of the qpc.
namespace path {
inline constexpr Field kPkeyIndex{0x18, 0, 16};
inline constexpr Field kGrh{0x1c, 23, 1};
inline constexpr Field kRemoteLid{0x1c, 0, 16};
inline constexpr Field kAckTimeout{0x20, 27, 5};
inline constexpr Field kSourceGidIndex{0x20, 16, 8};
inline constexpr Field kHopLimit{0x20, 0, 8};
inline constexpr Field kTrafficClass{0x24, 20, 8};
inline constexpr std::size_t kRemoteGid = 0x28;
inline constexpr Field kDscp{0x38, 16, 6};
inline constexpr Field kUdpSourcePort{0x38, 0, 16};
inline constexpr Field kEthernetPriority{0x3c, 28, 3};
inline constexpr Field kServiceLevel{0x3c, 24, 4};
inline constexpr Field kPort{0x3c, 16, 8};
inline constexpr std::size_t kRemoteMac = 0x3e;  // 6 bytes
}  // namespace path

namespace query_hca_cap {
inline constexpr std::size_t kCapability = 0x10;
inline constexpr std::size_t kOutBytes = kCapability + 0x1000;
enum Type : std::uint32_t { kGeneral = 0, kAtomic = 3 };
inline constexpr std::uint32_t kCurrent = 1;
}  // namespace query_hca_cap

namespace cap {
inline constexpr Field kQpDataInOrder{0x0c, 29, 1};
inline constexpr Field kLogMaxQpSz{0x10, 16, 8};
inline constexpr Field kRelaxedOrderingWrite{0x1c, 23, 1};
inline constexpr Field kCqeVersion{0x3c, 0, 4};
inline constexpr Field kAtomic{0x40, 1, 1};
inline constexpr Field kCqOi{0x44, 31, 1};
}  // namespace cap

namespace atomic_cap {
inline constexpr Field k8bEndianness{0x08, 30, 2};  // 1: results of 8 bytes in host order
inline constexpr Field kOperations{0x10, 0, 16};
inline constexpr Field kSizeQp{0x14, 0, 16};  // bit 2: 4 bytes, bit 3: 8 bytes
}  // namespace atomic_cap

}  // namespace chime::host::mlx5::prm
