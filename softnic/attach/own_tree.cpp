#include "own_tree.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "softnic/observe/log.hpp"
#include "softnic/observe/settings.hpp"
#include "tree_path.hpp"

namespace softnic {

std::string own_tree(bool ethernet) {
  Dl_info library{};
  if (!::dladdr(reinterpret_cast<void*>(&own_tree), &library))
    throw std::runtime_error("softnic: cannot find out where libsoftnic.so is");
  const auto tree = tree_beside(std::filesystem::weakly_canonical(library.dli_fname), ethernet);
  std::error_code ignored;
  if (!std::filesystem::exists(tree / "class/infiniband_verbs/uverbs0", ignored))
    throw std::runtime_error("softnic: the device tree " + tree.string() +
                             " is not there; it belongs beside libsoftnic.so");
  return tree;
}

void use_own_tree_by_default() try {
  if (!std::getenv("SYSFS_PATH")) ::setenv("SYSFS_PATH", own_tree(settings().ethernet).c_str(), 1);
} catch (const std::exception& error) {
  print("%s\n", error.what());
}

}  // namespace softnic
