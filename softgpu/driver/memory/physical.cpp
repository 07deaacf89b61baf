#include "softgpu/driver/memory/physical.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "softgpu/driver/device.hpp"
#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"

namespace softgpu::driver {

namespace {

// The kernel shows it as the file's name: so an importer recognises device memory, and its device.
constexpr char kName[] = "softgpu-device-";

// The first page gets a pattern instead of zeros: memory is not cleared, and a program that forgets
// to clear it shows it.
bool spoil(int fd) {
  static constexpr auto kPage = [] {
    std::array<unsigned char, 4096> page{};
    page.fill(0xa5);  // as cuMemAlloc does (pool.cpp)
    return page;
  }();
  return ::pwrite(fd, kPage.data(), kPage.size(), 0) == static_cast<ssize_t>(kPage.size());
}

// -1: `fd` is no device memory.
int device_of_descriptor(int fd) {
  char name[128] = "";
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(path.c_str(), name, sizeof name - 1);
  const std::string prefix = std::string("/memfd:").append(kName);
  int ordinal = -1;
  if (length <= 0 || std::string(name).compare(0, prefix.size(), prefix) != 0 ||
      std::sscanf(name + prefix.size(), "%d", &ordinal) != 1)
    return -1;
  return ordinal;
}

}  // namespace

std::shared_ptr<Physical> Physical::create(Device& device, std::size_t bytes, bool is_exportable) {
  device.take(bytes);
  const std::string name = kName + std::to_string(device.ordinal());
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0 && spoil(fd))
    return std::shared_ptr<Physical>(
        new Physical(&device, device.ordinal(), bytes, fd, is_exportable));
  const int error = errno;
  if (fd >= 0) ::close(fd);
  device.give_back(bytes);
  fail(CUDA_ERROR_OUT_OF_MEMORY, "no file of %zu bytes: %s (see ulimit -n, ulimit -f)", bytes,
       std::strerror(error));
}

std::shared_ptr<Physical> Physical::import(int fd) {
  const int ordinal = device_of_descriptor(fd);
  struct stat file = {};
  if (ordinal < 0 || ordinal >= device_count() || ::fstat(fd, &file) != 0 ||
      !is_whole(static_cast<std::size_t>(file.st_size)))
    fail(CUDA_ERROR_INVALID_VALUE,
         "descriptor %d is not memory of a device that this process has (CHIME_SOFTGPU_DEVICES)",
         fd);
  const int own = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) fail(CUDA_ERROR_OPERATING_SYSTEM, "dup: %s (see ulimit -n)", std::strerror(errno));
  return std::shared_ptr<Physical>(
      new Physical(nullptr, ordinal, static_cast<std::size_t>(file.st_size), own, false));
}

Physical::~Physical() {
  ::close(fd_);
  if (taken_from_) taken_from_->give_back(bytes_);
}

Registry<Physical, CUmemGenericAllocationHandle>& physical_memory() {
  return immortal<Registry<Physical, CUmemGenericAllocationHandle>>();
}

}  // namespace softgpu::driver
