// Which of libfabric's providers is taken, and what of its promises matters here: plain facts and
// pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/options/fabric.hpp"
#include "net/socket/interfaces.hpp"

namespace chime::host::ofi {

struct ProviderFacts {
  std::string name;
  std::uint32_t version = 0;  // of the provider
  // A message is heard of behind those before it, and when writes before it are in memory.
  bool keeps_order = false;
  bool needs_local_keys = false;  // for memory here, too
  bool names_addresses = false;   // memory at a peer goes by its address there; else by offsets
  bool chooses_keys = false;      // else we do
  bool has_raw_keys = false;      // longer than 8 bytes: the peer has to map them
  bool binds_memory = false;      // a registration belongs to an endpoint
  bool reaches_gpus = false;      // FI_HMEM
  // Ends are reported in the order of the posts: operations that a lost peer keeps, keep all
  // others.
  bool ends_in_order = false;
  std::size_t inject_bytes = 0;  // what is as short as this is copied when it is posted
  std::size_t most_bytes = 0;    // of one transfer
  std::size_t key_bytes = 0;
};

// The situation of the PE for which a provider is looked for.
struct Circumstances {
  bool is_one_node = false;  // all PEs of the job are on this machine
  bool is_gpu = false;       // heaps are a GPU's memory
};

// Providers in the order of trying.
std::vector<std::string> candidates(const FabricOptions& options, const Circumstances& where);

// Whether it may be asked for FI_HMEM: its device reads and writes a GPU's memory.
bool moves_gpu_memory(std::string_view provider);

// Addresses that a provider may take, in order of preference: those of CHIME_IFACE where it is set;
// loopback where nobody is further away and the provider has it; else what others can reach. Empty:
// the provider knows. Throws Error if there is no such interface.
std::vector<net::Address> addresses_for(const std::string& provider, const FabricOptions& options,
                                        const Circumstances& where,
                                        std::span<const net::Interface> interfaces);

}  // namespace chime::host::ofi
