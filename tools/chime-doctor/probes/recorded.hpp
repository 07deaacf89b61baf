// Answers as JSON: beside a recorded tree, and from the processes that ask on this machine.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/chime-doctor/probes/network.hpp"
#include "tools/chime-doctor/probes/probes.hpp"

namespace chime::doctor {

// Throws nlohmann::json::exception where a member has another type.
Probes probes_of(const nlohmann::json& recorded);

// Members of what probes_of() reads.
nlohmann::json json_of(const CudaAnswers& answers);
nlohmann::json json_of(const RdmaAnswers& answers);
nlohmann::json json_of(const FabricAnswers& answers);
nlohmann::json json_of(const std::map<std::string, FlowControl>& flow_control);
nlohmann::json json_of(const std::optional<FoundLibrary>& library);

}  // namespace chime::doctor
