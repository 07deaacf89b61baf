// The user's choices for the NIC path. host/settings/env.cpp fills them, and its table explains
// each.
#pragma once

#include <string>
#include <string_view>

#include "host/options/connect.hpp"

namespace chime::host {

enum class NicBackend { kAuto, kVerbs, kDevx };
enum class NicDoorbell { kAuto, kDirect, kCpu };
enum class NicOrdering { kAuto, kRelaxed, kStrict };
enum class NicWriteOrder { kAuto, kStrict, kRelaxed };

struct NicOptions {
  static constexpr std::string_view kOff = "off";
  std::string device = "auto";  // auto, kOff, soft, or a device's name with or without ":port"
  NicBackend backend = NicBackend::kAuto;
  NicOrdering ordering = NicOrdering::kAuto;
  NicWriteOrder write_order = NicWriteOrder::kAuto;
  NicDoorbell doorbell = NicDoorbell::kAuto;
  Connect connect = Connect::kAuto;
  unsigned peers = 40;          // with queue pairs, where peers are connected on demand
  unsigned slots = 2;           // queue pairs to each peer: a power of two, at most 64
  unsigned queue_depth = 1024;  // 64-byte blocks of a send queue: a power of two
  int gid_index = -1;           // -1: chosen by mlx5_gid
  unsigned service_level = 0;
  unsigned traffic_class = 0;
  unsigned pkey_index = 0;
  unsigned timeout = 18;  // 4.096 us * 2^timeout
  unsigned retry = 7;
  std::string softnic_library;  // empty: looked for beside libchime.so

  bool opens_on_demand(int n_pes) const { return host::opens_on_demand(connect, n_pes); }

  bool is_off() const { return device == kOff; }
  bool is_auto() const { return device == "auto"; }
  bool is_soft() const { return device == "soft"; }
};

}  // namespace chime::host
