#include "host/transport/ofi/fabric/provider_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/errors/error.hpp"

namespace chime::host::ofi {
namespace {

bool speaks_tcp(std::string_view provider) {
  return provider.starts_with("tcp") || provider == "net" || provider == "sockets";
}

std::vector<net::Address> addresses_of(const std::string& name,
                                       std::span<const net::Interface> interfaces) {
  std::vector<net::Address> addresses;
  std::vector<std::string> names;
  for (const net::Interface& one : interfaces) {
    if (one.name == name) addresses.push_back(one.address);
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  if (addresses.empty())
    throw Error("CHIME_IFACE", CHIMEX_ERR_INVALID,
                fmt::format("no interface '{}' is up with an address; here are {}", name,
                            fmt::join(names, ", ")));
  return addresses;
}

std::vector<net::Address> addresses_within_reach(const Circumstances& where,
                                                 std::span<const net::Interface> interfaces) {
  std::vector<net::Address> addresses;
  for (const net::Interface& one : interfaces)
    if (one.is_loopback == where.is_one_node) addresses.push_back(one.address);
  if (addresses.empty())
    for (const net::Interface& one : interfaces) addresses.push_back(one.address);
  return addresses;
}

}  // namespace

// Not among them: `net`, which in libfabric 1.17 says that a write is delivered before it is, and
// its deprecated kin `sockets`, which hangs; `udp;ofi_rxd`, a tenth as fast as tcp.
std::vector<std::string> candidates(const FabricOptions& options, const Circumstances& where) {
  if (!options.is_auto()) return {options.provider};
  std::vector<std::string> names{"cxi", "efa", "verbs;ofi_rxm", "tcp;ofi_rxm"};
  if (where.is_one_node) names.push_back("shm");  // it does not say that others are out of reach
  return names;
}

// For other providers FI_HMEM means that libfabric copies by itself, on the default stream, which a
// kernel that waits for this very copy may keep.
bool moves_gpu_memory(std::string_view provider) {
  return provider == "cxi" || provider == "efa" || provider.starts_with("verbs");
}

std::vector<net::Address> addresses_for(const std::string& provider, const FabricOptions& options,
                                        const Circumstances& where,
                                        std::span<const net::Interface> interfaces) {
  std::vector<net::Address> addresses;
  if (!options.interface.empty())
    addresses = addresses_of(options.interface, interfaces);
  else if (speaks_tcp(provider))
    addresses = addresses_within_reach(where, interfaces);
  // PEs have to be of one family.
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const net::Address& one) { return one.family() == AF_INET; });
  return addresses;
}

}  // namespace chime::host::ofi
