#include "host/transport/mlx5/endpoint_info.hpp"

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
void append(EndpointInfoBytes& bytes, const T* values, std::size_t count) {
  const auto raw = reinterpret_cast<const std::byte*>(values);
  bytes.insert(bytes.end(), raw, raw + count * sizeof(T));
}

[[noreturn]] void refuse_version(int pe) {
  throw Error("NIC", CHIMEX_ERR_MISMATCH, fmt::format("PE {} runs another version of Chime", pe));
}

}  // namespace

EndpointInfoBytes write_endpoint_info(const EndpointInfo& endpoint_info) {
  Fixed fixed{};
  fixed.version = kVersion;
  fixed.why_bytes = static_cast<std::uint32_t>(
      std::min(endpoint_info.why_none.size(), kMostEndpointInfoBytes - sizeof fixed));
  fixed.port = endpoint_info.port;
  fixed.key = endpoint_info.key;
  fixed.strict_key = endpoint_info.strict_key;
  fixed.psn = endpoint_info.psn;
  fixed.is_relaxed = endpoint_info.is_relaxed;
  fixed.heap = endpoint_info.heap;
  fixed.heap_bytes = endpoint_info.heap_bytes;
  fixed.reads = endpoint_info.reads;
  fixed.slots = endpoint_info.slots;
  EndpointInfoBytes bytes;
  append(bytes, &fixed, 1);
  append(bytes, endpoint_info.why_none.data(), fixed.why_bytes);
  return bytes;
}

EndpointInfo read_endpoint_info(int pe, std::span<const std::byte> bytes) {
  Fixed fixed{};
  if (bytes.size() >= sizeof fixed) std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.version != kVersion || bytes.size() - sizeof fixed != fixed.why_bytes)
    refuse_version(pe);
  EndpointInfo endpoint_info;
  endpoint_info.why_none.assign(reinterpret_cast<const char*>(bytes.data() + sizeof fixed),
                                fixed.why_bytes);
  endpoint_info.port = fixed.port;
  endpoint_info.heap = fixed.heap;
  endpoint_info.heap_bytes = fixed.heap_bytes;
  endpoint_info.key = fixed.key;
  endpoint_info.strict_key = fixed.strict_key;
  endpoint_info.psn = fixed.psn;
  endpoint_info.is_relaxed = fixed.is_relaxed != 0;
  endpoint_info.reads = fixed.reads;
  endpoint_info.slots = fixed.slots;
  return endpoint_info;
}

EndpointInfoBytes write_offer(std::span<const std::uint32_t> queue_pairs) {
  EndpointInfoBytes bytes;
  append(bytes, queue_pairs.data(), queue_pairs.size());
  return bytes;
}

std::vector<std::uint32_t> read_offer(int pe, std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(std::uint32_t) != 0) refuse_version(pe);
  std::vector<std::uint32_t> queue_pairs(bytes.size() / sizeof(std::uint32_t));
  if (!bytes.empty()) std::memcpy(queue_pairs.data(), bytes.data(), bytes.size());
  return queue_pairs;
}

EndpointInfoBytes write_receipt(DataOrder order) { return {static_cast<std::byte>(order)}; }

DataOrder read_receipt(int pe, std::span<const std::byte> bytes) {
  if (bytes.size() != 1 || bytes[0] > static_cast<std::byte>(DataOrder::kUnknown))
    refuse_version(pe);
  return static_cast<DataOrder>(bytes[0]);
}

}  // namespace chime::host::mlx5
