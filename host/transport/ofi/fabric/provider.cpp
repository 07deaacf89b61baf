#include "host/transport/ofi/fabric/provider.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "host/errors/error.hpp"

namespace chime::host::ofi {
namespace {

// The version of the interface whose meaning of modes and orders this code follows.
constexpr std::uint32_t kInterface = FI_VERSION(1, 17);

constexpr std::uint64_t kNeeds =
    FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
// The modes of memory that a provider may ask of Chime.
constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

// Name empty: hints for any provider. No order of messages is asked for: a caller that asks shm
// gets a promise that shm does not make by itself, and a provider's own promises are enough here.
Info hints_for(const std::string& name, bool wants_hmem) {
  Info hints(libfabric().fi_dupinfo(nullptr));
  if (!hints) throw std::bad_alloc();
  hints->caps = kNeeds | (wants_hmem ? FI_HMEM : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = kMemoryModes | (wants_hmem ? FI_MR_HMEM : 0);
  hints->domain_attr->threading = FI_THREAD_SAFE;  // memory is registered by any thread
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  if (!name.empty()) hints->fabric_attr->prov_name = ::strdup(name.c_str());
  return hints;
}

// Null: none.
Info ask(const std::string& name, bool wants_hmem = false) {
  const Info hints = hints_for(name, wants_hmem);
  fi_info* found = nullptr;
  const int result = libfabric().fi_getinfo(kInterface, nullptr, nullptr, 0, hints.get(), &found);
  if (result == -FI_ENODATA || result == -FI_ENOSYS) return nullptr;
  check_fabric(result, "the providers cannot be listed");
  return Info(found);
}

ProviderFacts facts_of(const fi_info& info) {
  const auto has = [&](int mode) { return (info.domain_attr->mr_mode & mode) != 0; };
  ProviderFacts facts;
  facts.name = info.fabric_attr->prov_name;
  facts.version = info.fabric_attr->prov_version;
  constexpr std::uint64_t kOrder = FI_ORDER_SAW | FI_ORDER_SAS;
  facts.keeps_order = (info.tx_attr->msg_order & info.rx_attr->msg_order & kOrder) == kOrder;
  facts.needs_local_keys = has(FI_MR_LOCAL) || has(FI_MR_HMEM);
  facts.names_addresses = has(FI_MR_VIRT_ADDR);
  facts.chooses_keys = has(FI_MR_PROV_KEY);
  facts.has_raw_keys = has(FI_MR_RAW);
  facts.binds_memory = has(FI_MR_ENDPOINT);
  facts.reaches_gpus = (info.caps & FI_HMEM) != 0;
  facts.ends_in_order = facts.name == "shm";  // seen with libfabric 1.17
  facts.inject_bytes = info.tx_attr->inject_size;
  facts.most_bytes = info.ep_attr->max_msg_size;
  facts.key_bytes = info.domain_attr->mr_key_size;
  return facts;
}

bool is_at(const fi_info& info, const net::Address& address) {
  return info.src_addr != nullptr &&
         (info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6) &&
         net::Address::from(static_cast<const sockaddr*>(info.src_addr),
                            static_cast<socklen_t>(info.src_addrlen))
                 .with_port(0) == address;
}

// The one at the first of these addresses; null: at none.
const fi_info* find_at(std::span<const net::Address> addresses, const fi_info* all) {
  if (addresses.empty()) return all;
  for (const net::Address& address : addresses)
    for (const fi_info* info = all; info != nullptr; info = info->next)
      if (is_at(*info, address)) return info;
  return nullptr;
}

Provider take(const std::string& name, const Info& all, const FabricOptions& options,
              const Circumstances& where) {
  const auto addresses = addresses_for(name, options, where, net::interfaces_that_are_up());
  const fi_info* const one = find_at(addresses, all.get());
  if (one == nullptr)
    throw Error("CHIME_IFACE", CHIMEX_ERR_UNSUPPORTED,
                fmt::format("libfabric's {} has no endpoint at an address of interface '{}'", name,
                            options.interface));
  Info copy(libfabric().fi_dupinfo(one));
  if (!copy) throw std::bad_alloc();
  const ProviderFacts facts = facts_of(*copy);
  return {std::move(copy), facts};
}

std::vector<std::string> providers_here() {
  std::vector<std::string> names;
  const Info all = ask("");
  for (const fi_info* info = all.get(); info != nullptr; info = info->next)
    if (std::ranges::find(names, info->fabric_attr->prov_name) == names.end())
      names.push_back(info->fabric_attr->prov_name);
  return names;
}

// libfabric's shm asks for room for an endpoint of each processor, and where it finds less it says
// no more than that it is not there. Seen with libfabric 1.17.
constexpr std::uint64_t kShmEndpointBytes = 16 << 20;

[[noreturn]] void fail_for_room_in_shared_memory(std::uint64_t free, std::uint64_t wanted) {
  throw Error(
      "CHIME_FABRIC", CHIMEX_ERR_OUT_OF_MEMORY,
      fmt::format("/dev/shm is full: it has {} KiB left, and libfabric's shm wants {} KiB there; "
                  "remove files from it, make it larger (mount -o remount,size=, docker run "
                  "--shm-size) or set CHIME_FABRIC=tcp;ofi_rxm",
                  free >> 10, wanted >> 10));
}

void check_room_in_shared_memory() {
  struct statvfs room {};
  const long processors = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (::statvfs("/dev/shm", &room) != 0 || processors < 1) return;
  const std::uint64_t free = std::uint64_t{room.f_bavail} * room.f_frsize;
  const std::uint64_t wanted = static_cast<std::uint64_t>(processors) * kShmEndpointBytes;
  if (free <= wanted) fail_for_room_in_shared_memory(free, wanted);
}

[[noreturn]] void fail_to_find(const FabricOptions& options) {
  if (options.provider == "shm") check_room_in_shared_memory();
  const auto here = providers_here();
  const std::string which =
      options.is_auto()
          ? "none of libfabric's providers that Chime takes by itself"
          : fmt::format("'{}' is not one of libfabric's providers that", options.provider);
  throw Error("CHIME_FABRIC", CHIMEX_ERR_UNSUPPORTED,
              fmt::format("{} can be used here; libfabric has {}", which,
                          here.empty() ? "none" : fmt::format("{}", fmt::join(here, ", "))));
}

}  // namespace

Provider choose_provider(const FabricOptions& options, const Circumstances& where) {
  for (const std::string& name : candidates(options, where)) {
    Info all;
    if (where.is_gpu && moves_gpu_memory(name)) all = ask(name, true);
    if (!all) all = ask(name);
    if (all) return take(name, all, options, where);
  }
  fail_to_find(options);
}

}  // namespace chime::host::ofi
