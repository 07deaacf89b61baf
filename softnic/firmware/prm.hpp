// The firmware interface of an mlx5 device as tables: command opcodes, statuses, and the fields of
// its mailboxes as {byte, shift, width}. Field names follow the Programmer's Reference Manual.
// Lists only what the softnic reads or writes. Offsets of qpc fields are relative to the queue pair
// context, those of cqc to the CQ context.
#pragma once

#include "bytes.hpp"

namespace softnic::prm {

enum Command : std::uint32_t {
  kQueryHcaCap = 0x100,
  kCreateMkey = 0x200,
  kCreateCq = 0x400,
  kDestroyCq = 0x401,
  kCreateQp = 0x500,
  kDestroyQp = 0x501,
  kRst2Init = 0x502,
  kInit2Rtr = 0x503,
  kRtr2Rts = 0x504,
  kRts2Rts = 0x505,
  kSqerr2Rts = 0x506,
  k2Err = 0x507,
  k2Rst = 0x50a,
  kQueryQp = 0x50b,
  kInit2Init = 0x50e,
  kQueryLag = 0x842,
  kCreateRmp = 0x90c,
};

// Status byte of a command's output.
enum Status : std::uint32_t {
  kOk = 0x0,
  kInternalError = 0x1,
  kBadOp = 0x2,
  kBadParam = 0x3,
  kBadResource = 0x5,
  kBadResourceState = 0x9,
  kLimitExceeded = 0x8,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
};

namespace command {
inline constexpr Field kOpcode{0x00, 16, 16};
inline constexpr Field kOpMod{0x04, 0, 16};
inline constexpr Field kStatus{0x00, 24, 8};
inline constexpr Field kSyndrome{0x04, 0, 32};
inline constexpr Field kObjectNumber{0x08, 0,
                                     24};  // qpn or cqn: in of modify and destroy, out of create
inline constexpr std::size_t kInBytes = 16, kOutBytes = 16;  // at least
}  // namespace command

namespace create_cq {
inline constexpr std::size_t kInBytes = 272;
inline constexpr std::size_t kContext = 0x10;
inline constexpr std::size_t kUmemOffset = 0x50;  // be64
inline constexpr Field kUmemId{0x58, 0, 32};
inline constexpr Field kUmemValid{0x5c, 31, 1};
}  // namespace create_cq

namespace cqc {
inline constexpr Field kDbrUmemValid{0x00, 25, 1};
inline constexpr Field kCqeSize{0x00, 21, 3};  // 0: 64 bytes, 1: 128 bytes
inline constexpr Field kCollapsed{0x00, 20, 1};
inline constexpr Field kOverrunIgnore{0x00, 17, 1};
inline constexpr Field kDbrUmemId{0x04, 0, 32};
inline constexpr Field kLogCqSize{0x0c, 24, 5};
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kEqn{0x14, 0, 8};
inline constexpr std::size_t kDbrAddr = 0x38;  // be64, offset in the doorbell record's umem
}  // namespace cqc

namespace create_qp {
inline constexpr std::size_t kInBytes = 272;
inline constexpr std::size_t kContext = 0x18;
inline constexpr std::size_t kUmemOffset = 0x100;  // be64
inline constexpr Field kUmemId{0x108, 0, 32};
inline constexpr Field kUmemValid{0x10c, 31, 1};
}  // namespace create_qp

namespace modify_qp {
inline constexpr Field kOptParamMask{0x10, 0, 32};
inline constexpr std::uint32_t kOptRre = 1 << 1, kOptRae = 1 << 2, kOptRwe = 1 << 3,
                               kOptQkey = 1 << 5, kOptRnrTimeout = 1 << 6;
}  // namespace modify_qp

namespace create_mkey {
inline constexpr std::size_t kContext = 0x10;
inline constexpr Field kEntries{0x60, 0, 32};  // translations_octword_actual_size
inline constexpr std::size_t kList = 0x110;    // of 16-byte entries
inline constexpr std::size_t kEntryBytes = 16;
inline constexpr Field kEntryKey{0x04, 0, 32};
inline constexpr std::size_t kEntryAddress = 0x08;  // be64
}  // namespace create_mkey

namespace mkc {
inline constexpr Field kAccessModeHigh{0x00, 26, 3};
inline constexpr Field kAtomic{0x00, 14, 1};
inline constexpr Field kRemoteWrite{0x00, 13, 1};
inline constexpr Field kRemoteRead{0x00, 12, 1};
inline constexpr Field kLocalWrite{0x00, 11, 1};
inline constexpr Field kAccessMode{0x00, 8, 2};
inline constexpr Field kVariant{0x04, 0, 8};
inline constexpr Field kPd{0x0c, 0, 24};
inline constexpr std::size_t kStartAddress = 0x10;  // be64
inline constexpr std::size_t kLength = 0x18;        // be64
inline constexpr Field kLogEntitySize{0x38, 0, 5};
}  // namespace mkc
inline constexpr std::uint32_t kAccessModeKsm =
    3;  // a list of pieces of one size, each of another key

// A receive memory pool: the shared receive queue of DevX programs.
namespace create_rmp {
inline constexpr std::size_t kInBytes = 272;
inline constexpr std::size_t kWorkQueue = 0x50;  // of the RMP context at 0x20
}  // namespace create_rmp

namespace wq {
inline constexpr Field kType{0x00, 28, 4};  // 0: entries form a list, 1: a ring
inline constexpr Field kPd{0x08, 0, 24};
inline constexpr std::size_t kDbrAddr = 0x10;  // be64
inline constexpr Field kLogStride{0x20, 16, 4};
inline constexpr Field kLogSize{0x20, 0, 5};
inline constexpr Field kDbrUmemId{0x28, 0, 32};
inline constexpr Field kUmemId{0x2c, 0, 32};
}  // namespace wq

namespace qpc {
inline constexpr std::size_t kBytes = 232;
inline constexpr Field kPathMigration{0x00, 11, 2};
inline constexpr Field kServiceType{0x00, 16, 8};  // 0 RC, 1 UC, 3 UD, 5 DCI
inline constexpr Field kPd{0x04, 0, 24};
inline constexpr Field kMtu{0x08, 29, 3};
inline constexpr Field kLogMessageMax{0x08, 24, 5};
inline constexpr Field kLogRqSize{0x08, 19, 4};
inline constexpr Field kLogRqStride{0x08, 16, 3};  // log2(bytes) - 4
inline constexpr Field kNoSq{0x08, 15, 1};
inline constexpr Field kLogSqSize{0x08, 11, 4};   // log2 of 64-byte blocks
inline constexpr Field kDataInOrder{0x08, 5, 1};  // QUERY_QP: data is placed in sending order
inline constexpr Field kUarPage{0x0c, 0, 24};
inline constexpr Field kUserIndex{0x10, 0, 24};
inline constexpr Field kRemoteQpn{0x14, 0, 24};
inline constexpr Field kRetryCount{0x70, 16, 3};
inline constexpr Field kRnrRetry{0x70, 13, 3};
inline constexpr Field kCqnSnd{0x7c, 0, 24};
inline constexpr Field kAtomicMode{0x90, 16, 4};
inline constexpr Field kRre{0x90, 15, 1};
inline constexpr Field kRwe{0x90, 14, 1};
inline constexpr Field kRae{0x90, 13, 1};
inline constexpr Field kMinRnrNak{0x94, 24, 5};
inline constexpr Field kCqnRcv{0x9c, 0, 24};
inline constexpr std::size_t kDbrAddr = 0xa0;  // be64
inline constexpr Field kQkey{0xa8, 0, 32};
inline constexpr Field kRqType{0xac, 24, 3};  // 0 regular, 1 SRQ, 3 zero size
inline constexpr Field kSrqn{0xac, 0, 24};
inline constexpr Field kDbrUmemValid{0xd0, 28, 1};
inline constexpr Field kDbrUmemId{0xe4, 0, 32};
inline constexpr Field kLogSraMax{0x70, 21, 3};  // reads and atomics in flight, as requester
inline constexpr Field kNextSendPsn{0x78, 0, 24};
inline constexpr Field kLogRraMax{0x90, 21, 3};  // and as responder
inline constexpr Field kNextReceivePsn{0x94, 0, 24};
// The primary path.
inline constexpr Field kPkeyIndex{0x18, 0, 16};
inline constexpr Field kGrh{0x1c, 23, 1};
inline constexpr Field kRlid{0x1c, 0, 16};
inline constexpr Field kAckTimeout{0x20, 27, 5};
inline constexpr Field kSrcAddrIndex{0x20, 16, 8};
inline constexpr Field kHopLimit{0x20, 0, 8};
inline constexpr Field kTrafficClass{0x24, 20, 8};
inline constexpr std::size_t kRgid = 0x28;  // 16 bytes
inline constexpr Field kDscp{0x38, 16, 6};
inline constexpr Field kUdpSourcePort{0x38, 0, 16};
inline constexpr Field kEthernetPriority{0x3c, 28, 3};
inline constexpr Field kServiceLevel{0x3c, 24, 4};
inline constexpr Field kVhcaPort{0x3c, 16, 8};
inline constexpr std::size_t kRmac = 0x3e;   // 6 bytes
inline constexpr Field kState{0x00, 28, 4};  // only in QUERY_QP's output
}  // namespace qpc

enum ServiceType : std::uint32_t { kRc = 0, kUc = 1, kUd = 3 };
enum RqType : std::uint32_t { kRqRegular = 0, kRqSrq = 1, kRqZeroSize = 3 };

namespace query_hca_cap {
inline constexpr std::size_t kCapability = 0x10;  // start of the capability structure in the output
inline constexpr std::size_t kMinOutBytes = 0x110;
enum Type : std::uint32_t { kGeneral = 0, kAtomic = 3 };  // op_mod >> 1
}  // namespace query_hca_cap

namespace cap {
inline constexpr Field kQpDataInOrder{0x0c, 29, 1};  // queue pairs report qpc::kDataInOrder
inline constexpr Field kLogMaxQpSz{0x10, 16, 8};
inline constexpr Field kLogMaxQp{0x10, 0, 5};
inline constexpr Field kLogMaxCqSz{0x18, 16, 8};
inline constexpr Field kLogMaxCq{0x18, 0, 5};
inline constexpr Field kFixedBufferSize{0x20, 23, 1};  // keys in mode KSM
inline constexpr Field kPortType{0x34, 8, 2};          // 0 InfiniBand, 1 Ethernet
inline constexpr Field kNumPorts{0x34, 0, 8};
inline constexpr Field kLogMaxMsg{0x38, 24, 5};
inline constexpr Field kCqeVersion{0x3c, 0, 4};
inline constexpr Field kAtomic{0x40, 1, 1};
inline constexpr Field kUmrModifyAtomicDisabled{0x40, 23, 1};
inline constexpr Field kCqOi{0x44, 31, 1};
inline constexpr Field kUar4k{0x48, 31, 1};
inline constexpr Field kLogBfRegSize{0x4c, 16, 5};
inline constexpr Field kLogMaxRmp{0x70, 24, 5};
}  // namespace cap

namespace atomic_cap {
inline constexpr Field k8bEndianness{0x08, 30, 2};  // 1: eight-byte results in host order
inline constexpr Field kOperations{0x10, 0,
                                   16};       // compare-swap, fetch-add, masked forms: bits 0..3
inline constexpr Field kSizeQp{0x14, 0, 16};  // log2-coded sizes: bit 2 = 4 bytes, bit 3 = 8 bytes
inline constexpr Field kSizeDc{0x18, 0, 16};
}  // namespace atomic_cap

}  // namespace softnic::prm
