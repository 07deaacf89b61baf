#include "tools/chime-doctor/probes/recorded.hpp"

#include <nlohmann/json.hpp>

#include "tools/chime-doctor/facts/folders.hpp"

namespace chime::doctor {
namespace {

using nlohmann::json;

CudaAnswers cuda_of(const json& recorded) {
  CudaAnswers cuda{recorded.value("why_not", ""), recorded.value("version", 0), {}};
  const json gpus = recorded.value("gpus", json::object());
  for (const auto& [address, gpu] : gpus.items())
    cuda.gpus[address] = {gpu.value("name", ""), gpu.value("rdma", false),
                          gpu.value("dma_buf", false), gpu.value("vmm_rdma", false),
                          gpu.value("keeps_order", false)};
  return cuda;
}

std::vector<Interface> interfaces_of(const json& recorded) {
  std::vector<Interface> all;
  for (const json& one : recorded)
    all.push_back({one.value("name", ""), one.value("up", true),
                   one.value("addresses", std::vector<std::string>()),
                   one.value("networks", std::vector<std::string>())});
  return all;
}

// As dcb(8) shows them: "pfc": [3], "dscp": {"26": 3}.
FlowControl flow_control_of(const json& recorded) {
  FlowControl found;
  if (recorded.contains("pfc")) {
    found.lossless_priorities = 0;
    for (const json& priority : recorded["pfc"])
      *found.lossless_priorities |= 1u << priority.get<unsigned>();
  }
  const json dscps = recorded.value("dscp", json::object());
  for (const auto& [dscp, priority] : dscps.items())
    found.priority_of_dscp[std::stoi(dscp)] = priority.get<int>();
  if (recorded.contains("pauses")) found.pauses = recorded["pauses"].get<bool>();
  return found;
}

json json_of(const FlowControl& found) {
  json recorded = json::object();
  if (found.lossless_priorities) {
    recorded["pfc"] = json::array();
    for (int priority = 0; priority < 8; ++priority)
      if ((*found.lossless_priorities >> priority & 1) != 0) recorded["pfc"].push_back(priority);
  }
  for (const auto& [dscp, priority] : found.priority_of_dscp)
    recorded["dscp"][std::to_string(dscp)] = priority;
  if (found.pauses) recorded["pauses"] = *found.pauses;
  return recorded;
}

}  // namespace

json json_of(const CudaAnswers& answers) {
  json gpus = json::object();
  for (const auto& [address, gpu] : answers.gpus)
    gpus[address] = {{"name", gpu.name},
                     {"rdma", gpu.has_rdma},
                     {"dma_buf", gpu.has_dma_buf},
                     {"vmm_rdma", gpu.has_vmm_rdma},
                     {"keeps_order", gpu.keeps_order}};
  return {{"cuda", {{"why_not", answers.why_not}, {"version", answers.version}, {"gpus", gpus}}}};
}
json json_of(const RdmaAnswers& answers) {
  return {{"why_no_rdma_core", answers.why_not}, {"why_no_devx", answers.why_no_devx}};
}
json json_of(const FabricAnswers& answers) {
  return {{"fabric", {{"why_not", answers.why_not}, {"providers", answers.providers}}}};
}
json json_of(const std::map<std::string, FlowControl>& flow_control) {
  json all = json::object();
  for (const auto& [interface, found] : flow_control) all[interface] = json_of(found);
  return {{"flow_control", all}};
}

json json_of(const std::optional<FoundLibrary>& library) {
  if (!library) return json::object();
  return {{"library", {{"version", library->version}, {"folder", library->folder}}}};
}

Probes probes_of(const json& recorded) {
  const auto why_not = [](const json& all, const char* name) -> std::optional<std::string> {
    return all.contains(name) ? std::optional<std::string>(all[name]) : std::nullopt;
  };
  using Texts = std::map<std::string, std::string>;
  Probes probes;
  if (recorded.contains("cuda")) probes.cuda = cuda_of(recorded["cuda"]);
  probes.why_no_devx = recorded.value("why_no_devx", Texts());
  probes.why_no_rdma_core = recorded.value("why_no_rdma_core", "");
  probes.why_no_pmix = why_not(recorded, "why_no_pmix");
  probes.why_no_hwloc = why_not(recorded, "why_no_hwloc");
  const json flow_control = recorded.value("flow_control", json::object());
  for (const auto& [interface, one] : flow_control.items())
    probes.flow_control[interface] = flow_control_of(one);
  if (recorded.contains("fabric"))
    probes.fabric =
        FabricAnswers{recorded["fabric"].value("why_not", ""),
                      recorded["fabric"].value("providers", std::vector<std::string>())};
  if (recorded.contains("shared_memory"))
    probes.shared_memory = Room{recorded["shared_memory"].value("bytes", std::uint64_t{0}),
                                recorded["shared_memory"].value("free", std::uint64_t{0})};
  probes.processors = recorded.value("processors", 1u);
  if (recorded.contains("interfaces")) probes.interfaces = interfaces_of(recorded["interfaces"]);
  probes.has_srun = recorded.value("has_srun", false);
  if (recorded.contains("library"))
    probes.library = FoundLibrary{recorded["library"].value("version", ""),
                                  recorded["library"].value("folder", "")};
  probes.environment = recorded.value("environment", Texts());
  probes.late = recorded.value("late", std::vector<std::string>());
  probes.ended = recorded.value("ended", Texts());
  return probes;
}

Probes read_probes(const Root& root) {
  Probes probes = probes_of(json::parse(root.text("/probes.json").value_or("{}")));
  probes.has_srun = is_in_path("srun", root, probes.environment);
  probes.library = library_by_path(root, probes.environment);
  return probes;
}

}  // namespace chime::doctor
