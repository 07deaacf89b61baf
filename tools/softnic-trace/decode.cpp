#include "decode.hpp"

#include <cstring>

#include "fields.hpp"
#include "softnic/engine/wqe.hpp"

namespace {

using softnic::Opcode;

constexpr const char* kCompletionModes[] = {"on-error", "on-first-error", "always", "event"};
constexpr const char* kFenceModes[] = {
    "none", "initiator-small", "fence", "strong", "fence+small", "5", "6", "7"};
constexpr const char* kCqeKinds[] = {"request",
                                     "write-imm",
                                     "send",
                                     "send-imm",
                                     "send-inval",
                                     "5",
                                     "resize",
                                     "7",
                                     "8",
                                     "9",
                                     "10",
                                     "11",
                                     "no-packet",
                                     "request-error",
                                     "responder-error",
                                     "invalid"};

// ---- work requests ----

void control_segment(Fields& f, Opcode& opcode, std::uint8_t& opmod) {
  const std::uint32_t first = f.dword(), second = f.dword(), third = f.dword();
  opcode = static_cast<Opcode>(first & 0xff);
  opmod = static_cast<std::uint8_t>(first >> 24);
  f.add("opcode", softnic::name_of(opcode) == std::string("UNKNOWN") ? hex(first & 0xff)
                                                                     : softnic::name_of(opcode));
  if (opmod) f.add("opmod", hex(opmod));
  f.add("index", std::to_string(first >> 8 & 0xffff), Group::kIndex);
  f.add("qpn", hex(second >> 8), Group::kNumber);
  f.add("ds", std::to_string(second & 0x3f));
  f.reserved(second & 0xc0);
  if (third >> 24) f.add("signature", hex(third >> 24));
  if (third >> 8 & 0xffff) f.add("stream", hex(third >> 8 & 0xffff));
  f.add("fence", kFenceModes[third >> 5 & 7], Group::kFence);
  f.add("ce", kCompletionModes[third >> 2 & 3], Group::kCe);
  if (third & 2) f.add("solicited", "1");
  f.reserved(third & 0x11);
  if (const std::uint32_t immediate = f.dword()) f.add("imm", hex(immediate));
}

void address_vector(Fields& f) {
  f.add("av.qkey", hex(f.dword()), Group::kKey);
  f.reserved(f.dword());
  f.add("av.qpn", hex(f.dword()), Group::kNumber);
  const std::uint32_t rate = f.dword();
  f.add("av.rate_sl", hex(rate >> 24));
  f.add("av.mlid", hex(rate >> 16 & 0xff));
  f.add("av.rlid", hex(rate & 0xffff));
  f.reserved(f.dword());
  f.add("av.mac", hex_digits(f.take_bytes(6)));
  f.add("av.tclass_hops", hex_digits(f.take_bytes(2)));
  f.add("av.grh", hex(f.dword()));
  f.add("av.gid", hex_digits(f.take_bytes(16)));
}

void remote_segment(Fields& f) {
  f.add("raddr", hex(f.quad()), Group::kAddress);
  f.add("rkey", hex(f.dword()), Group::kKey);
  f.reserved(f.dword());
}

void atomic_segments(Fields& f, Opcode opcode, std::uint8_t opmod) {
  const bool swaps = opcode == Opcode::kCompareSwap || opcode == Opcode::kMaskedCompareSwap;
  const bool masked = opcode == Opcode::kMaskedCompareSwap || opcode == Opcode::kMaskedFetchAdd;
  const bool narrow = masked && opmod == 0x08;
  const auto word = [&] { return narrow ? f.dword() : f.quad(); };
  f.add(swaps ? "swap" : "add", hex(word()));
  f.add(swaps ? "compare" : "boundary", hex(word()));
  if (masked && swaps) {
    f.add("swap_mask", hex(word()));
    f.add("compare_mask", hex(word()));
  } else if (narrow) {
    f.padding(8);
  }
}

void data_segments(Fields& f) {
  for (int i = 0; f.left() >= 4; ++i) {
    const std::string name = "data[" + std::to_string(i) + "]";
    const std::uint32_t count = f.dword();
    if (count & 0x80000000) {
      const std::size_t bytes = count & 0x7fffffff;
      f.add(name + ".inline", hex_digits(f.take_bytes(bytes)));
      const std::size_t behind = (bytes + 4) % softnic::kSegment;
      if (behind) f.padding(softnic::kSegment - behind);
    } else {
      f.add(name + ".bytes", std::to_string(count));
      f.add(name + ".lkey", hex(f.dword()), Group::kKey);
      f.add(name + ".address", hex(f.quad()), Group::kAddress);
    }
  }
}

bool has_remote(Opcode opcode) {
  return opcode == Opcode::kWrite || opcode == Opcode::kWriteImm || opcode == Opcode::kRead;
}
bool is_atomic(Opcode opcode) {
  return opcode == Opcode::kCompareSwap || opcode == Opcode::kFetchAdd ||
         opcode == Opcode::kMaskedCompareSwap || opcode == Opcode::kMaskedFetchAdd;
}

std::vector<Field> decode_wqe(const Record& record) {
  const auto bytes = record.bytes();
  Fields f(bytes);
  Opcode opcode;
  std::uint8_t opmod;
  control_segment(f, opcode, opmod);
  if (record.text("transport") == "UD") address_vector(f);
  if (has_remote(opcode) || is_atomic(opcode)) remote_segment(f);
  if (is_atomic(opcode)) atomic_segments(f, opcode, opmod);
  data_segments(f);
  return f.finish();
}

std::vector<Field> decode_receive_wqe(const Record& record) {
  const auto bytes = record.bytes();
  Fields f(bytes);
  f.add("qpn", hex(record.number("qpn")), Group::kNumber);
  f.add("index", std::to_string(record.number("index")), Group::kIndex);
  for (int i = 0; f.left() >= softnic::kSegment; ++i) {
    const std::uint32_t count = f.dword(), lkey = f.dword();
    const std::uint64_t address = f.quad();
    if (lkey == softnic::kEndOfListKey) {
      f.take_bytes(f.left());  // the NIC does not read on
      break;
    }
    const std::string name = "data[" + std::to_string(i) + "]";
    f.add(name + ".bytes", std::to_string(count));
    f.add(name + ".lkey", hex(lkey), Group::kKey);
    f.add(name + ".address", hex(address), Group::kAddress);
  }
  return f.finish();
}

// ---- completions ----

std::vector<Field> decode_cqe(const Record& record) {
  auto bytes = record.bytes();
  bytes.resize(64);
  const std::byte* cqe = bytes.data();
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(cqe[at]); };
  const unsigned kind = byte(63) >> 4;
  const bool failed = kind == 0xd || kind == 0xe;
  Fields f({});
  f.add("kind", kCqeKinds[kind]);
  if (failed) {
    f.add("syndrome", softnic::name_of(static_cast<softnic::Syndrome>(byte(55))));
    f.add("vendor", hex(byte(54)));
  }
  f.add("cqn", hex(record.number("cqn")), Group::kNumber);
  f.add("qpn", hex(softnic::load_be32(cqe + 56) & 0xffffff), Group::kNumber);
  f.add("counter", std::to_string(softnic::load_be16(cqe + 60)), Group::kIndex);
  if (kind == 0 || kind == 0xd) f.add("opcode", softnic::name_of(static_cast<Opcode>(byte(56))));
  f.add("bytes", std::to_string(softnic::load_be32(cqe + 44)));
  if (const auto immediate = softnic::load_be32(cqe + 36)) f.add("imm", hex(immediate));
  f.add("user_index", hex(softnic::load_be32(cqe + 32)), Group::kNumber);
  f.add("remote_qpn", hex(softnic::load_be32(cqe + 24) & 0xffffff), Group::kNumber);
  if (byte(24) & 0x30) f.add("grh", "1");
  if (byte(63) & 2) f.add("solicited", "1");
  f.add("owner", std::to_string(byte(63) & 1), Group::kIndex);
  if (!failed) f.add("timestamp", std::to_string(softnic::load_be64(cqe + 48)), Group::kTime);
  return f.finish();
}

