// A page that all PEs of a World share, independent of the library under test: the PE that failed,
// the PEs that have arrived at a barrier.
//
// One for PEs that are threads; for PEs that are processes it lies in a memfd that the processes
// inherit. Tests meet here and not at Chime's own barrier, so that a broken barrier fails a test
// and does not hang the runner.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace chime::tests {

inline constexpr int kMaxPes = 64;

class Board {
 public:
  // A new page for `pes` PEs. fd() is inherited by exec'ed programs.
  static Board create(int pes);
  // The page that a parent created.
  static Board attach(int fd);

  int fd() const { return fd_; }
  int pes() const { return page_->pes; }

  // Waits for all PEs. False if some PE did not arrive before `limit`.
  bool barrier(std::chrono::milliseconds limit);

  // The board keeps the first PE that fails.
  void fail(int pe);
  // -1: none.
  int failed_pe() const { return page_->failed_pe.load(); }

 private:
  struct Page {
    std::int32_t pes;
    std::atomic<std::int32_t> arrived;
    std::atomic<std::uint32_t> generation;  // release by the last to arrive, acquire by all others
    std::atomic<std::int32_t> failed_pe;
  };
  Board(int fd, Page* page) : fd_(fd), page_(page) {}
  static Page* map(int fd);

  int fd_;
  Page* page_;
};

}  // namespace chime::tests
