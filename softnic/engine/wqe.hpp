// Work requests as a NIC reads them: the send queue's WQE decoded into a `Request`, receive WQEs
// into a scatter list, and the completion a NIC writes. Layouts: PRM, "Work Queue Entries" and
// "Completion Queue Entry".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "softnic/firmware/bytes.hpp"
#include "softnic/wire/path.hpp"

namespace softnic {

inline constexpr std::size_t kBlock = 64;    // a WQEBB
inline constexpr std::size_t kSegment = 16;  // unit of `ds`
inline constexpr std::size_t kMaxWqe = 63 * kSegment;
inline constexpr std::uint32_t kEndOfListKey =
    0x100;  // lkey that ends a receive WQE's scatter list

enum class Opcode : std::uint8_t {
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
const char* name_of(Opcode opcode);

// A piece of a message: registered memory, or bytes in the work request itself.
struct ScatterEntry {
  std::uint64_t address;  // of an inline piece: its offset in Request::inlined
  std::uint32_t bytes;
  std::uint32_t lkey;
  bool is_inline = false;
};

struct AtomicOperands {
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;  // for masked fetch-add: the field boundary
  std::uint64_t swap_mask = 0;
  std::uint64_t compare_mask = 0;
  std::uint8_t bytes = 0;  // 4 or 8; 0 = not an atomic
};

// An address vector: the destination of a datagram.
struct Destination {
  std::uint32_t qpn = 0;
  std::uint32_t qkey = 0;
  Path path;
};

struct Request {
  Opcode opcode{};
  std::uint8_t opmod = 0;
  std::uint16_t index = 0;  // WQE index as written in the control segment
  std::uint32_t qpn = 0;
  std::uint32_t segments = 0;  // ds
  bool solicited = false;
  bool fenced = false;  // waits for earlier reads and atomics of this queue pair
  std::uint8_t completion_mode =
      0;  // CE: 0 only on error, 1 only on first error, 2 always, 3 with event
  std::uint32_t immediate = 0;  // in wire order
  std::uint64_t remote_address = 0;
  std::uint32_t rkey = 0;
  AtomicOperands atomic;
  Destination destination;  // datagrams only
  std::vector<ScatterEntry> list;
  std::vector<std::byte> inlined;    // the bytes of all inline pieces
  std::uint64_t bytes = 0;           // payload: all pieces
  const char* suspicious = nullptr;  // hardware may ignore it; strict mode reports it

  std::uint32_t blocks() const { return (segments + 3) / 4; }
  bool is_read() const { return opcode == Opcode::kRead || is_atomic(); }
  bool is_atomic() const { return atomic.bytes != 0; }
  bool is_write() const { return opcode == Opcode::kWrite || opcode == Opcode::kWriteImm; }
  bool is_send() const {
    return opcode == Opcode::kSend || opcode == Opcode::kSendImm ||
           opcode == Opcode::kSendInvalidate;
  }
  bool has_immediate() const { return opcode == Opcode::kWriteImm || opcode == Opcode::kSendImm; }
  bool wants_completion() const { return completion_mode >= 2; }
};

// Decodes `wqe` (complete, unwrapped). Returns null on success, else a short name of the error;
// then `request` has what was decoded before. `datagram`: the queue pair is UD, an address vector
// follows.
const char* decode_send_wqe(std::span<const std::byte> wqe, bool datagram, Request& request);

// The first dwords alone: enough to know how long the WQE is.
std::uint32_t segments_of(const std::byte* control_segment);

// A receive WQE of `stride` bytes with its scatter list at `list_offset` (16 after an SRQ's next
// segment).
std::vector<ScatterEntry> decode_receive_wqe(const std::byte* wqe, std::size_t stride,
                                             std::size_t list_offset);

// ---- Completions --------------------------------------------------------------------------------

enum class CqeOpcode : std::uint8_t {
  kRequest = 0x0,
  kResponderWriteImm = 0x1,
  kResponderSend = 0x2,
  kResponderSendImm = 0x3,
  kResponderSendInvalidate = 0x4,
  kRequestError = 0xd,
  kResponderError = 0xe,
  kInvalid = 0xf,
};

enum class Syndrome : std::uint8_t {
  kNone = 0x00,
  kLocalLength = 0x01,
  kLocalQpOperation = 0x02,
  kLocalProtection = 0x04,
  kFlushed = 0x05,
  kBadResponse = 0x10,
  kLocalAccess = 0x11,
  kRemoteInvalidRequest = 0x12,
  kRemoteAccess = 0x13,
  kRemoteOperation = 0x14,
  kTransportRetryExceeded = 0x15,
  kRnrRetryExceeded = 0x16,
  kRemoteAborted = 0x22,
};
const char* name_of(Syndrome syndrome);

struct Completion {
  CqeOpcode opcode = CqeOpcode::kRequest;
  Syndrome syndrome = Syndrome::kNone;
  Opcode send_opcode{};  // of the WQE that completed (requester)
  std::uint32_t qpn = 0;
  std::uint32_t user_index = 0;  // of the queue pair, or the SRQ number
  std::uint16_t counter = 0;     // index of the WQE's first block
  std::uint32_t bytes = 0;
  std::uint32_t immediate = 0;  // in wire order
  std::uint32_t remote_qpn = 0;
  bool solicited = false;
  bool with_event = false;        // CE 3: fires the queue's event as a solicited one does
  bool has_global_route = false;  // datagram whose first 40 bytes are a GRH
};

// The 64 bytes of a CQE. `owner` is the lap bit of the queue.
void encode_cqe(const Completion& completion, bool owner, std::byte (&cqe)[64]);

}  // namespace softnic
