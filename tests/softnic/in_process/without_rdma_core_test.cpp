// A machine without rdma-core: here dlopen fails for one library at a time.

#include <gtest/gtest.h>

#include <cstring>

#include "child.hpp"
#include "softnic.hpp"

namespace {
const char* missing = "";
}

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* path, int flags) {
  static const auto real =
      reinterpret_cast<void* (*)(const char*, int)>(::dlsym(RTLD_NEXT, "dlopen"));
  return real(path && std::strcmp(path, missing) == 0 ? "/nowhere/libmissing.so" : path, flags);
}

TEST(WithoutRdmaCore, ActivationNamesWhatIsMissing) {
  for (const char* library : {"libibverbs.so.1", "libmlx5.so.1"}) {
    in_child([&] {
      const Softnic softnic;
      missing = library;
      EXPECT_EQ(softnic.activate(nullptr), SOFTNIC_NO_RDMA_CORE);
      const std::string said = softnic.error();
      EXPECT_TRUE(said.starts_with(std::string("softnic: cannot load ") + library)) << said;
      EXPECT_EQ(::getenv("SYSFS_PATH"), nullptr);
    });
  }
}
