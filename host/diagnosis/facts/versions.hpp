// Versions as numbers, to be compared: "580.76.05" is {580, 76, 5}.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/diagnosis/root.hpp"

namespace chime::doctor {

using Version = std::vector<int>;

// The first dotted number of `text`; empty if there is none.
Version version_in(const std::string& text);
std::string text_of(const Version& version);

// The running kernel's.
Version kernel_version(const Root& root);

// What /proc/driver/nvidia/version says of nvidia.ko; absent if it is not loaded.
struct NvidiaModule {
  std::string version;
  bool is_open = false;
};
std::optional<NvidiaModule> nvidia_module(const Root& root);

// The versions of a library that the system's folders have, by the files that the links of `soname`
// lead to: libcuda.so.1 -> libcuda.so.580.76.05.
std::vector<std::string> library_versions(const std::string& soname, const Root& root);

// The release of rdma-core that the system's libibverbs is of.
std::optional<int> rdma_core_version(const Root& root);

}  // namespace chime::doctor
