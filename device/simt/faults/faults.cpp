#include "chime/device/simt/faults/faults.hpp"

#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "chime/device/simt/faults/fault_line.hpp"
#include "chime/device/simt/faults/report.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "chime/device/simt/threads/block.hpp"

namespace chime::simt {

namespace {

// A signal of a fault, and its action before.
struct Fault {
  int signal;
  struct sigaction previous = {};

  bool has_handler() const { return takes_info() || !(is_default() || is_ignored()); }
  bool takes_info() const { return previous.sa_flags & SA_SIGINFO; }
  bool is_default() const { return !takes_info() && previous.sa_handler == SIG_DFL; }
  bool is_ignored() const { return !takes_info() && previous.sa_handler == SIG_IGN; }
};

Fault faults[] = {{SIGSEGV}, {SIGBUS}, {SIGFPE}, {SIGILL}};

Fault& fault_of(int signal) {
  for (Fault& fault : faults)
    if (fault.signal == signal) return fault;
  std::abort();  // no other signal is installed
}

// Whether a processor raised it; else a process has sent it.
bool is_raised_by_code(const siginfo_t& info) { return info.si_code > 0; }

// Passes the signal on to the action that it would have without this file.
void hand_on(const Fault& fault, siginfo_t* info, void* context) {
  const int signal = fault.signal;
  if (fault.takes_info()) return fault.previous.sa_sigaction(signal, info, context);
  if (fault.has_handler()) return fault.previous.sa_handler(signal);
  // The system does not let a process ignore a fault.
  if (!is_raised_by_code(*info) && fault.is_ignored()) return;
  sigaction(signal, &fault.previous, nullptr);
  // After the return the instruction faults again, and the default action ends the process there. A
  // signal that was sent does not come again by itself.
  if (!is_raised_by_code(*info)) raise(signal);
}

// The stack pointer of the interrupted code.
const std::byte* stack_pointer(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const std::byte*>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const std::byte*>(machine.sp);
#else
  static_cast<void>(machine);
  return reinterpret_cast<const std::byte*>(~std::uintptr_t{0});  // then only guards are recognised
#endif
}

// Whether a guard page was touched, or the frame is so large that it reaches beyond it.
bool is_stack_overflow(const Thread& thread, const siginfo_t& info, const void* context) {
  if (info.si_signo != SIGSEGV) return false;
  const bool hit_guard = static_cast<const Block*>(thread.block)->owns_guard(info.si_addr);
  return hit_guard || stack_pointer(context) < thread.fiber.stack.low;
}

// The faulting thread belongs to a kernel, so the signal has interrupted no code of the executor,
// and the executor's state is consistent.
void on_fault(int signal, siginfo_t* info, void* context) {
  const Fault& fault = fault_of(signal);
  if (current_thread && is_raised_by_code(*info)) {
    const Thread& thread = running_thread();
    if (is_stack_overflow(thread, *info, context)) {
      kernel_fault(thread, "stack overflow (%zu KiB): raise CHIME_SIMT_STACK_KB",
                   thread.fiber.stack.bytes / 1024);
    }
    if (!fault.has_handler() && begin_report() == 1) write_fault_line(thread, *info, context);
  }
  hand_on(fault, info, context);
}

// Replaces a handler of the program only for the signal that shows overflows.
bool install() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (Fault& fault : faults) {
    sigaction(fault.signal, nullptr, &fault.previous);
    if (fault.signal == SIGSEGV || fault.is_default()) sigaction(fault.signal, &action, nullptr);
  }
  return true;
}

// A stack for the handlers of the calling OS thread, unless it has one (sanitizers provide one).
class HandlerStack {
 public:
  HandlerStack() {
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    memory_ = std::make_unique<std::byte[]>(kBytes);
    stack_t mine = {};
    mine.ss_sp = memory_.get();
    mine.ss_size = kBytes;
    sigaltstack(&mine, nullptr);
  }
  ~HandlerStack() {
    if (!memory_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  static constexpr std::size_t kBytes = 64 * 1024;  // a report, and the processor's state
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void report_faults() {
  const TsanIgnores ignores;
  static const bool installed = install();
  static thread_local HandlerStack stack;
  static_cast<void>(installed);
  static_cast<void>(&stack);
}

}  // namespace chime::simt
