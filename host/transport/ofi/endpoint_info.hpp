// The facts that a PE shows to all about its path into the fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/transport/transport.hpp"

namespace chime::host::ofi {

struct EndpointInfo {
  std::string why_none = {};  // not empty: this PE has no fabric, and nothing below counts
  std::string provider = {};
  std::uint32_t provider_version = 0;
  std::uint32_t address_format = 0;
  std::vector<std::byte> address = {};  // of its endpoint
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap = 0, key = 0;  // how requests name it (fabric/memory)
  std::vector<std::byte> raw_key = {};
  std::uint64_t pass = 0;   // what batches of messages to it begin with
  bool takes_puts = false;  // as messages: its processor reaches its heap
  // Its heap is one that the provider does not know: what goes there, or comes from there, goes
  // through slots of both PEs (bounce/).
  bool bounces = false;
  bool has_pool = false;                 // of slots; else nothing below counts
  std::uint64_t pool = 0, pool_key = 0;  // how requests name it
  std::vector<std::byte> pool_raw_key = {};
};

// At most kMostEndpointInfoBytes; a longer reason is cut off.
EndpointInfoBytes write_endpoint_info(const EndpointInfo& endpoint_info);
// Throws Error if PE `pe` runs another version of Chime.
EndpointInfo read_endpoint_info(int pe, std::span<const std::byte> bytes);

}  // namespace chime::host::ofi
