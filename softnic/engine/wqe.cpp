#include "wqe.hpp"

#include <ctime>

namespace softnic {
namespace {

constexpr std::uint32_t kInlineBit = 0x80000000u;
constexpr std::uint32_t kInlineBytes = 0x3ff;  // the bits of its length; those between are reserved
constexpr std::size_t kUdAddressVector = 48;
constexpr std::uint32_t kExtendedVector =
    0x80000000u;  // set: the vector is complete. Devices that take halves report that, this one
                  // does not
constexpr std::uint8_t kFenceModeInitiator = 2;  // and above: waits for outstanding reads
constexpr std::uint8_t kLastFenceMode = 4;
constexpr std::uint8_t kVendorError = 0x77;

// Reads a WQE segment by segment; `ok` turns false when it would run past `ds`.
struct Cursor {
  std::span<const std::byte> wqe;
  std::size_t at = 0;

  bool has(std::size_t bytes) const { return at + bytes <= wqe.size(); }
  const std::byte* take(std::size_t bytes) {
    const std::byte* segment = wqe.data() + at;
    at += bytes;
    return segment;
  }
};

bool is_remote_access(Opcode opcode) {
  switch (opcode) {
    case Opcode::kWrite:
    case Opcode::kWriteImm:
    case Opcode::kRead:
    case Opcode::kCompareSwap:
    case Opcode::kFetchAdd:
    case Opcode::kMaskedCompareSwap:
    case Opcode::kMaskedFetchAdd:
      return true;
    default:
      return false;
  }
}

const char* decode_plain_atomic(Cursor& cursor, Request& request) {
  if (request.opmod != 0) return "opcode-mode";
  if (!cursor.has(kSegment)) return "ds-too-small";
  const std::byte* segment = cursor.take(kSegment);
  request.atomic = {load_be64(segment), load_be64(segment + 8), ~0ull, ~0ull, 8};
  return nullptr;
}

// Extended atomics: opmod 0x08 is 4 bytes, 0x09 is 8 bytes. An eight-byte masked compare-swap takes
// two segments.
const char* decode_masked_atomic(Cursor& cursor, Request& request) {
  if (request.opmod != 0x08 && request.opmod != 0x09) return "opcode-mode";
  const bool eight = request.opmod == 0x09;
  const bool swap = request.opcode == Opcode::kMaskedCompareSwap;
  const std::size_t bytes = swap && eight ? 2 * kSegment : kSegment;
  if (!cursor.has(bytes)) return "ds-too-small";
  const std::byte* s = cursor.take(bytes);
  AtomicOperands& atomic = request.atomic;
  atomic.bytes = eight ? 8 : 4;
  if (eight) {
    atomic.swap_or_add = load_be64(s);
    atomic.compare = load_be64(s + 8);
    if (swap) atomic.swap_mask = load_be64(s + 16), atomic.compare_mask = load_be64(s + 24);
  } else {
    atomic.swap_or_add = load_be32(s);
    atomic.compare = load_be32(s + 4);
    if (swap) atomic.swap_mask = load_be32(s + 8), atomic.compare_mask = load_be32(s + 12);
    if (!swap && load<std::uint64_t>(s + 8) != 0) request.suspicious = "reserved-bits";
  }
  return nullptr;
}

const char* decode_data(Cursor& cursor, Request& request) {
  while (cursor.has(kSegment)) {
    const std::byte* segment = cursor.wqe.data() + cursor.at;
    const std::uint32_t count = load_be32(segment);
    if (count & kInlineBit) {
      const std::size_t bytes = count & kInlineBytes;
      if (count & ~(kInlineBit | kInlineBytes)) request.suspicious = "reserved-bits";
      const std::size_t padded = (4 + bytes + kSegment - 1) / kSegment * kSegment;
      if (!cursor.has(padded)) return "inline-past-ds";
      cursor.take(padded);
      request.list.push_back(
          {request.inlined.size(), static_cast<std::uint32_t>(bytes), 0, /*is_inline=*/true});
      request.inlined.insert(request.inlined.end(), segment + 4, segment + 4 + bytes);
      request.bytes += bytes;
    } else {
      cursor.take(kSegment);
      if (count == 0) {
        request.suspicious = "data-of-no-bytes";  // hardware reads 0 as 2^31
        continue;
      }
      request.list.push_back({load_be64(segment + 8), count, load_be32(segment + 4)});
      request.bytes += count;
    }
  }
  return nullptr;
}

Destination decode_address_vector(const std::byte* vector) {
  Destination to;
  to.qkey = load_be32(vector);
  to.qpn = load_be32(vector + 8) & 0xffffff;
  to.path.lid = load_be16(vector + 14);
  std::memcpy(to.path.mac.data(), vector + 20, to.path.mac.size());
  std::memcpy(to.path.gid.data(), vector + 32, to.path.gid.size());
  return to;
}

bool is_address_vector_clean(const std::byte* vector) {
  return load_be32(vector + 4) == 0 && (load_be32(vector + 8) & kExtendedVector) &&
         load_be32(vector + 16) == 0;
}

bool is_known(Opcode opcode) {
  return is_remote_access(opcode) || opcode == Opcode::kNop || opcode == Opcode::kSend ||
         opcode == Opcode::kSendImm || opcode == Opcode::kSendInvalidate || opcode == Opcode::kDump;
}

}  // namespace

std::uint32_t segments_of(const std::byte* control_segment) {
  return load_be32(control_segment + 4) & 0x3f;
}

const char* decode_send_wqe(std::span<const std::byte> wqe, bool datagram, Request& request) {
  const std::byte* control = wqe.data();
  const std::uint32_t dword0 = load_be32(control);
  const std::uint32_t dword1 = load_be32(control + 4);
  const auto modes = std::to_integer<std::uint8_t>(control[11]);
  request.opmod = dword0 >> 24;
  request.index = dword0 >> 8 & 0xffff;
  request.opcode = static_cast<Opcode>(dword0 & 0xff);
  request.qpn = dword1 >> 8;
  request.segments = dword1 & 0x3f;
  request.solicited = modes >> 1 & 1;
  request.completion_mode = modes >> 2 & 3;
  request.fenced = modes >> 5 >= kFenceModeInitiator;
  request.immediate = load<std::uint32_t>(control + 12);
  // Bits besides ds and the modes. Without a queue pair that uses them, signature and DCI stream
  // are not read, and may have old contents of the ring.
  if (dword1 & 0xc0 || modes & 0x11 || modes >> 5 > kLastFenceMode)
    request.suspicious = "reserved-bits";
  if (request.segments == 0) return "ds-zero";
  if (!is_known(request.opcode)) return "opcode";
  // All other bits of a NOP are padding: a queue's end is filled up with a long one.
  if (request.opcode == Opcode::kNop) return request.opmod != 0 ? "opcode-mode" : nullptr;

  Cursor cursor{wqe.first(request.segments * kSegment), kSegment};
  if (datagram) {
    if (!cursor.has(kUdAddressVector)) return "ds-too-small";
    const std::byte* vector = cursor.take(kUdAddressVector);
    request.destination = decode_address_vector(vector);
    if (!is_address_vector_clean(vector)) request.suspicious = "reserved-bits";
  }
  if (is_remote_access(request.opcode)) {
    if (!cursor.has(kSegment)) return "ds-too-small";
    const std::byte* remote = cursor.take(kSegment);
    request.remote_address = load_be64(remote);
    request.rkey = load_be32(remote + 8);
    if (load_be32(remote + 12) != 0) request.suspicious = "reserved-bits";
  }
  const char* wrong = nullptr;
  switch (request.opcode) {
    case Opcode::kCompareSwap:
    case Opcode::kFetchAdd:
      wrong = decode_plain_atomic(cursor, request);
      break;
    case Opcode::kMaskedCompareSwap:
    case Opcode::kMaskedFetchAdd:
      wrong = decode_masked_atomic(cursor, request);
      break;
    default:
      if (request.opmod != 0) return "opcode-mode";
  }
  if (!wrong) wrong = decode_data(cursor, request);
  const bool lands_in_itself = request.is_read() && !request.inlined.empty();
  return wrong ? wrong : lands_in_itself ? "inline-read" : nullptr;
}

std::vector<ScatterEntry> decode_receive_wqe(const std::byte* wqe, std::size_t stride,
                                             std::size_t list_offset) {
  std::vector<ScatterEntry> list;
  for (std::size_t at = list_offset; at + kSegment <= stride; at += kSegment) {
    const ScatterEntry entry{load_be64(wqe + at + 8), load_be32(wqe + at), load_be32(wqe + at + 4)};
    if (entry.lkey == kEndOfListKey) break;
    if (entry.bytes != 0) list.push_back(entry);
  }
  return list;
}

void encode_cqe(const Completion& completion, bool owner, std::byte (&cqe)[64]) {
  std::memset(cqe, 0, sizeof cqe);
  const bool error = completion.opcode == CqeOpcode::kRequestError ||
                     completion.opcode == CqeOpcode::kResponderError;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (completion.has_global_route) cqe[24] = std::byte{1 << 4};
  store_be32(cqe + 24, load_be32(cqe + 24) | (completion.remote_qpn & 0xffffff));
  store_be32(cqe + 32, completion.user_index);
  store(cqe + 36, completion.immediate);
  store_be32(cqe + 44, completion.bytes);
  store_be64(cqe + 48, now.tv_sec * 1'000'000'000ull + now.tv_nsec);
  if (error) {
    cqe[54] = std::byte{kVendorError};
    cqe[55] = static_cast<std::byte>(completion.syndrome);
  }
  store_be32(cqe + 56, static_cast<std::uint32_t>(completion.send_opcode) << 24 | completion.qpn);
  store_be16(cqe + 60, completion.counter);
  cqe[63] = static_cast<std::byte>(static_cast<unsigned>(completion.opcode) << 4 |
                                   (completion.solicited ? 2 : 0) | (owner ? 1 : 0));
}

const char* name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNop:
      return "NOP";
    case Opcode::kSendInvalidate:
      return "SEND_INVAL";
    case Opcode::kWrite:
      return "RDMA_WRITE";
    case Opcode::kWriteImm:
      return "RDMA_WRITE_IMM";
    case Opcode::kSend:
      return "SEND";
    case Opcode::kSendImm:
      return "SEND_IMM";
    case Opcode::kRead:
      return "RDMA_READ";
    case Opcode::kCompareSwap:
      return "ATOMIC_CS";
    case Opcode::kFetchAdd:
      return "ATOMIC_FA";
    case Opcode::kMaskedCompareSwap:
      return "ATOMIC_MASKED_CS";
    case Opcode::kMaskedFetchAdd:
      return "ATOMIC_MASKED_FA";
    case Opcode::kDump:
      return "DUMP";
  }
  return "UNKNOWN";
}

const char* name_of(Syndrome syndrome) {
  switch (syndrome) {
    case Syndrome::kNone:
      return "none";
    case Syndrome::kLocalLength:
      return "local-length";
    case Syndrome::kLocalQpOperation:
      return "local-qp-operation";
    case Syndrome::kLocalProtection:
      return "local-protection";
    case Syndrome::kFlushed:
      return "flushed";
    case Syndrome::kBadResponse:
      return "bad-response";
    case Syndrome::kLocalAccess:
      return "local-access";
    case Syndrome::kRemoteInvalidRequest:
      return "remote-invalid-request";
    case Syndrome::kRemoteAccess:
      return "remote-access";
    case Syndrome::kRemoteOperation:
      return "remote-operation";
    case Syndrome::kTransportRetryExceeded:
      return "transport-retry";
    case Syndrome::kRnrRetryExceeded:
      return "rnr-retry";
    case Syndrome::kRemoteAborted:
      return "remote-aborted";
  }
  return "unknown";
}

}  // namespace softnic
