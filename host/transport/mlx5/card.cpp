// Cards as bytes.
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <type_traits>

#include "host/errors/error.hpp"
#include "host/transport/mlx5/connector.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::uint32_t kVersion = 0x6e696302;  // changes with the fields below

struct Fixed {
  std::uint32_t version;
  std::uint32_t why_bytes;
  PortAddress port;
  std::uint32_t key, strict_key, psn;
  std::uint64_t heap, heap_bytes;
  std::uint32_t reads, slots;
  std::uint32_t is_relaxed, reserved;
  std::uint64_t queue_pairs;
};
static_assert(std::is_trivially_copyable_v<Fixed> && sizeof(Fixed) == 80);

template <class T>
void append(bootstrap::Bytes& bytes, const T* values, std::size_t count) {
  const auto raw = reinterpret_cast<const std::byte*>(values);
  bytes.insert(bytes.end(), raw, raw + count * sizeof(T));
}

}  // namespace

bootstrap::Bytes write_card(const Card& card) {
  Fixed fixed{};
  fixed.version = kVersion;
  fixed.why_bytes = static_cast<std::uint32_t>(card.why_none.size());
  fixed.port = card.port;
  fixed.key = card.key;
  fixed.strict_key = card.strict_key;
  fixed.psn = card.psn;
  fixed.is_relaxed = card.is_relaxed;
  fixed.heap = card.heap;
  fixed.heap_bytes = card.heap_bytes;
  fixed.reads = card.reads;
  fixed.slots = card.slots;
  fixed.queue_pairs = card.qpn.size();
  bootstrap::Bytes bytes;
  append(bytes, &fixed, 1);
  append(bytes, card.why_none.data(), card.why_none.size());
  append(bytes, card.qpn.data(), card.qpn.size());
  return bytes;
}

Card read_card(int pe, std::span<const std::byte> bytes) {
  Fixed fixed{};
  if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
  const std::size_t rest = bytes.size() - sizeof fixed;
  if (fixed.version != kVersion || fixed.why_bytes > rest ||
      fixed.queue_pairs != (rest - fixed.why_bytes) / sizeof(std::uint32_t) ||
      (rest - fixed.why_bytes) % sizeof(std::uint32_t) != 0)
    throw Error("NIC", CHIMEX_ERR_MISMATCH, fmt::format("PE {} runs another version of Chime", pe));
  Card card;
  const auto why = reinterpret_cast<const char*>(bytes.data() + sizeof fixed);
  card.why_none.assign(why, fixed.why_bytes);
  card.port = fixed.port;
  card.heap = fixed.heap;
  card.heap_bytes = fixed.heap_bytes;
  card.key = fixed.key;
  card.strict_key = fixed.strict_key;
  card.psn = fixed.psn;
  card.is_relaxed = fixed.is_relaxed != 0;
  card.reads = fixed.reads;
  card.slots = fixed.slots;
  card.qpn.resize(fixed.queue_pairs);
  if (!card.qpn.empty())
    std::memcpy(card.qpn.data(), bytes.data() + sizeof fixed + fixed.why_bytes,
                card.qpn.size() * sizeof(std::uint32_t));
  return card;
}

}  // namespace chime::host::mlx5
