#include "host/transport/mlx5/card.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/errors/error.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr std::uint32_t kVersion = 0x6e696303;  // changes with the fields below

struct Fixed {
  std::uint32_t version;
  std::uint32_t why_bytes;
  PortAddress port;
  std::uint32_t key, strict_key, psn;
  std::uint64_t heap, heap_bytes;
  std::uint32_t reads, slots;
  std::uint32_t is_relaxed, reserved;
};
static_assert(std::is_trivially_copyable_v<Fixed> && sizeof(Fixed) == 72);

template <class T>
void append(CardBytes& bytes, const T* values, std::size_t count) {
  const auto raw = reinterpret_cast<const std::byte*>(values);
  bytes.insert(bytes.end(), raw, raw + count * sizeof(T));
}

[[noreturn]] void refuse_version(int pe) {
  throw Error("NIC", CHIMEX_ERR_MISMATCH, fmt::format("PE {} runs another version of Chime", pe));
}

}  // namespace

CardBytes write_card(const Card& card) {
  Fixed fixed{};
  fixed.version = kVersion;
  fixed.why_bytes =
      static_cast<std::uint32_t>(std::min(card.why_none.size(), kMostCardBytes - sizeof fixed));
  fixed.port = card.port;
  fixed.key = card.key;
  fixed.strict_key = card.strict_key;
  fixed.psn = card.psn;
  fixed.is_relaxed = card.is_relaxed;
  fixed.heap = card.heap;
  fixed.heap_bytes = card.heap_bytes;
  fixed.reads = card.reads;
  fixed.slots = card.slots;
  CardBytes bytes;
  append(bytes, &fixed, 1);
  append(bytes, card.why_none.data(), fixed.why_bytes);
  return bytes;
}

Card read_card(int pe, std::span<const std::byte> bytes) {
  Fixed fixed{};
  if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.version != kVersion || bytes.size() - sizeof fixed != fixed.why_bytes)
    refuse_version(pe);
  Card card;
  card.why_none.assign(reinterpret_cast<const char*>(bytes.data() + sizeof fixed), fixed.why_bytes);
  card.port = fixed.port;
  card.heap = fixed.heap;
  card.heap_bytes = fixed.heap_bytes;
  card.key = fixed.key;
  card.strict_key = fixed.strict_key;
  card.psn = fixed.psn;
  card.is_relaxed = fixed.is_relaxed != 0;
  card.reads = fixed.reads;
  card.slots = fixed.slots;
  return card;
}

CardBytes write_offer(std::span<const std::uint32_t> queue_pairs) {
  CardBytes bytes;
  append(bytes, queue_pairs.data(), queue_pairs.size());
  return bytes;
}

std::vector<std::uint32_t> read_offer(int pe, std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(std::uint32_t) != 0) refuse_version(pe);
  std::vector<std::uint32_t> queue_pairs(bytes.size() / sizeof(std::uint32_t));
  if (!bytes.empty()) std::memcpy(queue_pairs.data(), bytes.data(), bytes.size());
  return queue_pairs;
}

CardBytes write_receipt(DataOrder order) { return {static_cast<std::byte>(order)}; }

DataOrder read_receipt(int pe, std::span<const std::byte> bytes) {
  if (bytes.size() != 1 || bytes[0] > static_cast<std::byte>(DataOrder::kUnknown))
    refuse_version(pe);
  return static_cast<DataOrder>(bytes[0]);
}

}  // namespace chime::host::mlx5
