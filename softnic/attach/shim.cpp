// The libc calls that libibverbs and libmlx5 make on a device, answered for the emulated one. Works
// preloaded (LD_PRELOAD=libsoftnic.so), linked, or patched into those libraries alone
// (imports.cpp).
//
// Entry points may run before C++ constructors and after destructors of this library (UCX does
// both), so all state here is constant-initialised. Calls on other files go on by the raw system
// call.

#include "shim.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include "identity.hpp"
#include "nic.hpp"
#include "softnic/kernel/uverbs.hpp"
#include "softnic/observe/log.hpp"

namespace {

constexpr int kMaxFiles = 65536;
// Which files are device files, and of which process: 0 = none, else the generation that opened it.
// A child of fork() is the next generation. Constant-initialised.
std::atomic<std::uint8_t> generation_of_file[kMaxFiles];
std::atomic<std::uint64_t> identity_of_file[kMaxFiles];  // of the doorbell pages behind it
std::atomic<std::uint8_t> generation{1};
std::atomic<int> open_files{0};

// Distinguishes files, whatever their numbers.
std::uint64_t identity_of(int fd) {
  struct stat status {};
  if (::syscall(SYS_fstat, fd, &status) != 0) return 0;
  return status.st_dev * 0x9e3779b97f4a7c15ull ^ status.st_ino;
}

void forget(int fd) {
  const std::uint8_t opened_by = generation_of_file[fd].exchange(0, std::memory_order_relaxed);
  if (opened_by != generation.load(std::memory_order_relaxed)) return;
  if (softnic::Nic* nic = softnic::Nic::existing()) softnic::release(*nic, fd);
  open_files.fetch_sub(1, std::memory_order_relaxed);
}

// The program may give a device file's number to another file without passing here: dup2() over it,
// close_range().
bool is_ours(int fd) {
  if (fd < 0 || fd >= kMaxFiles || generation_of_file[fd].load(std::memory_order_relaxed) == 0)
    return false;
  if (identity_of(fd) == identity_of_file[fd].load(std::memory_order_relaxed)) return true;
  forget(fd);
  return false;
}
bool is_inherited(int fd) {
  return generation_of_file[fd].load(std::memory_order_relaxed) !=
         generation.load(std::memory_order_relaxed);
}
bool is_ours(const char* path) {
  return path && std::strcmp(path, softnic::identity::kUverbsPath) == 0;
}
bool is_rdma_cm(const char* path) {
  return path && std::strcmp(path, softnic::identity::kRdmaCmPath) == 0;
}

// Another number of one of our files, by dup() or from another process. It does not show which open
// file it was made from, so it is recognised, but not served.
bool is_duplicate(int fd) {
  const softnic::Nic* nic = softnic::Nic::existing();
  return nic && fd >= 0 && fd != nic->bar_fd() && identity_of(fd) == identity_of(nic->bar_fd());
}

int open_device() try {
  const int bar = softnic::Nic::instance().bar_fd();
  const int fd = static_cast<int>(::syscall(SYS_fcntl, bar, F_DUPFD_CLOEXEC, 3));
  if (fd >= kMaxFiles) {
    ::syscall(SYS_close, fd);
    errno = EMFILE;
    return -1;
  }
  if (fd < 0) return -1;
  if (generation_of_file[fd].load(std::memory_order_relaxed) != 0) forget(fd);  // closed unseen
  identity_of_file[fd].store(identity_of(fd), std::memory_order_relaxed);
  generation_of_file[fd].store(generation.load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
  open_files.fetch_add(1, std::memory_order_relaxed);
  return fd;
} catch (const std::exception& error) {  // the caller is C
  softnic::print("%s\n", error.what());
  errno = ENODEV;
  return -1;
}

// As on a machine without the module rdma_ucm, also if this one has it: the program does not see
// that module's devices. Programs that can do without it go on (UCX looks for it).
int refuse_rdma_cm() {
  static std::atomic<bool> reported{false};
  if (!reported.exchange(true, std::memory_order_relaxed))
    softnic::print(
        "softnic: rdma_cm is not emulated (%s): a program that needs it fails now. Have it connect "
        "without (perftest: no -R; ibv_rc_pingpong for rping; UCX does by itself)\n",
        softnic::identity::kRdmaCmPath);
  errno = ENOENT;
  return -1;
}

// The ioctl of ibv_import_device().
int refuse_import() {
  errno = EOPNOTSUPP;
  return -1;
}

int device_status(struct stat* status) {
  std::memset(status, 0, sizeof *status);
  status->st_mode = S_IFCHR | 0666;
  status->st_rdev = makedev(softnic::identity::kUverbsMajor, softnic::identity::kUverbsMinor);
  return 0;
}

}  // namespace

extern "C" {

int softnic_open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if (is_ours(path)) return open_device();
  if (is_rdma_cm(path)) return refuse_rdma_cm();
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int softnic_stat(const char* path, struct stat* status) {
  if (is_ours(path)) return device_status(status);
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

int softnic_fstat(int fd, struct stat* status) {
  if (is_ours(fd) || is_duplicate(fd)) return device_status(status);
  return static_cast<int>(::syscall(SYS_fstat, fd, status));
}

int softnic_access(const char* path, int mode) {
  if (is_ours(path)) return 0;
  return static_cast<int>(::syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

int softnic_ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request != RDMA_VERBS_IOCTL || !(is_ours(fd) || is_duplicate(fd)))
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
  if (!is_ours(fd)) return refuse_import();
  softnic::Nic* nic = is_inherited(fd) ? nullptr : softnic::Nic::existing();
  const int error =
      nic ? softnic::serve(*nic, fd, static_cast<ib_uverbs_ioctl_hdr*>(argument)) : EIO;
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// An old method to send commands. No library of the last years uses it; it must not write to the
// doorbell pages.
ssize_t softnic_write(int fd, const void* from, size_t bytes) {
  if (!is_ours(fd)) return ::syscall(SYS_write, fd, from, bytes);
  errno = EOPNOTSUPP;
  return -1;
}

int softnic_close(int fd) {
  if (is_ours(fd)) forget(fd);
  return static_cast<int>(::syscall(SYS_close, fd));
}

// libibverbs first asks the kernel's RDMA netlink for devices. When refused, it reads sysfs, which
// has ours. A program that only lists devices comes no further than here.
int softnic_socket(int domain, int type, int protocol) {
  constexpr int kNetlinkRdma = 20;
  if (domain == AF_NETLINK && protocol == kNetlinkRdma) {
    softnic::warn_of_unknown_variables();
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_socket, domain, type, protocol));
}

}  // extern "C"

int softnic_open_files() { return open_files.load(std::memory_order_relaxed); }

void softnic_disown_files() {
  // 0 means "none", so the count continues at 1
  const auto next = static_cast<std::uint8_t>(generation.load(std::memory_order_relaxed) + 1);
  generation.store(next ? next : 1, std::memory_order_relaxed);
  open_files.store(0, std::memory_order_relaxed);
}
