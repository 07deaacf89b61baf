#include "host/diagnosis/root.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace chime::doctor {

namespace fs = std::filesystem;

fs::path Root::at(const std::string& path) const {
  const std::string sysfs = "/sys";
  const bool is_rdma = path.starts_with("/sys/class/infiniband");
  const std::string place = is_rdma ? rdma_sysfs_ + path.substr(sysfs.size()) : path;
  return folder_ / place.substr(1);
}

bool Root::has(const std::string& path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

// The kernel refuses to read some files that it shows, such as the interface of an empty GID.
std::optional<std::string> Root::bytes(const std::string& path) const try {
  std::ifstream file(at(path), std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
} catch (const std::ios_base::failure&) {
  return std::nullopt;
}

std::optional<std::string> Root::text(const std::string& path) const {
  auto all = bytes(path);
  if (all) all->erase(all->find_last_not_of(std::string_view(" \n\t\0", 4)) + 1);
  return all;
}

std::optional<long long> Root::number(const std::string& path) const {
  const auto digits = text(path);
  if (!digits) return std::nullopt;
  char* end = nullptr;
  const long long value = std::strtoll(digits->c_str(), &end, 0);
  if (end == digits->c_str()) return std::nullopt;
  return value;
}

std::vector<std::string> Root::names(const std::string& path) const {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator one(at(path), error), end; !error && one != end; one.increment(error))
    found.push_back(one->path().filename().string());
  std::ranges::sort(found);
  return found;
}

std::optional<std::string> Root::resolved(const std::string& path) const {
  std::error_code error;
  const fs::path whole = fs::canonical(at(path), error);
  if (error) return std::nullopt;
  const fs::path below = whole.lexically_relative(fs::canonical(folder_, error));
  return "/" + below.string();
}

std::string Root::name_behind(const std::string& path) const {
  const auto whole = resolved(path);
  return whole ? whole->substr(whole->rfind('/') + 1) : std::string();
}

Root root_of_this_machine() {
  const char* const sysfs = std::getenv("SYSFS_PATH");
  const bool is_path = sysfs != nullptr && *sysfs == '/';
  return Root("/", is_path ? sysfs : "/sys");
}

}  // namespace chime::doctor
