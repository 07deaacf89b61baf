#include "dma_buf.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "mappings.hpp"

namespace softnic {

namespace {

// Whole pages of a file.
class Mapping {
 public:
  Mapping(int fd, std::uint64_t offset, std::uint64_t bytes, Use use)
      : bytes_(bytes),
        pages_(::mmap(nullptr, bytes, use == Use::kWrite ? PROT_READ | PROT_WRITE : PROT_READ,
                      MAP_SHARED, fd, static_cast<off_t>(offset))) {}
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (is_there()) ::munmap(pages_, bytes_);
  }
  bool is_there() const { return pages_ != MAP_FAILED; }
  std::uint64_t start() const { return reinterpret_cast<std::uint64_t>(pages_); }

 private:
  const std::uint64_t bytes_;
  void* const pages_;
};

}  // namespace

int map_dma_buf(int fd, std::uint64_t offset, std::uint64_t bytes, Use use, DmaBufMemory& memory) {
  struct stat file = {};
  if (::fstat(fd, &file) != 0) return EBADF;
  const off_t exported = ::lseek(fd, 0, SEEK_CUR);
  if (!S_ISREG(file.st_mode) || exported < 0) return EINVAL;
  const auto room = static_cast<std::uint64_t>(file.st_size - exported);
  if (file.st_size < exported || offset > room || bytes > room - offset) return EINVAL;
  const std::uint64_t begin = static_cast<std::uint64_t>(exported) + offset;
  const std::uint64_t in_page = begin % kPageBytes;
  const auto mapping = std::make_shared<const Mapping>(fd, begin - in_page, in_page + bytes, use);
  if (!mapping->is_there()) return EINVAL;
  memory.start = mapping->start() + in_page;
  memory.hold = mapping;
  return 0;
}

}  // namespace softnic
