#include "tools/chime-doctor/facts/library.hpp"

#include <sstream>

namespace chime::doctor {
namespace {

constexpr char kSoname[] = "libchime.so.0";

}  // namespace

std::optional<FoundLibrary> library_by_path(const Machine& machine) {
  const auto path = machine.probes.environment.find("LD_LIBRARY_PATH");
  std::istringstream folders(path == machine.probes.environment.end() ? "" : path->second);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.starts_with("/")) continue;
    const std::string file = machine.root.name_behind(folder + "/" + kSoname);
    if (file.empty() || file == kSoname) continue;
    const std::string prefix = "libchime.so.";
    return FoundLibrary{file.starts_with(prefix) ? file.substr(prefix.size()) : file, folder};
  }
  return std::nullopt;
}

}  // namespace chime::doctor
