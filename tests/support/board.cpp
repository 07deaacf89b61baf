#include "support/board.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <system_error>
#include <thread>

namespace chime::tests {

Board::Page* Board::map(int fd) {
  void* page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "test board");
  return static_cast<Page*>(page);
}

Board Board::create(int pes) {
  int fd = memfd_create("chime-test-board", 0);
  if (fd < 0 || ftruncate(fd, sizeof(Page)) != 0)
    throw std::system_error(errno, std::generic_category(), "test board");
  return Board(fd, new (map(fd)) Page{pes, 0, 0, -1});
}

Board Board::attach(int fd) { return Board(fd, map(fd)); }

bool Board::barrier(std::chrono::milliseconds limit) {
  const std::uint32_t mine = page_->generation.load(std::memory_order_acquire);
  if (page_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == page_->pes) {
    page_->arrived.store(0, std::memory_order_relaxed);
    page_->generation.store(mine + 1, std::memory_order_release);
    return true;
  }
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (page_->generation.load(std::memory_order_acquire) == mine) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

void Board::fail(int pe) {
  std::int32_t none = -1;
  page_->failed_pe.compare_exchange_strong(none, pe);
}

}  // namespace chime::tests
