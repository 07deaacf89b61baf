#include "tools/chime-doctor/facts/folders.hpp"

#include <sstream>
#include <string_view>
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

constexpr std::string_view kStem = "libchime.so.";

// By what the link of that name in the folder leads to. The loader finds no file that has only its
// version's name.
std::optional<FoundLibrary> library_called(const std::string& soname, const std::string& folder,
                                           const Root& root) {
  const std::string file = root.name_behind(folder + "/" + soname);
  if (file.empty() || file == soname) return std::nullopt;
  return FoundLibrary{file.starts_with(kStem) ? file.substr(kStem.size()) : file, folder};
}

}  // namespace

bool is_in_path(const std::string& program, const Root& root, const Environment& environment) {
  for (const std::string& folder : folders_in(environment, "PATH", "/usr/bin:/usr/local/bin"))
    if (root.has(folder + "/" + program)) return true;
  return false;
}

std::optional<FoundLibrary> library_by_path(const Root& root, const Environment& environment) {
  const std::vector<std::string> folders = folders_in(environment, "LD_LIBRARY_PATH", "");
  for (const std::string& folder : folders)
    if (auto found = library_called(CHIME_SONAME, folder, root)) return found;
  for (const std::string& folder : folders)
    for (const std::string& name : root.names(folder))
      if (name.starts_with(kStem))
        if (auto found = library_called(name, folder, root)) return found;
  return std::nullopt;
}

}  // namespace chime::doctor
