#include "instructions.hpp"

#include <signal.h>
#include <ucontext.h>

extern "C" const char __executable_start, etext;  // of the program, from the linker

namespace chime::perf {

#if defined(__x86_64__) && defined(__linux__)

namespace {

constexpr greg_t kTrapFlag = 0x100;  // of EFLAGS: a trap after each instruction

volatile bool is_counting = false;
volatile std::uint64_t count = 0;

void on_trap(int, siginfo_t*, void* where) {
  auto& registers = static_cast<ucontext_t*>(where)->uc_mcontext.gregs;
  const auto next = static_cast<std::uint64_t>(registers[REG_RIP]);
  const bool is_ours = next >= reinterpret_cast<std::uint64_t>(&__executable_start) &&
                       next < reinterpret_cast<std::uint64_t>(&etext);
  if (is_counting) {
    count = count + is_ours;
    registers[REG_EFL] |= kTrapFlag;
  } else {
    registers[REG_EFL] &= ~kTrapFlag;
  }
}

}  // namespace

bool can_count_instructions() { return true; }

void start_counting() {
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  count = 0;
  is_counting = true;
  ::raise(SIGTRAP);  // its handler sets the flag in the interrupted state
}

std::uint64_t stop_counting() {
  is_counting = false;  // the next trap is the last
  return count;
}

#else

bool can_count_instructions() { return false; }
void start_counting() {}
std::uint64_t stop_counting() { return 0; }

#endif

}  // namespace chime::perf
