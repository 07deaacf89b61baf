#include "host/transport/ofi/driver/served.hpp"

#include <cstring>

namespace chime::host::ofi {
namespace {

std::uint64_t update(WordOwner& owner, const Message& ask, std::span<const std::byte> body) {
  std::uint64_t operands[2];
  std::memcpy(operands, body.data(), sizeof operands);
  return owner.update(ask.at, {static_cast<AmoOp>(ask.op), ask.bytes, operands[0], operands[1]});
}

// The data first: a reader that sees the signal sees the data. Both, or neither.
Served put_with_signal(WordOwner& owner, std::uint64_t heap_bytes, const Message& ask,
                       std::span<const std::byte> body) {
  SignalPlace signal;
  std::memcpy(&signal, body.data(), sizeof signal);
  if (!signal.fits(heap_bytes)) return {CHIMEX_ERR_INVALID};
  owner.write(ask.at, body.subspan(sizeof signal, ask.bytes));
  owner.update(signal.at, {static_cast<AmoOp>(ask.op), 8, signal.operand, 0});
  return {};
}

}  // namespace

Served carry_out(WordOwner& owner, std::uint64_t heap_bytes, const Message& ask,
                 std::span<const std::byte> body) {
  switch (ask.kind) {
    case Message::Kind::kAsk:
      return {CHIMEX_OK, update(owner, ask, body)};
    case Message::Kind::kPut:
      owner.write(ask.at, body.first(ask.bytes));
      return {};
    case Message::Kind::kPutSignal:
      return put_with_signal(owner, heap_bytes, ask, body);
    default:
      return {CHIMEX_ERR_INVALID};
  }
}

}  // namespace chime::host::ofi
