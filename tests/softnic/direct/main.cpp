// Each run has a fabric of its own, so that programs that run at the same time do not reach each
// other.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  ::setenv("SOFTNIC_FABRIC", ("direct-" + std::to_string(::getpid())).c_str(), 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
