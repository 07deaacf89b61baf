// What this machine answers.
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
#include <utility>

#include "host/diagnosis/facts/pci.hpp"
#include "host/diagnosis/facts/rdma.hpp"
#include "host/settings/env.hpp"
#include "host/topology/hwloc_library.hpp"
#include "tools/chime-doctor/facts/folders.hpp"
#include "tools/chime-doctor/probes/child.hpp"
#include "tools/chime-doctor/probes/cuda.hpp"
#include "tools/chime-doctor/probes/network.hpp"
#include "tools/chime-doctor/probes/probes.hpp"
#include "tools/chime-doctor/probes/recorded.hpp"

extern char** environ;

namespace chime::doctor {
namespace {

using nlohmann::json;

// Empty if it loads.
std::string why_not_loaded(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return ::dlerror();
  ::dlclose(handle);
  return {};
}

std::optional<Room> room_in(const char* folder) {
  struct statvfs room {};
  if (::statvfs(folder, &room) != 0) return std::nullopt;
  return Room{std::uint64_t{room.f_blocks} * room.f_frsize,
              std::uint64_t{room.f_bavail} * room.f_frsize};
}

std::map<std::string, std::string> environment_now() {
  std::map<std::string, std::string> variables;
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string text = *line;
    const std::string name = text.substr(0, text.find('='));
    const bool matters = name.starts_with("CHIME_") || name == "PATH" || name == "LD_LIBRARY_PATH";
    if (matters && name.size() < text.size()) variables[name] = text.substr(name.size() + 1);
  }
  return variables;
}

bool has_gpu(const Root& root) { return !nvidia_gpus(root).empty() || root.has("/dev/nvidiactl"); }

void ask_for_library(const Root& root, std::list<Child>& all) {
  all.emplace_back("the folders of LD_LIBRARY_PATH",
                   [&] { return json_of(library_by_path(root, environment_now())); });
}

std::vector<std::string> interfaces_of_roce(const Root& root) {
  std::vector<std::string> interfaces;
  for (const RdmaPort& port : mlx5_ports(root))
    if (port.is_ethernet && !port.interface_.empty()) interfaces.push_back(port.interface_);
  return interfaces;
}

// What is asked here, and what answers.
std::list<Child> questions_to(const Root& root) {
  std::list<Child> all;
  ask_for_library(root, all);
  all.emplace_back("the folders of PATH", [&] {
    return json{{"has_srun", is_in_path("srun", root, environment_now())}};
  });
  if (has_gpu(root)) all.emplace_back("the CUDA driver", [] { return json_of(ask_cuda()); });
  all.emplace_back("libpmix", [] { return json{{"why_no_pmix", why_not_loaded("libpmix.so.2")}}; });
  all.emplace_back("hwloc", [] { return json{{"why_no_hwloc", topology::why_no_hwloc()}}; });
  all.emplace_back("libfabric", [] { return json_of(ask_fabric()); });
  if (!mlx5_devices(root).empty())
    all.emplace_back("the NICs' driver", [] { return json_of(ask_rdma()); });
  if (const auto interfaces = interfaces_of_roce(root); !interfaces.empty())
    all.emplace_back("the NICs' flow control",
                     [=] { return json_of(ask_flow_control(interfaces)); });
  return all;
}

Probes answers_of(std::list<Child> questions, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  json recorded = json::object();
  for (Child& question : questions) question.answer_by(deadline, recorded);  // all ask at once
  Probes probes = probes_of(recorded);
  probes.shared_memory = room_in("/dev/shm");
  probes.processors = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  probes.interfaces = interfaces_now();
  probes.environment = environment_now();
  return probes;
}

}  // namespace

Probes gather_probes(const Root& root, std::chrono::milliseconds patience) {
  return answers_of(questions_to(root), patience);
}

Probes gather_little(const Root& root, std::chrono::milliseconds patience) {
  std::list<Child> questions;
  ask_for_library(root, questions);
  return answers_of(std::move(questions), patience);
}

}  // namespace chime::doctor
