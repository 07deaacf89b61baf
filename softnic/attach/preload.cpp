// libc's names for the shim, for LD_PRELOAD and linking. Calls that are not for the device go on to
// the kernel.

#define SOFTNIC_EXPORT extern "C" __attribute__((visibility("default")))

#include <dlfcn.h>
#include <fcntl.h>

#include <cstdarg>

#include "own_tree.hpp"
#include "shim.hpp"

SOFTNIC_EXPORT int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  return softnic_open(path, flags, mode);
}
SOFTNIC_EXPORT int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  return softnic_open(path, flags | O_LARGEFILE, mode);
}
SOFTNIC_EXPORT int stat(const char* __restrict path, struct stat* __restrict status) noexcept {
  return softnic_stat(path, status);
}
SOFTNIC_EXPORT int fstat(int fd, struct stat* status) noexcept { return softnic_fstat(fd, status); }
SOFTNIC_EXPORT int access(const char* path, int mode) noexcept {
  return softnic_access(path, mode);
}
SOFTNIC_EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return softnic_ioctl(fd, request, argument);
}
SOFTNIC_EXPORT ssize_t write(int fd, const void* from, size_t bytes) {
  return softnic_write(fd, from, bytes);
}
SOFTNIC_EXPORT int close(int fd) { return softnic_close(fd); }
SOFTNIC_EXPORT int socket(int domain, int type, int protocol) noexcept {
  return softnic_socket(domain, type, protocol);
}

namespace {

// Whether the program's libraries call this library for libc's names. This is false if it was
// loaded with dlopen, or if a sanitizer's interceptors come first: then use softnic_activate().
bool takes_over_libc() {
  Dl_info theirs{}, ours{};
  void* const in_use = ::dlsym(RTLD_DEFAULT, "ioctl");
  return in_use && ::dladdr(in_use, &theirs) &&
         ::dladdr(reinterpret_cast<void*>(&softnic::own_tree), &ours) &&
         theirs.dli_fbase == ours.dli_fbase;
}

// When this library is preloaded or linked, the device is there without softnic-run.
[[gnu::constructor]] void show_device() {
  if (takes_over_libc()) softnic::use_own_tree_by_default();
}

}  // namespace
