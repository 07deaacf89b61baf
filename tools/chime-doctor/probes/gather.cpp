// What this machine answers.
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "host/settings/env.hpp"
#include "host/topology/hwloc_library.hpp"
#include "tools/chime-doctor/facts/pci.hpp"
#include "tools/chime-doctor/facts/rdma.hpp"
#include "tools/chime-doctor/probes/cuda.hpp"
#include "tools/chime-doctor/probes/deadline.hpp"
#include "tools/chime-doctor/probes/network.hpp"
#include "tools/chime-doctor/probes/probes.hpp"

extern char** environ;

namespace chime::doctor {
namespace {

// Empty if it loads.
std::string why_not_loaded(const char* library) {
  void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return ::dlerror();
  ::dlclose(handle);
  return {};
}

// Whether libraries load: a constructor that hangs holds the loader's lock, so each waits for it.
struct Libraries {
  std::string why_no_pmix, why_no_hwloc;
};
Libraries load_libraries() { return {why_not_loaded("libpmix.so.2"), topology::why_no_hwloc()}; }

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

}  // namespace

Probes gather_probes(const Root& root, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::optional<Question<CudaAnswers>> cuda;
  if (has_gpu(root)) cuda.emplace("the CUDA driver", ask_cuda);
  Question<Libraries> libraries("the loader of libraries", load_libraries);
  Question<FabricAnswers> fabric("libfabric", ask_fabric);
  std::optional<Question<RdmaAnswers>> rdma;
  if (!mlx5_devices(root).empty()) rdma.emplace("the NICs' driver", ask_rdma);

  Probes probes;
  probes.shared_memory = room_in("/dev/shm");
  probes.processors = static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  probes.has_all_config = ::geteuid() == 0;
  probes.interfaces = interfaces_now();
  probes.environment = environment_now();
  if (cuda) probes.cuda = cuda->answer_by(deadline, probes.late);
  probes.fabric = fabric.answer_by(deadline, probes.late);
  if (const auto loaded = libraries.answer_by(deadline, probes.late)) {
    probes.why_no_pmix = loaded->why_no_pmix;
    probes.why_no_hwloc = loaded->why_no_hwloc;
  }
  if (!rdma) return probes;
  if (const auto answers = rdma->answer_by(deadline, probes.late)) {
    probes.why_no_rdma_core = answers->why_not;
    probes.why_no_devx = answers->why_no_devx;
  }
  return probes;
}

}  // namespace chime::doctor