// ---- doorbells and messages ----

std::vector<Field> decode_doorbell(const Record& record) {
  const auto bytes = record.bytes();
  Fields f(bytes);
  f.add("page", std::to_string(record.number("page")), Group::kNumber);
  const std::uint32_t first = f.dword(), second = f.dword();
  f.add("qpn", hex(second >> 8), Group::kNumber);
  f.add("index", std::to_string(first >> 8 & 0xffff), Group::kDoorbell);
  f.add("opcode", hex(first & 0xff), Group::kDoorbell);
  f.add("opmod", hex(first >> 24), Group::kDoorbell);
  f.add("ds", std::to_string(second & 0xff), Group::kDoorbell);
  return f.finish();
}

std::vector<Field> decode_command(const Record& record) {
  const auto bytes = record.bytes();
  Fields f({});
  f.add("opcode", hex(record.number("opcode")));
  f.add("status", hex(record.number("status")));
  for (std::size_t at = 4; at + 4 <= bytes.size(); at += 4)
    if (const std::uint32_t dword = softnic::load_be32(bytes.data() + at))
      f.add("in@" + hex(at), hex(dword));
  return f.finish();
}

std::vector<Field> decode_message(const Record& record) {
  Fields f({});
  f.add("name", record.text("name"));
  const auto error = static_cast<int>(record.number("error"));
  f.add("error", error ? ::strerrorname_np(error) ? ::strerrorname_np(error) : hex(error) : "0");
  return f.finish();
}

}  // namespace

std::vector<Field> decode(const Record& record) {
  switch (record.event()) {
    case Event::kWqe:
      return decode_wqe(record);
    case Event::kReceiveWqe:
      return decode_receive_wqe(record);
    case Event::kCqe:
      return decode_cqe(record);
    case Event::kDoorbell:
      return decode_doorbell(record);
    case Event::kCommand:
      return decode_command(record);
    default:
      return decode_message(record);
  }
}

const char* name_of(Group group) {
  switch (group) {
    case Group::kTime:
      return "time";
    case Group::kAddress:
      return "address";
    case Group::kKey:
      return "key";
    case Group::kNumber:
      return "number";
    case Group::kIndex:
      return "index";
    case Group::kCe:
      return "ce";
    case Group::kFence:
      return "fence";
    case Group::kDoorbell:
      return "doorbell";
    default:
      return "plain";
  }
}
