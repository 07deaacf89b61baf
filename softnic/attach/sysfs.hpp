// The device tree in which libibverbs, libmlx5 and UCX find the emulated device: the part of /sys
// that they read, with the kernel's real topology (class links into a PCI device), under a
// directory given by SYSFS_PATH.
#pragma once

#include <filesystem>

namespace softnic {

// Writes the tree below `root`, which must exist and be empty. `ethernet`: RoCE v2 port with
// IPv4-mapped GIDs, else an InfiniBand port. Throws std::filesystem::filesystem_error or
// std::runtime_error.
void write_sysfs_tree(const std::filesystem::path& root, bool ethernet);

}  // namespace softnic
