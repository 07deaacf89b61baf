// The files of a machine below a folder: "/", or a tree that was recorded elsewhere. What cannot be
// read is absent: a check says what it lacks.
//
// libibverbs and Chime look for this machine's NICs where the variable SYSFS_PATH points. So does
// the doctor.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chime::doctor {

class Root {
 public:
  explicit Root(std::filesystem::path folder, std::string rdma_sysfs = "/sys")
      : folder_(std::move(folder)), rdma_sysfs_(std::move(rdma_sysfs)) {}

  // All paths begin with "/".
  bool has(const std::string& path) const;
  std::optional<std::string> bytes(const std::string& path) const;
  // Without blanks and zero bytes at its end.
  std::optional<std::string> text(const std::string& path) const;
  std::optional<long long> number(const std::string& path) const;
  // The names in a folder, sorted; none if it is not there.
  std::vector<std::string> names(const std::string& path) const;
  // Where links lead to: "/sys/devices/pci0000:80/0000:81:00.0".
  std::optional<std::string> resolved(const std::string& path) const;
  // The last part of that.
  std::string name_behind(const std::string& path) const;

 private:
  std::filesystem::path at(const std::string& path) const;

  std::filesystem::path folder_;
  std::string rdma_sysfs_;
};

Root root_of_this_machine();

}  // namespace chime::doctor
