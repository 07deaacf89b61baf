#include "host/gpu/memfd.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "chime/abi/resource_limits.h"
#include "chime/device/simt/memory/memory_kind.hpp"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

constexpr MemfdUse kLocalPeersHeap{"", "another PE's heap", MemoryOf::kDevice, true};
constexpr MemfdUse kLocalPeersControlPage{"", "another PE's control page", MemoryOf::kHost};

simt::MemoryKind kind_of(MemoryOf whose) {
  return whose == MemoryOf::kDevice ? simt::MemoryKind::kDevice : simt::MemoryKind::kHost;
}

std::string in_words(std::size_t bytes) {
  return bytes >> 20 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes) + " bytes";
}

// Addresses for `bytes` from a multiple of `alignment` on; MAP_FAILED if there are none.
void* reserve(std::size_t bytes, std::size_t alignment) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t slack = alignment > page ? alignment - page : 0;
  void* const reserved =
      ::mmap(nullptr, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return reserved;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(reserved) & (alignment - 1);
  std::byte* const first = static_cast<std::byte*>(reserved) + before;
  const std::size_t whole_pages = (bytes + page - 1) / page * page;
  if (before > 0) ::munmap(reserved, before);
  if (before < slack) ::munmap(first + whole_pages, slack - before);
  return first;
}

constexpr char kSmaller[] = " (CHIME_SYMMETRIC_SIZE makes it smaller)";

std::string why_not_mapped(std::size_t bytes) {
  const int error = errno;
  const std::string limit = abi::why_no_memory(bytes, false);
  errno = error;
  return limit.empty() ? "vm.overcommit_memory bounds it" : limit;
}

std::byte* map_shared(int fd, const MemfdUse& use, std::size_t bytes, std::size_t alignment) {
  void* const place = reserve(bytes, alignment);
  void* address = place;
  if (place != MAP_FAILED)
    address =
        ::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (place != MAP_FAILED && address == MAP_FAILED) ::munmap(place, bytes);
  if (address == MAP_FAILED)
    throw system_error("shared memory", "cannot map " + in_words(bytes) + " for " + use.words +
                                            ": " + why_not_mapped(bytes + alignment) +
                                            (use.is_heap ? kSmaller : ""));
  // Fewer page faults and TLB misses where the administrator allows huge pages for shared memory;
  // else no effect.
  ::madvise(address, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(address);
}

// A mapping, and for memory that was created here the file behind it (-1 for a peer's).
class MemfdMemory final : public DeviceMemory {
 public:
  MemfdMemory(int owned_fd, std::byte* address, std::size_t bytes, MemoryOf whose)
      : fd_(owned_fd),
        address_(address),
        bytes_(bytes),
        marked_(std::in_place, address, bytes, kind_of(whose)) {}
  MemfdMemory(const MemfdMemory&) = delete;
  MemfdMemory& operator=(const MemfdMemory&) = delete;
  ~MemfdMemory() override {
    marked_.reset();
    ::munmap(address_, bytes_);
    if (fd_ >= 0) ::close(fd_);
  }

  std::byte* address() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }
  int share_fd() const override { return fd_; }
  const std::byte* fabric_handle() const override { return nullptr; }

 private:
  int fd_;
  std::byte* address_;
  std::size_t bytes_;
  std::optional<simt::MarkedMemory> marked_;
};

std::string refusal(const MemfdUse& use, std::size_t bytes) {
  return "cannot give " + in_words(bytes) + " to " + use.words;
}

}  // namespace

std::unique_ptr<DeviceMemory> create_memfd(const MemfdUse& use, std::size_t bytes,
                                           std::size_t alignment) {
  if (const std::string why = abi::why_no_file(bytes); !why.empty())
    throw Error("shared memory", CHIMEX_ERR_SYSTEM,
                refusal(use, bytes) + ": " + why +
                    (use.is_heap ? ", or make CHIME_SYMMETRIC_SIZE smaller" : ""));
  int fd = ::memfd_create(use.name, MFD_CLOEXEC);
  if (fd < 0) throw system_error("shared memory", "memfd_create failed (see ulimit -n)");
  try {
    if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
      throw system_error("shared memory", refusal(use, bytes) + (use.is_heap ? kSmaller : ""));
    return std::make_unique<MemfdMemory>(fd, map_shared(fd, use, bytes, alignment), bytes,
                                         use.whose);
  } catch (...) {
    ::close(fd);
    throw;
  }
}

std::unique_ptr<DeviceMemory> map_memfd(int fd, MemoryOf whose, std::size_t bytes) {
  const MemfdUse& use = whose == MemoryOf::kDevice ? kLocalPeersHeap : kLocalPeersControlPage;
  return std::make_unique<MemfdMemory>(-1, map_shared(fd, use, bytes, 1), bytes, whose);
}

}  // namespace chime::host
