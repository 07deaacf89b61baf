#include "chime/device/simt/stack_overflow.hpp"

#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "chime/device/simt/block.hpp"
#include "chime/device/simt/report.hpp"
#include "chime/device/simt/sanitizers.hpp"

namespace chime::simt {

namespace {

struct sigaction previous;

void hand_on(int signal, siginfo_t* info, void* context) {
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN)
    return previous.sa_handler(signal);
  // The instruction faults again when this returns, and the default action ends the process.
  sigaction(signal, &previous, nullptr);
}

// Of the interrupted code.
const std::byte* stack_pointer(const void* context) {
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const std::byte*>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const std::byte*>(machine.sp);
#else
  static_cast<void>(machine);
  return reinterpret_cast<const std::byte*>(~std::uintptr_t{0});  // only guards are recognised
#endif
}

// A guard page is touched, or the frame is so large that it reaches beyond it. The faulting thread
// is a kernel's, so no code of the executor was interrupted: its state is whole.
void on_fault(int signal, siginfo_t* info, void* context) {
  if (current_thread) {
    const Thread& thread = running_thread();
    const bool hit_guard = static_cast<const Block*>(thread.block)->owns_guard(info->si_addr);
    if (hit_guard || stack_pointer(context) < thread.fiber.stack.low) {
      kernel_fault(thread, "stack overflow (%zu KiB): raise CHIME_SIMT_STACK_KB",
                   thread.fiber.stack.bytes / 1024);
    }
  }
  hand_on(signal, info, context);
}

bool install() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGSEGV, &action, &previous) == 0;
}

// A stack for handlers, of the calling OS thread, unless it has one (sanitizers give it one).
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
  static constexpr std::size_t kBytes = 64 * 1024;  // a report, and what a processor saves
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void report_stack_overflows() {
  const TsanIgnores ignores;
  static const bool installed = install();
  static thread_local HandlerStack stack;
  static_cast<void>(installed);
  static_cast<void>(&stack);
}

}  // namespace chime::simt
