#include "host/trace/paths.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "host/errors/error.hpp"

namespace chime::trace {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& what) {
  throw host::Error("CHIME_TRACE", CHIMEX_ERR_INVALID, what);
}

}  // namespace

std::string folder_of_parts(const std::string& path) { return path + ".parts"; }

std::string part_of(const std::string& path, int first_pe) {
  return fmt::format("{}/pe{}", folder_of_parts(path), first_pe);
}

void prepare(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    refuse(fmt::format("'{}' is a folder; name a file, such as {}/run.json", path, path));
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, error))
    refuse(
        fmt::format("'{}' cannot be written: there is no folder {}; make it, or name another "
                    "file",
                    path, parent.string()));
  const std::string folder = folder_of_parts(path);
  fs::create_directory(folder, error);
  if (error || ::access(folder.c_str(), W_OK | X_OK) != 0)
    refuse(
        fmt::format("'{}' cannot be written: the folder {} for its parts cannot be {}: {}; "
                    "name a file where this user may write",
                    path, folder, error ? "made" : "written",
                    error ? error.message() : std::generic_category().message(errno)));
}

void remove_earlier(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error)
    refuse(fmt::format("the timeline of an earlier job, '{}', cannot be removed: {}", path,
                       error.message()));
}

void remove_parts_of_earlier(const std::string& path) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_of_parts(path), ignored))
    if (entry.path().filename().string().starts_with("pe")) fs::remove(entry.path(), ignored);
}

void remove_part(const std::string& file, const std::string& path) {
  std::error_code ignored;
  fs::remove(file, ignored);
  remove_empty_folder(path);
}

void remove_empty_folder(const std::string& path) {
  std::error_code ignored;
  const std::string folder = folder_of_parts(path);
  if (fs::is_directory(folder, ignored)) fs::remove(folder, ignored);
}

std::string numbered(const std::string& path, int number) {
  std::error_code error;
  fs::path file = fs::absolute(path, error);
  if (error) file = path;
  if (number < 2) return file.string();
  const fs::path extension = file.extension();
  return fmt::format("{}.{}{}", file.replace_extension().string(), number, extension.string());
}

}  // namespace chime::trace
