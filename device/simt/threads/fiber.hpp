// A fiber: a stack and a place in a program, and the switch between two of them.
//
// A switch saves what the ABI says a call preserves: on x86-64 rbx, rbp, r12..r15 and rsp
// (fiber_x86_64.S). The floating-point control words are not saved: kernels must not change
// rounding or traps. Fibers never move between OS threads. Other processors use ucontext (ten times
// slower: each switch is a system call).
#pragma once

#include <cstddef>

#include "chime/device/simt/faults/sanitizers.hpp"

#if !defined(__x86_64__) && !defined(CHIME_SIMT_UCONTEXT)
#define CHIME_SIMT_UCONTEXT 1
#endif
#ifdef CHIME_SIMT_UCONTEXT
#include <ucontext.h>
#endif

namespace chime::simt {

struct StackSpan {
  std::byte* low = nullptr;
  std::size_t bytes = 0;
};

struct Fiber {
  using Entry = void (*)(void* argument);

  void* sp = nullptr;  // where it continues; null: not prepared
  StackSpan stack;
  SanitizerFiber sanitizer;
#ifdef CHIME_SIMT_UCONTEXT
  ucontext_t context;
#endif
};

// Makes `fiber` start with entry(argument) at the top of `stack` when it is first switched to.
// `colour` bytes stay unused at the top: stacks of equal size would otherwise compete for the same
// cache sets. `entry` must not return.
void fiber_prepare(Fiber& fiber, StackSpan stack, std::size_t colour, Fiber::Entry entry,
                   void* argument);

// Suspends the running `from`, and resumes `to`. Returns when a thread switches back.
void fiber_switch(Fiber& from, Fiber& to);

// The same for a `from` that will never run again.
[[noreturn]] void fiber_leave(Fiber& from, Fiber& to);

// Every fiber calls this first on its stack.
void fiber_entered();

// The fiber of an OS thread's own stack.
void fiber_adopt_thread(Fiber& fiber);

}  // namespace chime::simt
