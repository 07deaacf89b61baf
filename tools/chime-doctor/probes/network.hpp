// What NICs, fabrics and network interfaces answer.
#pragma once

#include "tools/chime-doctor/probes/probes.hpp"

namespace chime::doctor {

struct RdmaAnswers {
  std::string why_not;  // rdma-core does not load; empty: it does
  std::map<std::string, std::string> why_no_devx;
};
RdmaAnswers ask_rdma();

FabricAnswers ask_fabric();

std::optional<std::vector<Interface>> interfaces_now();

}  // namespace chime::doctor
