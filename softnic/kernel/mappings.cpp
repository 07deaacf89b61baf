#include "mappings.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace softnic {
namespace {

// One line of /proc/self/maps: "start-end rwxp ...".
struct Mapping {
  std::uint64_t start = 0, end = 0;
  bool is_readable = false, is_writable = false;
};

// The process's mappings in the order of their addresses. Uses raw system calls and no heap: the
// caller may be a program's own allocator or interposed libc.
class Mappings {
 public:
  Mappings()
      : fd_(static_cast<int>(
            ::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0))) {}
  Mappings(const Mappings&) = delete;
  ~Mappings() {
    if (fd_ >= 0) ::syscall(SYS_close, fd_);
  }
  bool is_open() const { return fd_ >= 0; }

  std::optional<Mapping> next() {
    Mapping m;
    if (!hex(m.start) || !hex(m.end)) return std::nullopt;
    m.is_readable = character() == 'r';
    m.is_writable = character() == 'w';
    for (int c = character(); c != '\n' && c >= 0;) c = character();
    return m;
  }

 private:
  // A number and the character after it.
  bool hex(std::uint64_t& value) {
    int c = character();
    if (c < 0) return false;
    for (; c != '-' && c != ' ' && c >= 0; c = character())
      value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    return true;
  }
  int character() {
    if (at_ == filled_) {
      const long got = ::syscall(SYS_read, fd_, buffer_, sizeof buffer_);
      if (got <= 0) return -1;
      at_ = 0;
      filled_ = static_cast<std::size_t>(got);
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

  int fd_;
  char buffer_[4096];
  std::size_t at_ = 0, filled_ = 0;
};

}  // namespace

// msync(MS_ASYNC) writes nothing: it walks the mappings and reports a hole.
bool is_mapped(std::uint64_t start, std::uint64_t bytes) {
  const std::uint64_t first = start / kPageBytes * kPageBytes;
  if (bytes == 0) return true;
  if (start + bytes < start) return false;
  return ::syscall(SYS_msync, first, start + bytes - first, MS_ASYNC) == 0;
}

// As pin_user_pages() of Linux 6.2 and newer: reading needs VM_READ, writing needs VM_WRITE.
// Without /proc, all mapped memory counts as permitted.
bool can_pin(std::uint64_t start, std::uint64_t bytes, Use use) {
  if (bytes == 0) return true;
  if (start + bytes < start) return false;
  Mappings mappings;
  if (!mappings.is_open()) return is_mapped(start, bytes);
  std::uint64_t at = start;
  while (const auto m = mappings.next()) {
    if (m->end <= at) continue;
    if (m->start > at) return false;
    if (!(use == Use::kWrite ? m->is_writable : m->is_readable)) return false;
    at = m->end;
    if (at >= start + bytes) return true;
  }
  return false;
}

// Uses the kernel's own copy, which respects protection. If a sandbox forbids these calls (EPERM,
// ENOSYS), all mapped memory counts as permitted.
bool is_readable(std::uint64_t start, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (!is_mapped(start, bytes)) return false;
  for (std::uint64_t at = start; at < start + bytes; at = (at / kPageBytes + 1) * kPageBytes) {
    std::byte one;
    const iovec here{&one, 1}, there{reinterpret_cast<void*>(at), 1};
    if (::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == 1) continue;
    if (errno == EFAULT) return false;
  }
  return true;
}

bool copy_out(std::uint64_t to, const void* from, std::size_t bytes) {
  if (!is_mapped(to, bytes)) return false;
  const iovec here{const_cast<void*>(from), bytes}, there{reinterpret_cast<void*>(to), bytes};
  const auto copied = ::process_vm_writev(::getpid(), &here, 1, &there, 1, 0);
  if (copied == static_cast<ssize_t>(bytes)) return true;
  if (copied >= 0 || errno == EFAULT) return false;
  std::memcpy(there.iov_base, from, bytes);
  return true;
}

}  // namespace softnic
