#include "tools/chime-doctor/facts/folders.hpp"

#include <sstream>
#include <vector>

namespace chime::doctor {
namespace {

// Those that are whole paths.
std::vector<std::string> folders_in(const Environment& environment, const std::string& variable,
                                    const std::string& otherwise) {
  const auto value = environment.find(variable);
  std::istringstream list(value == environment.end() ? otherwise : value->second);
  std::vector<std::string> folders;
  for (std::string folder; std::getline(list, folder, ':');)
    if (folder.starts_with("/")) folders.push_back(folder);
  return folders;
}

}  // namespace

bool is_in_path(const std::string& program, const Root& root, const Environment& environment) {
  for (const std::string& folder : folders_in(environment, "PATH", "/usr/bin:/usr/local/bin"))
    if (root.has(folder + "/" + program)) return true;
  return false;
}

std::optional<FoundLibrary> library_by_path(const Root& root, const Environment& environment) {
  for (const std::string& folder : folders_in(environment, "LD_LIBRARY_PATH", "")) {
    const std::string file = root.name_behind(folder + "/" CHIME_SONAME);
    if (file.empty() || file == CHIME_SONAME) continue;
    const std::string prefix = "libchime.so.";
    return FoundLibrary{file.starts_with(prefix) ? file.substr(prefix.size()) : file, folder};
  }
  return std::nullopt;
}

}  // namespace chime::doctor
