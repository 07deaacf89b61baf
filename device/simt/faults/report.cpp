#include "chime/device/simt/faults/report.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

#include "chime/abi/signals_held.h"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"
#include "chime/device/simt/threads/worker.hpp"

namespace chime::simt {

namespace {

constexpr unsigned kMaxLines = 40;

std::atomic<void (*)(int) noexcept> trap_teller{nullptr};

// Text that is written at once: blocks on other OS threads, and other processes, may also write.
// Needs no heap, so that a signal handler can fill it.
class Text {
 public:
  void add(const char* format, std::va_list arguments) {
    const int length = std::vsnprintf(text_ + size_, sizeof text_ - size_, format, arguments);
    if (length > 0) size_ = std::min(size_ + static_cast<std::size_t>(length), sizeof text_ - 1);
  }
  void add(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    std::va_list arguments;
    va_start(arguments, format);
    add(format, arguments);
    va_end(arguments);
  }
  void clear() { size_ = 0; }
  void write() const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t written = ::write(STDERR_FILENO, text_ + done, size_ - done);
      if (written <= 0) return;
      done += static_cast<std::size_t>(written);
    }
  }

 private:
  char text_[12 * 1024];
  std::size_t size_ = 0;
};

// The report before the end of the process. It does not lie on the reporter's stack, which may be
// full: then the reporter faults, and begins again, once, on the stack of the handler.
Text& the_report() {
  static Text text;
  if (begin_report() > 2) std::abort();
  text.clear();
  return text;
}

[[noreturn]] void say_and_abort(const Text& text) {
  text.write();
  std::abort();
}

void add_place(Text& text, const Block& block, unsigned rank) {
  const exec::uint3 t = block.thread(rank).thread_idx;
  text.add("thread (%u,%u,%u) of block (%u,%u,%u)", t.x, t.y, t.z, block.block_idx.x,
           block.block_idx.y, block.block_idx.z);
}

// Names a named barrier, and the threads that are missing there.
void add_barrier(Text& text, const Block& block, unsigned rank) {
  const int id = block.named_barrier_of(rank);
  if (id == 0) return;
  const Barrier& barrier = block.barrier(id);
  text.add("(%d, %u): %u of %u threads have come", id, barrier.meeting.expected, barrier.arrived,
           barrier.meeting.expected);
}

bool wait_alike(const Block& block, unsigned first, unsigned second) {
  const Thread &a = block.thread(first), &b = block.thread(second);
  return a.waits_at == b.waits_at && a.wait_mask == b.wait_mask && a.warp == b.warp &&
         block.named_barrier_of(first) == block.named_barrier_of(second);
}

// The last thread after `first` such that all of the run wait at the same place.
unsigned end_of_run(const Block& block, unsigned first) {
  unsigned last = first;
  while (last + 1 < block.threads && block.waits(last + 1) && wait_alike(block, first, last + 1)) {
    ++last;
  }
  return last;
}

void add_waiters(Text& text, const Block& block) {
  unsigned lines = 0;
  for (unsigned rank = 0; rank < block.threads; ++rank) {
    if (!block.waits(rank)) continue;
    if (++lines > kMaxLines) {
      text.add("  ...\n");
      return;
    }
    const Thread& first = block.thread(rank);
    const unsigned last = end_of_run(block, rank);
    text.add("  thread (%u,%u,%u)", first.thread_idx.x, first.thread_idx.y, first.thread_idx.z);
    if (last > rank) text.add(" and the %u after it", last - rank);
    text.add(" (warp %u) wait%s at %s", first.warp, last > rank ? "" : "s", first.waits_at);
    add_barrier(text, block, rank);
    if (first.wait_mask) text.add(", mask %08x", first.wait_mask);
    text.add("\n");
    rank = last;
  }
}

