#include "softgpu/header_folders.hpp"

#include <algorithm>
#include <filesystem>

#include "softgpu/cache_files.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu {

namespace fs = std::filesystem;

namespace {

bool have_headers(const std::vector<std::string>& folders) {
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return is_readable(folder + '/' + kVocabularyHeader);
  });
}

}  // namespace

std::vector<std::string> split(std::string_view list, char between) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(between), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::vector<std::string> header_folders(const std::string& library, std::string_view installed,
                                        std::string_view built) {
  std::string missing;
  for (const std::string& from_library : split(installed, ':')) {
    const std::string folder = (fs::path(library).parent_path() / from_library).string();
    if (have_headers({folder})) return {folder};
    missing += folder + ", ";
  }
  const std::vector<std::string> folders = split(built, ':');
  if (have_headers(folders)) return folders;
  throw PtxError(0, "softgpu's headers are in none of " + missing + std::string(built));
}

}  // namespace softgpu
