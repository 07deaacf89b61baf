// The device tree that came with this library, and the variable that shows it to libibverbs.
#pragma once

#include <string>

namespace softnic {

// The tree's path. Throws std::runtime_error when it is not beside the library.
std::string own_tree(bool ethernet);

// Sets SYSFS_PATH to it, if the environment does not name another tree. Says so on stderr when it
// cannot.
void use_own_tree_unless_told();

}  // namespace softnic