void add_states(Text& text, const Block& block) {
  unsigned running = 0, ended = 0;
  for (unsigned rank = 0; rank < block.threads; ++rank) {
    if (!block.lives(rank)) {
      ++ended;
    } else if (!block.waits(rank)) {
      ++running;
    }
  }
  text.add("block (%u,%u,%u) of kernel %s: %u threads, %u can run, %u have ended\n",
           block.block_idx.x, block.block_idx.y, block.block_idx.z, block.launch()->kernel_name,
           block.threads, running, ended);
  add_waiters(text, block);
}

// The callback runs on a thread of its own: a kernel thread's stack is too small for messages.
void tell_of_trap(const Thread& thread) {
  const auto tell = trap_teller.load(std::memory_order_relaxed);
  if (!tell) return;
  const int pe = static_cast<const Block*>(thread.block)->launch()->pe;
  try {
    const abi::SignalsHeld here;
    std::thread(tell, pe).join();
  } catch (const std::system_error&) {
    // There is no thread: then only the trap's own message is printed.
  }
}

}  // namespace

int begin_report() {
  static std::atomic<pid_t> reporter{0};
  static int begun = 0;  // by the reporter alone
  const pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
  pid_t other = 0;
  if (!reporter.compare_exchange_strong(other, self, std::memory_order_relaxed) && other != self) {
    for (;;) ::pause();
  }
  return ++begun;
}

void fatal(const char* format, ...) {
  Text& text = the_report();
  std::va_list arguments;
  va_start(arguments, format);
  text.add("chime: simt: ");
  text.add(format, arguments);
  text.add("\n");
  va_end(arguments);
  say_and_abort(text);
}

void kernel_fault(const Thread& thread, const char* format, ...) {
  Text& text = the_report();
  const Block& block = *static_cast<const Block*>(thread.block);
  std::va_list arguments;
  va_start(arguments, format);
  text.add("chime: simt: ");
  add_place(text, block, thread.rank);
  text.add(": ");
  text.add(format, arguments);
  text.add("\n");
  va_end(arguments);
  add_states(text, block);
  say_and_abort(text);
}

void set_trap_teller(void (*tell)(int pe) noexcept) {
  trap_teller.store(tell, std::memory_order_relaxed);
}

namespace {

bool is_taken(const Thread& thread, const char* why) {
  const exec::uint3 t = thread.thread_idx, b = thread.block->block_idx;
  char words[512];
  std::snprintf(words, sizeof words, "thread (%u,%u,%u) of block (%u,%u,%u): trap: %s", t.x, t.y,
                t.z, b.x, b.y, b.z, why);
  return static_cast<const Block*>(thread.block)->launch()->call.take_trap(words);
}

}  // namespace

// A thread that traps meanwhile waits here, so that the process does not end before the cause is
// reported.
void report_trap(const Thread& thread, const char* why) {
  if (is_taken(thread, why)) return;
  static std::once_flag reported;
  std::call_once(reported, tell_of_trap, thread);
  kernel_fault(thread, "trap: %s", why);
}

void report_deadlock(const Block& block) {
  Text& text = the_report();
  text.add("chime: simt: deadlock: every live thread of block (%u,%u,%u) waits\n",
           block.block_idx.x, block.block_idx.y, block.block_idx.z);
  add_states(text, block);
  say_and_abort(text);
}

void report_missing_blocks(std::uint64_t waiting, std::uint64_t returned) {
  Text& text = the_report();
  text.add("chime: simt: deadlock: %llu blocks wait at sync_grid for %llu that returned\n",
           static_cast<unsigned long long>(waiting), static_cast<unsigned long long>(returned));
  text.write();
  chime_simt_dump();
  std::abort();
}

extern "C" void chime_simt_dump() {
  Text heading;
  heading.add("chime: simt: resident blocks\n");
  heading.write();
  for_each_resident_block([](const Block& block) {
    Text text;
    add_states(text, block);
    text.write();
  });
}

}  // namespace chime::simt
