// The number of a device file may come to name another file by ways that no library takes.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "hca.hpp"

namespace direct {
namespace {

class DeviceFiles : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(ReplacedBy, DeviceFiles, testing::Bool(),
                         [](const auto& info) { return info.param ? "Dup2" : "CloseRange"; });

TEST_P(DeviceFiles, GiveTheirNumberToAnotherFile) {
  static auto& lost = *new std::vector<ibv_context*>;  // beyond closing
  lost.push_back(check(ibv_open_device(Hca::instance().context()->device), "ibv_open_device"));
  const int number = lost.back()->cmd_fd;
  const int other = ::memfd_create("other", MFD_CLOEXEC);
  if (!GetParam()) check_zero(::close_range(number, number, 0), "close_range");
  ASSERT_EQ(::dup2(other, number), number);
  struct stat status {};
  ASSERT_EQ(::fstat(number, &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode)) << std::oct << status.st_mode;
  EXPECT_EQ(::write(number, "hello", 5), 5) << std::strerror(errno);
  EXPECT_EQ(::close(number), 0);
  EXPECT_EQ(::close(other), 0);
}

}  // namespace
}  // namespace direct
