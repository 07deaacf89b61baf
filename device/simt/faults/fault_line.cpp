#include "chime/device/simt/faults/fault_line.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"

namespace chime::simt {

namespace {

// Text and numbers, written at once. What does not fit is cut off.
class Line {
 public:
  Line& operator<<(const char* words) {
    while (*words && size_ < sizeof text_) text_[size_++] = *words++;
    return *this;
  }
  Line& operator<<(unsigned number) { return add(number, 10); }
  Line& operator<<(const void* address) {
    return (*this << "0x").add(reinterpret_cast<std::uintptr_t>(address), 16);
  }
  Line& operator<<(const exec::uint3& place) {
    return *this << "(" << place.x << "," << place.y << "," << place.z << ")";
  }
  void write() const {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text_, size_);
  }

 private:
  Line& add(std::uintptr_t number, unsigned base) {
    char digits[32];
    char* first = digits + sizeof digits - 1;
    *first = '\0';
    do {
      *--first = "0123456789abcdef"[number % base];
    } while (number /= base);
    return *this << first;
  }

  char text_[512];
  std::size_t size_ = 0;
};

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    default:
      return "SIGILL";
  }
}

// The thread's access to the address; "touches" if the processor does not say which.
const char* access(const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kPageFault = 14, kWrite = 1 << 1, kFetch = 1 << 4;
  const greg_t* registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  if (registers[REG_TRAPNO] == kPageFault) {
    const greg_t error = registers[REG_ERR];
    return error & kFetch ? "runs code at " : error & kWrite ? "writes " : "reads ";
  }
#else
  static_cast<void>(context);
#endif
  return "touches ";
}

const char* why_refused(const siginfo_t& info) {
  if (info.si_signo == SIGSEGV && info.si_code == SEGV_MAPERR) return ", where nothing is mapped";
  if (info.si_signo == SIGSEGV && info.si_code == SEGV_ACCERR)
    return ", which its mapping does not allow";
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRERR)
    return ", beyond the end of what is mapped there";
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRALN) return ", which is not aligned";
  return "";
}

void add_cause(Line& line, const siginfo_t& info, const void* context) {
  if (info.si_signo == SIGILL) {
    line << "there is no such instruction (a trap of the compiler's, perhaps)";
  } else if (info.si_signo == SIGFPE && info.si_code == FPE_INTDIV) {
    line << "it divides an integer by zero, or the quotient has no room";
  } else if (info.si_signo == SIGFPE) {
    line << "its arithmetic traps";
  } else if (info.si_code == SI_KERNEL) {
    line << "it uses an address that no memory can have";
  } else {
    line << "it " << access(context) << info.si_addr << why_refused(info);
  }
}

}  // namespace

void write_fault_line(const Thread& thread, const siginfo_t& info, const void* context) {
  const Block& block = *static_cast<const Block*>(thread.block);
  const Launch& launch = *block.launch();
  Line line;
  line << "chime: ";
  if (launch.pe >= 0) line << "PE " << static_cast<unsigned>(launch.pe) << ": ";
  line << "simt: " << name_of(info.si_signo) << " in thread " << thread.thread_idx << " of block "
       << block.block_idx << " of kernel " << launch.kernel_name << ": ";
  add_cause(line, info, context);
  line << "\n";
  line.write();
}

}  // namespace chime::simt
