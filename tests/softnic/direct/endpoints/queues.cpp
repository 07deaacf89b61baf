#include "queues.hpp"

#include <stdexcept>

#include "wait.hpp"

namespace direct {
namespace {

constexpr std::uint32_t kEndOfList = 0x100;

std::uint32_t load_dword(const std::uint8_t* from) {
  std::uint32_t value;
  std::memcpy(&value, from, 4);
  return be32toh(value);
}

void store_be32_release(std::uint32_t* to, std::uint32_t value) {
  std::atomic_ref(*to).store(htobe32(value), std::memory_order_release);
}

}  // namespace

std::uint16_t SendQueue::post(const Wqe& wqe) {
  std::vector<std::uint8_t> bytes = wqe.bytes();
  const auto index = static_cast<std::uint16_t>(next);
  const std::uint32_t first = htobe32(load_dword(bytes.data()) | std::uint32_t{index} << 8);
  const std::uint32_t second = htobe32(qpn << 8 | wqe.segments());
  std::memcpy(bytes.data(), &first, 4);
  std::memcpy(bytes.data() + 4, &second, 4);
  bytes.resize(wqe.blocks() * 64ull);
  for (unsigned b = 0; b < wqe.blocks(); ++b) std::memcpy(block(next + b), &bytes[b * 64ull], 64);
  next += wqe.blocks();
  return index;
}

void SendQueue::write_record(std::uint16_t value) const {
  // Release: the NIC sees the WQEs when it reads the record (softnic: producer() in requester.cpp).
  store_be32_release(record, value);
}

void SendQueue::write_doorbell(std::uint32_t index, std::uint32_t qp) const {
  const std::uint32_t words[2] = {htobe32((index & 0xffff) << 8), htobe32(qp << 8)};
  std::uint64_t value;
  std::memcpy(&value, words, 8);
  // Release: record before doorbell (softnic: take() in engine.cpp acquires).
  std::atomic_ref(*doorbell).store(value, std::memory_order_release);
}

void SendQueue::ring_doorbell() {
  write_record(static_cast<std::uint16_t>(next));
  write_doorbell(next, qpn);
}

const std::uint8_t* CompletionRing::entry(std::uint32_t index) const {
  return ring + (index & (entries - 1)) * std::size_t{entry_bytes} + (entry_bytes == 128 ? 64 : 0);
}

// Counter, signature and opcode in one load: two loads may see two completions.
static std::uint32_t last_word_of(const std::uint8_t* cqe) {
  auto* word = reinterpret_cast<std::uint32_t*>(const_cast<std::uint8_t*>(cqe + 60));
  return be32toh(std::atomic_ref(*word).load(std::memory_order_acquire));
}

std::optional<Cqe> CompletionRing::poll() {
  if (collapsed) return poll_collapsed();
  const std::uint8_t* at = entry(consumed);
  const std::uint32_t last = last_word_of(at);
  const bool owner = last & 1;
  if ((last >> 4 & 0xf) == 0xf || owner != !!(consumed & entries)) return std::nullopt;
  Cqe cqe;
  std::memcpy(cqe.bytes, at, 64);
  ++consumed;
  if (updates_record) write_record();
  return cqe;
}

// The NIC may write the entry again during the copy: copies until the last word did not change.
std::optional<Cqe> CompletionRing::poll_collapsed() {
  const std::uint8_t* at = entry(0);
  for (;;) {
    const std::uint32_t before = last_word_of(at);
    if ((before >> 4 & 0xf) == 0xf || before == last_word) return std::nullopt;
    Cqe cqe;
    for (unsigned i = 0; i < 16; ++i) {
      auto* word = reinterpret_cast<std::uint32_t*>(const_cast<std::uint8_t*>(at + 4 * i));
      const std::uint32_t value = std::atomic_ref(*word).load(std::memory_order_acquire);
      std::memcpy(cqe.bytes + 4 * i, &value, 4);
    }
    if (last_word_of(at) != before || cqe.word(60) != before) continue;
    last_word = before;
    ++consumed;
    return cqe;
  }
}

Cqe CompletionRing::next() {
  std::optional<Cqe> cqe;
  wait_until("a completion", [&] { return (cqe = poll()).has_value(); });
  return *cqe;
}

Cqe CompletionRing::retired(std::uint16_t index) {
  for (;;) {
    const Cqe cqe = next();
    if (static_cast<std::int16_t>(cqe.counter() - index) >= 0 || cqe.failed()) return cqe;
  }
}

void CompletionRing::write_record() const { store_be32_release(record, consumed & 0xffffff); }

std::uint16_t ReceiveQueue::post(const std::vector<Piece>& pieces) {
  std::uint8_t* at = ring + (next & (entries - 1)) * std::size_t{stride};
  if (pieces.size() * 16 > stride) throw std::logic_error("more pieces than a receive WQE holds");
  Wqe list(0);  // only its segment writer is used
  for (const Piece& piece : pieces) list.data(piece.address, piece.bytes, piece.lkey);
  if (pieces.size() * 16 < stride) list.data(nullptr, 0, kEndOfList);
  std::memcpy(at, list.bytes().data() + 16, list.bytes().size() - 16);
  const auto index = static_cast<std::uint16_t>(next++);
  store_be32_release(record, static_cast<std::uint16_t>(next));
  return index;
}

}  // namespace direct
