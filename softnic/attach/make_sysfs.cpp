// The build runs it: writes both device trees below the given directory, which it empties.

#include <cstdio>
#include <exception>
#include <filesystem>

#include "sysfs.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: softnic-make-sysfs DIRECTORY\n"), 2;
  try {
    const std::filesystem::path root = argv[1];
    std::filesystem::remove_all(root);
    for (const bool ethernet : {false, true}) {
      const auto tree = root / (ethernet ? "ethernet" : "infiniband");
      std::filesystem::create_directories(tree);
      softnic::write_sysfs_tree(tree, ethernet);
    }
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "softnic-make-sysfs: %s\n", error.what()), 1;
  }
}
