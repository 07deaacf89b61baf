// A program may give a device file's number to another file, by calls that no library makes.

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
  static auto& lost = *new std::vector<ibv_context*>;  // contexts that can no longer be closed
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

// A duplicate looks like a device file, so libibverbs asks it for its context. That is refused.
TEST(DuplicatesOfDeviceFiles, CannotBeImported) {
  ibv_context* const context = Hca::instance().context();
  const int duplicate = ::dup(context->cmd_fd);
  struct stat original {
  }, status{};
  ASSERT_EQ(::fstat(context->cmd_fd, &original), 0);
  ASSERT_EQ(::fstat(duplicate, &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode)) << std::oct << status.st_mode;
  EXPECT_EQ(status.st_rdev, original.st_rdev);
  EXPECT_EQ(ibv_import_device(duplicate), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ::close(duplicate);
  ibv_device_attr device{};
  EXPECT_EQ(ibv_query_device(context, &device), 0) << "the original does not go with it";
}

}  // namespace
}  // namespace direct
