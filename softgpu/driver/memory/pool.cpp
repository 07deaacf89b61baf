#include "softgpu/driver/memory/pool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "softgpu/driver/device.hpp"
#include "softgpu/driver/failure.hpp"

namespace softgpu::driver {

namespace {

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Shows memory that a program has forgotten to write. More bytes would take too long.
constexpr std::size_t kSpoiltBytes = 64 * 1024;
constexpr int kSpoilt = 0xa5;

}  // namespace

// ---- A piece ----------------------------------------------------------------------------------

PoolPiece::PoolPiece(Pool& pool, std::size_t offset, std::size_t bytes)
    : pool_(pool), offset_(offset), bytes_(bytes) {
  void* const place = ::mmap(nullptr, bytes + page(), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses for %zu bytes", bytes);
  if (::mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pool.fd_,
             static_cast<off_t>(offset)) == MAP_FAILED) {
    ::munmap(place, bytes + page());
    fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes cannot be mapped", bytes);
  }
  address_ = static_cast<std::byte*>(place);
  std::memset(address_, kSpoilt, std::min(bytes, kSpoiltBytes));
}

PoolPiece::~PoolPiece() {
  ::munmap(address_, bytes_ + page());
  pool_.give_back(offset_, bytes_);
}

int PoolPiece::fd() const { return pool_.fd_; }

// ---- The pool ---------------------------------------------------------------------------------

Pool::~Pool() {
  if (fd_ >= 0) ::close(fd_);
}

void Pool::open() {
  if (fd_ >= 0) return;
  fd_ = ::memfd_create("softgpu-pool", MFD_CLOEXEC);
  if (fd_ < 0 || ::ftruncate(fd_, static_cast<off_t>(device_.total_bytes())) != 0)
    fail(CUDA_ERROR_OPERATING_SYSTEM, "memfd_create: %s (see ulimit -n)", std::strerror(errno));
  free_[0] = device_.total_bytes();
}

std::size_t Pool::take_room(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  open();
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& hole) { return hole.second >= bytes; });
  if (found == free_.end()) fail(CUDA_ERROR_OUT_OF_MEMORY, "no %zu bytes lie together", bytes);
  const auto [offset, room] = *found;
  free_.erase(found);
  if (room > bytes) free_[offset + bytes] = room - bytes;
  return offset;
}

void Pool::give_back(std::size_t offset, std::size_t bytes) {
  ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
  {
    const std::lock_guard lock(mutex_);
    auto next = free_.lower_bound(offset);
    std::size_t joined = bytes;
    if (next != free_.end() && next->first == offset + bytes) {
      joined += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset)
      std::prev(next)->second += joined;
    else
      free_[offset] = joined;
  }
  device_.give_back(bytes);
}

std::shared_ptr<PoolPiece> Pool::allocate(std::size_t bytes) {
  const std::size_t most = device_.total_bytes();
  const std::size_t whole = bytes > most ? bytes : (bytes + page() - 1) / page() * page();
  device_.take(whole);
  std::size_t offset = 0;
  try {
    offset = take_room(whole);
  } catch (...) {
    device_.give_back(whole);
    throw;
  }
  try {
    return std::make_shared<PoolPiece>(*this, offset, whole);
  } catch (...) {
    give_back(offset, whole);
    throw;
  }
}

}  // namespace softgpu::driver
