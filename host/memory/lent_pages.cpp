#include "host/memory/lent_pages.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>

#include "host/errors/error.hpp"
#include "host/errors/log.hpp"

namespace chime::host {
namespace {

std::uint64_t as_number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

std::string in_words(const Pages& pages) {
  return fmt::format("{:#x}..{:#x}", as_number(pages.first), as_number(pages.first) + pages.bytes);
}

[[noreturn]] void refuse(const Pages& pages, const std::string& why) {
  throw Error("symmetric heap", CHIMEX_ERR_INVALID, fmt::format("{} {}", in_words(pages), why));
}

// A row of /proc/self/maps.
struct Mapping {
  std::uint64_t begin = 0, end = 0, offset = 0;
  unsigned long inode = 0;
  char access[5] = {};
  std::string what;  // the file's path, or "[heap]"; often empty

  bool is_private_memory() const {
    return access[0] == 'r' && access[1] == 'w' && access[3] == 'p' && inode == 0 &&
           !what.starts_with("[stack");
  }
  std::string in_words() const {
    return fmt::format("{} memory{}{}", access, what.empty() ? "" : " of ", what);
  }
};

Mapping mapping_of(const std::string& row) {
  Mapping mapping;
  int end = 0;
  std::sscanf(row.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %lu %n", &mapping.begin,
              &mapping.end, mapping.access, &mapping.offset, &mapping.inode, &end);
  mapping.what = row.substr(static_cast<std::size_t>(end));
  return mapping;
}

// Looks at the mappings under `pages`, in order, until `look` says false. False then, and where a
// page has none.
bool each_mapping(const Pages& pages, const std::function<bool(const Mapping&)>& look) {
  std::uint64_t at = as_number(pages.first);
  const std::uint64_t end = at + pages.bytes;
  std::ifstream rows("/proc/self/maps");
  if (!rows)
    throw system_error("symmetric heap", "/proc/self/maps, which says what lies at " +
                                             in_words(pages) + ", cannot be read");
  for (std::string row; at < end && std::getline(rows, row);) {
    const Mapping mapping = mapping_of(row);
    if (mapping.end <= at) continue;
    if (mapping.begin > at || !look(mapping)) return false;
    at = mapping.end;
  }
  return at >= end;
}

// Other threads' stacks look like any memory.
bool is_on_own_stack(const Pages& pages) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_destroy(&attributes);
  const std::uint64_t first = as_number(pages.first);
  return first < as_number(lowest) + bytes && first + pages.bytes > as_number(lowest);
}

// The bytes of pages that are whole.
std::size_t checked_bytes(const Pages& pages) {
  if (pages.first == nullptr || pages.bytes == 0) refuse(pages, "is no memory");
  if ((as_number(pages.first) | pages.bytes) % page_bytes() != 0)
    refuse(pages, fmt::format("is not made of whole pages of {} bytes; allocate it by mmap or "
                              "aligned_alloc, and round its size up",
                              page_bytes()));
  if (as_number(pages.first) + pages.bytes < as_number(pages.first))
    refuse(pages, "passes the end of memory");
  return pages.bytes;
}

void check_are_private(const Pages& pages) {
  if (is_on_own_stack(pages)) refuse(pages, "is on this thread's stack");
  std::string why = "is not all there";
  const bool are_private = each_mapping(pages, [&](const Mapping& mapping) {
    if (mapping.is_private_memory()) return true;
    why = fmt::format(
        "is {}; only private memory that may be read and written, of no file, can "
        "become symmetric",
        mapping.in_words());
    return false;
  });
  if (!are_private) refuse(pages, why);
}

ino_t inode_of(int fd) {
  struct stat file = {};
  if (::fstat(fd, &file) != 0)
    throw system_error("symmetric heap", "fstat of the heap's memory failed");
  return file.st_ino;
}

// Held from the look at pages until they are lent. If two PEs of a process lend the same pages, the
// second finds them lent.
std::mutex one_lender;

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

SparePages::SparePages(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("symmetric heap", CHIMEX_ERR_OUT_OF_MEMORY,
                fmt::format("there are no {} bytes that could take the buffer's place later (see "
                            "ulimit -v and vm.overcommit_memory)",
                            bytes));
  pages_ = {static_cast<std::byte*>(memory), bytes};
}

SparePages::~SparePages() {
  if (pages_.first != nullptr) ::munmap(pages_.first, pages_.bytes);
}

void SparePages::replace(std::byte* place, const std::byte* contents) {
  std::memcpy(pages_.first, contents, pages_.bytes);
  if (::mremap(pages_.first, pages_.bytes, pages_.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) !=
      MAP_FAILED) {
    pages_ = {};
    return;
  }
  // It needs more mappings than are left (vm.max_map_count). One in the place of another needs
  // none.
  if (::mmap(place, pages_.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED) {
    log(LogLevel::kError, -1, "symmetric heap: {} cannot have memory of its own again: {}",
        in_words({place, pages_.bytes}), std::strerror(errno));
    std::abort();
  }
  std::memcpy(place, pages_.first, pages_.bytes);
}

LentPages::LentPages(const Pages& pages, const HeapPart& part)
    : pages_(pages), offset_(part.offset), file_(inode_of(part.fd)), spare_(checked_bytes(pages)) {
  const std::lock_guard lock(one_lender);
  check_are_private(pages);
  std::memcpy(part.memory, pages.first, pages.bytes);
  if (::mmap(pages.first, pages.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part.fd,
             static_cast<off_t>(part.offset)) != MAP_FAILED)
    return;
  const Error error =
      system_error("symmetric heap", "a part of the heap cannot be mapped at " + in_words(pages) +
                                         " (see vm.max_map_count)");
  spare_.replace(pages.first, part.memory);  // what was there may be gone
  throw error;
}

LentPages::~LentPages() {
  try {
    if (pages_.bytes != 0 && are_there()) give_back();
  } catch (const std::exception& error) {  // the pages go on showing the memory that was the heap's
    log(LogLevel::kWarn, -1, "symmetric heap: {} stays shared memory: {}", in_words(pages_),
        error.what());
  }
}

bool LentPages::are_there() const {
  return each_mapping(pages_, [&](const Mapping& mapping) {
    return mapping.inode == file_ && mapping.access[3] == 's' &&
           mapping.begin - mapping.offset == as_number(pages_.first) - offset_;
  });
}

void LentPages::give_back() {
  spare_.replace(pages_.first, pages_.first);
  pages_ = {};
}

}  // namespace chime::host
