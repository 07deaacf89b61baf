// Memory named by a descriptor, here a memfd: data written to the region reaches the file. Also the
// kernel's refusals.
#include <sys/mman.h>
#include <unistd.h>

#include "routes.hpp"

namespace direct {
namespace {

constexpr std::size_t kPage = 4096, kPages = 8;

class DmaBuf : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = ::memfd_create("dma-buf", MFD_CLOEXEC);
    ASSERT_EQ(::ftruncate(fd_, kPages * kPage), 0);
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
  }
  void TearDown() override {
    ::munmap(memory_, kPages * kPage);
    ::close(fd_);
  }
  ibv_mr* reg(std::uint64_t offset, std::size_t bytes, std::uint64_t iova, int access,
              int fd) const {
    errno = 0;
    return ibv_reg_dmabuf_mr(Hca::instance().pd(), offset, bytes, iova, fd, access);
  }
  void expect_refused(int error, std::uint64_t offset, std::size_t bytes, std::uint64_t iova,
                      int access, int fd) const {
    EXPECT_EQ(reg(offset, bytes, iova, access, fd), nullptr);
    EXPECT_EQ(errno, error);
  }
  static constexpr int kWrites = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  int fd_ = -1;
  std::byte* memory_ = nullptr;
};

TEST_F(DmaBuf, WhatIsNoMemoryIsRefused) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  expect_refused(EINVAL, 0, kPage, 0, kWrites, pipe[0]);
  expect_refused(EBADF, 0, kPage, 0, kWrites, 999);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(DmaBuf, WhatIsBeyondItsEndIsRefused) {
  expect_refused(EINVAL, 0, kPages * kPage + 1, 0, kWrites, fd_);
  expect_refused(EINVAL, kPages * kPage, kPage, 0, kWrites, fd_);
  expect_refused(EINVAL, ~std::uint64_t{0} - kPage + 1, kPage, 0, kWrites, fd_);
  ::lseek(fd_, 2 * kPage, SEEK_SET);  // now it exports the pages from the third on
  expect_refused(EINVAL, 0, (kPages - 1) * kPage, 0, kWrites, fd_);
}

TEST_F(DmaBuf, WrongAccessAndPlacesAreRefused) {
  expect_refused(EINVAL, 0, 0, 0, kWrites, fd_);
  expect_refused(EINVAL, 0, kPage, 8, kWrites, fd_);
  expect_refused(EINVAL, 0, kPage, 0, IBV_ACCESS_REMOTE_WRITE, fd_);
  expect_refused(EINVAL, 0, kPage, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND, fd_);
}

// A program may close the file: the region keeps the memory.
TEST_F(DmaBuf, IsRegisteredAndGivenBack) {
  ibv_mr* const region = reg(kPage, 2 * kPage, 0x10000, kWrites, fd_);
  ASSERT_NE(region, nullptr) << errno;
  EXPECT_NE(region->lkey, 0u);
  EXPECT_EQ(ibv_dereg_mr(region), 0);
}

// The export begins at page 1 of the file, the region at the export's page 2. Requests use `kIova`
// as the address of the region's first byte.
class DmaBufTransfers : public OverRoutes {
 protected:
  static constexpr std::uint64_t kIova = 0x40000000;
  static constexpr std::size_t kFilePages = 16, kAt = 3;  // of the file

  DmaBufTransfers() {
    const int fd = ::memfd_create("dma-buf", MFD_CLOEXEC);
    check_zero(::ftruncate(fd, kFilePages * kPage), "ftruncate");
    memory_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, kFilePages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ::lseek(fd, kPage, SEEK_SET);
    mr_ = check(ibv_reg_dmabuf_mr(Hca::instance().pd(), (kAt - 1) * kPage, 4 * kPage, kIova, fd,
                                  kAllAccess),
                "ibv_reg_dmabuf_mr");
    ::close(fd);  // the region keeps the memory
  }
  ~DmaBufTransfers() override {
    ibv_dereg_mr(mr_);
    ::munmap(memory_, kFilePages * kPage);
  }
  void* at(std::size_t offset) const { return reinterpret_cast<void*>(kIova + offset); }

  std::uint8_t* memory_ = nullptr;
  ibv_mr* mr_ = nullptr;
  Memory host{4 * kPage};
  Pair pair{GetParam()};
  Endpoint& left = *pair.left;
};
CHIME_OVER_BOTH_ROUTES(DmaBufTransfers);

TEST_P(DmaBufTransfers, GoToTheFileWhereTheExportSays) {
  host.fill(0, 9000, 5);
  complete(left, Wqe(kWrite).remote(at(8), mr_->rkey).data(host.at(0), 9000, host.lkey()));
  EXPECT_EQ(std::memcmp(memory_ + kAt * kPage + 8, host.at(0), 9000), 0);
  EXPECT_EQ(memory_[kAt * kPage + 7], 0);
  for (std::size_t i = 0; i < 5000; ++i)
    memory_[kAt * kPage + 100 + i] = static_cast<std::uint8_t>(i * 3);
  complete(left, Wqe(kRead).remote(at(100), mr_->rkey).data(host.at(0), 5000, host.lkey()));
  EXPECT_EQ(std::memcmp(memory_ + kAt * kPage + 100, host.at(0), 5000), 0);
}

}  // namespace
}  // namespace direct
