#include "devices.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <stdexcept>

namespace chime::predict {
namespace {

// A PCIe packet: 256 bytes of payload, the usual limit, and 24 of header, CRC and framing.
constexpr double kPciePayload = 256, kPcieHeader = 24;
// An InfiniBand packet of 4096 bytes: LRH 8, BTH 12, RETH 16, ICRC 4, VCRC 2.
constexpr double kIbPayload = 4096, kIbHeader = 42;

constexpr std::string_view kPciSig = "pcisig.com/specifications: GT/s x lanes x coding / 8";
constexpr std::string_view kNvlink =
    "nvidia.com/en-us/data-center/nvlink: half of both directions; 83 % of it is reached "
    "(377 of 450 GB/s, github.com/NVIDIA/nccl/issues/1264)";
constexpr double kNvlinkReached = 0.83;
constexpr std::string_view kPutH100 =
    "put: H100, put + wait_local of 8 B, github.com/meta-pytorch/torchcomms/pull/2978";
constexpr std::string_view kPutAsH100 = "put: the H100's figure, for none of its own was found";
constexpr std::string_view kPutGb200 =
    "put: GB200, put + flush of 8 B by IBGDA, github.com/meta-pytorch/torchcomms/pull/2978";

// What all devices share.
struct Shared {
  // put + flush of 8 bytes between two GB200: 38.6 us by the proxy, 16.9 by IBGDA.
  double proxy_more_us = 38.6 - 16.9;
  double copy_call_us = 6;  // a call of cudaMemcpyAsync: 5 to 7 us
  double host_put_us = 2.51;
  double mapped_us = 4.1;
};
constexpr Shared kShared;
constexpr std::string_view kSharedText =
    "Figures that all devices share\n"
    "  proxy   +21.7 us     more than a kernel's own put of 8 B (38.6 and 16.9 us between two\n"
    "                       GB200, github.com/meta-pytorch/torchcomms/pull/2978)\n"
    "  copy     6 us        a call of cudaMemcpyAsync (5 to 7 us: arXiv:2602.21548, section 5.2)\n"
    "  host put 2.51 us     8 B by UCX, one way (github.com/openucx/ucx/issues/7369)\n"
    "  mapped   4.1 us      1 KiB with flags in its packets, per exchange (mscclpp,\n"
    "                       docs/tutorials)\n"
    "  host threads         a proxy and a thread that stages poll until the transfer has ended\n";

template <class T>
std::string known_names(const std::vector<T>& all) {
  std::string names;
  for (const T& one : all) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

template <class T>
const T& find(const std::vector<T>& all, std::string_view name, const char* what) {
  const auto is_named = [name](const T& one) {
    return one.name.size() == name.size() &&
           ::strncasecmp(one.name.data(), name.data(), name.size()) == 0;
  };
  const auto found = std::find_if(all.begin(), all.end(), is_named);
  if (found != all.end()) return *found;
  throw std::invalid_argument(
      fmt::format("'{}' is not {} that is known; these are: {}", name, what, known_names(all)));
}

const Link& link_named(std::string_view name) { return find(links(), name, "a link"); }

bool is_nvlink(const Link& link) { return link.name.substr(0, 6) == "nvlink"; }

Stage stage_of(const std::string& name, const Link& link, double start_us = 0) {
  return {.name = name,
          .start_us = start_us,
          .levels = {{0, link.bytes_per_us}},
          .packet_bytes = link.packet_bytes,
          .header_bytes = link.header_bytes};
}

double payload_rate(const Link& link) {
  const double packet = std::max(link.packet_bytes, 1.0);
  return link.bytes_per_us * packet / (packet + link.header_bytes);
}

const Link& narrower(const Link& a, const Link& b) {
  return payload_rate(a) <= payload_rate(b) ? a : b;
}

struct Route {
  Link gpu_to_host, peers, nic, wire;
};

Route route_of(const Gpu& gpu, const Nic& nic, const std::vector<std::string>& chosen) {
  Route route{link_named(gpu.host_link),
              link_named(gpu.peer_link),
              link_named(nic.link),
              {nic.name, nic.bytes_per_us, kIbPayload, kIbHeader, nic.source}};
  for (const std::string& name : chosen) {
    const Link& link = link_named(name);
    if (is_nvlink(link)) {
      route.peers = link;
    } else {
      route.gpu_to_host = link;
      route.nic = link;
    }
  }
  return route;
}

}  // namespace

const std::vector<Link>& links() {
  static const std::vector<Link> all = {
      {"pcie3x8", 7877, kPciePayload, kPcieHeader, kPciSig},
      {"pcie3x16", 15754, kPciePayload, kPcieHeader, kPciSig},
      {"pcie4x8", 15754, kPciePayload, kPcieHeader, kPciSig},
      {"pcie4x16", 31508, kPciePayload, kPcieHeader, kPciSig},
      {"pcie5x8", 31508, kPciePayload, kPcieHeader, kPciSig},
      {"pcie5x16", 63015, kPciePayload, kPcieHeader, kPciSig},
      {"pcie6x8", 60500, kPciePayload, kPcieHeader, kPciSig},
      {"pcie6x16", 121000, kPciePayload, kPcieHeader, kPciSig},
      {"nvlink2", 150e3 * kNvlinkReached, 0, 0, kNvlink},
      {"nvlink3", 300e3 * kNvlinkReached, 0, 0, kNvlink},
      {"nvlink4", 450e3 * kNvlinkReached, 0, 0, kNvlink},
      {"nvlink5", 900e3 * kNvlinkReached, 0, 0, kNvlink},
      {"c2c", 450e3, 0, 0,
       "nvidia.com/en-us/data-center/nvlink-c2c: half of 900 GB/s, what is reached not stated"},
  };
  return all;
}

const std::vector<Gpu>& gpus() {
  static const std::vector<Gpu> all = {
      {"V100", "pcie3x16", "nvlink2", 9.67, kPutAsH100},
      {"A100", "pcie4x16", "nvlink3", 9.67, kPutAsH100},
      {"H100", "pcie5x16", "nvlink4", 9.67, kPutH100},
      {"H200", "pcie5x16", "nvlink4", 9.67, kPutAsH100},
      {"GH200", "c2c", "nvlink4", 9.67, kPutAsH100},
      {"B200", "pcie5x16", "nvlink5", 16.9, kPutGb200},
      {"GB200", "c2c", "nvlink5", 16.9, kPutGb200},
  };
  return all;
}

const std::vector<Nic>& nics() {
  static const std::vector<Nic> all = {
      {"cx5", 12500, "pcie3x16", "docs.nvidia.com/networking/display/connectx5ib: 100 Gb/s"},
      {"cx6", 25000, "pcie4x16", "docs.nvidia.com/networking/display/connectx6enocp3: 200 Gb/s"},
      {"cx7", 50000, "pcie5x16", "docs.nvidia.com/networking/display/connectx7vpiocp3: 400 Gb/s"},
      {"cx8", 100000, "pcie6x16",
       "docs.nvidia.com/networking/display/connectx8firmwarev40441036: 800 Gb/s"},
  };
  return all;
}

std::vector<TransferPath> paths_of(const Chosen& chosen) {
  const Gpu& gpu = find(gpus(), chosen.gpu, "a GPU");
  const Nic& nic = find(nics(), chosen.nic, "a NIC");
  const Route route = route_of(gpu, nic, chosen.links);
  const Link by_host = narrower(route.nic, route.wire);
  // The NIC reads the GPU's memory over PCIe, also where the host reaches the GPU by NVLink-C2C.
  const Link by_gpu = narrower(route.gpu_to_host, by_host);
  const double proxy_us = gpu.put_us + kShared.proxy_more_us;
  return {
      {.name = "mapped", .fixed_us = kShared.mapped_us, .stages = {stage_of("peer", route.peers)}},
      {.name = "direct", .fixed_us = gpu.put_us, .stages = {stage_of("network", by_gpu)}},
      {.name = "proxy",
       .fixed_us = proxy_us,
       .stages = {stage_of("network", by_gpu)},
       .host_us = proxy_us,
       .host_share = 1},
      {.name = "staged",
       .stages = {stage_of("copy to host memory", route.gpu_to_host, kShared.copy_call_us),
                  stage_of("network", by_host, kShared.host_put_us),
                  stage_of("copy to device memory", route.gpu_to_host, kShared.copy_call_us)},
       .chunk_bytes = chosen.staging_chunk_bytes,
       .host_share = 1},
  };
}

std::string describe_devices() {
  std::string text = "GPUs\n";
  for (const Gpu& gpu : gpus())
    text += fmt::format("  {:<9} to the host {}, to peers {}, put {} us\n            {}\n",
                        gpu.name, gpu.host_link, gpu.peer_link, gpu.put_us, gpu.source);
  text += "NICs\n";
  for (const Nic& nic : nics())
    text += fmt::format("  {:<9} {} GB/s, {}\n            {}\n", nic.name, nic.bytes_per_us / 1e3,
                        nic.link, nic.source);
  text += "Links, one direction\n";
  for (const Link& link : links())
    text += fmt::format("  {:<9} {:.1f} GB/s, {:.1f} of payload\n            {}\n", link.name,
                        link.bytes_per_us / 1e3, payload_rate(link) / 1e3, link.source);
  return text + std::string(kSharedText);
}

}  // namespace chime::predict
