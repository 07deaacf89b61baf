// The device tree that came with this library, and the variable by which libibverbs finds it.
#pragma once

#include <string>

namespace softnic {

// The tree's path. Throws std::runtime_error if it is not beside the library.
std::string own_tree(bool ethernet);

// Sets SYSFS_PATH to it, unless the environment names another tree. Reports a failure on stderr.
void use_own_tree_by_default();

}  // namespace softnic
