// What NICs, fabrics and network interfaces answer.
#pragma once

#include <span>

#include "tools/chime-doctor/probes/probes.hpp"

namespace chime::doctor {

struct RdmaAnswers {
  std::string why_not;  // rdma-core does not load; empty: it does
  std::map<std::string, std::string> why_no_devx;
};
RdmaAnswers ask_rdma();

FabricAnswers ask_fabric();

std::optional<std::vector<Interface>> interfaces_now();

std::map<std::string, FlowControl> ask_flow_control(const std::vector<std::string>& interfaces);
// What a kernel's answer to DCB_CMD_IEEE_GET says; nothing, where it is none. Without pauses.
FlowControl flow_control_in(std::span<const std::byte> message);

}  // namespace chime::doctor
