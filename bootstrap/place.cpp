#include "bootstrap/place.hpp"

#include <unistd.h>

#include <fstream>

namespace chime::bootstrap {
namespace {

// `space`: "net" or "pid". The kernel alone where /proc does not tell.
std::string kernel_and(const std::string& space) {
  std::string boot_id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
  char name[64] = "";
  if (readlink(("/proc/self/ns/" + space).c_str(), name, sizeof name - 1) < 0) return boot_id;
  return boot_id + " " + name;
}

}  // namespace

std::string name_of_this_node() { return kernel_and("net"); }

std::string name_of_this_process_space() { return kernel_and("pid"); }

}  // namespace chime::bootstrap
