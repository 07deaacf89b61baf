// Stated figures of GPUs, NICs and links by name, each with its source, and the paths they make.
// None was measured by Chime.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace chime::predict {

struct Link {
  std::string_view name;
  double bytes_per_us;  // one direction, before headers
  double packet_bytes;  // payload; 0: the rate has the headers already
  double header_bytes;
  std::string_view source;
};

struct Gpu {
  std::string_view name;
  std::string_view host_link, peer_link;  // names of links
  double put_us;  // a kernel's put of 8 bytes through the NIC, until it knows that it has ended
  std::string_view source;
};

struct Nic {
  std::string_view name;
  double bytes_per_us;  // one direction, before headers
  std::string_view link;
  std::string_view source;
};

const std::vector<Gpu>& gpus();
const std::vector<Nic>& nics();
const std::vector<Link>& links();

struct Chosen {
  std::string gpu = "H100", nic = "cx7";
  std::vector<std::string> links;  // instead of the devices' own: one of PCIe, one of NVLink
  double staging_chunk_bytes = 0;  // 0: the staged path is not pipelined
};

// mapped, direct, proxy, staged. Names are taken in any case. Throws std::invalid_argument, with
// the names that are known, if one is not.
std::vector<TransferPath> paths_of(const Chosen& chosen);

// Every name with its figures and its source, and the figures that all devices share.
std::string describe_devices();

}  // namespace chime::predict
