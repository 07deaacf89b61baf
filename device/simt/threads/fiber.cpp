#include "chime/device/simt/threads/fiber.hpp"

#include <pthread.h>

#include <cstdint>
#include <cstdlib>

namespace chime::simt {

#ifdef CHIME_SIMT_UCONTEXT

namespace {

// A prepared fiber's first arguments, passed at its first run (makecontext passes only ints).
struct Start {
  Fiber::Entry entry;
  void* argument;
};

void start(unsigned high, unsigned low) {
  const std::uintptr_t address = std::uintptr_t{high} << 32 | low;
  const Start first = *reinterpret_cast<const Start*>(address);
  first.entry(first.argument);
  std::abort();
}

}  // namespace

void fiber_prepare(Fiber& fiber, StackSpan stack, std::size_t colour, Fiber::Entry entry,
                   void* argument) {
  fiber.stack = stack;
  fiber.sp = stack.low;  // only marks it as prepared
  const std::uintptr_t top =
      (reinterpret_cast<std::uintptr_t>(stack.low) + stack.bytes - 64 - colour) &
      ~std::uintptr_t{63};
  auto* first = reinterpret_cast<Start*>(top);
  *first = {entry, argument};
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack.low;
  fiber.context.uc_stack.ss_size = top - reinterpret_cast<std::uintptr_t>(stack.low);
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(start), 2,
              static_cast<unsigned>(top >> 32), static_cast<unsigned>(top));
}

static void machine_switch(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }

#else

extern "C" void chime_simt_switch(void** save_sp, void* to_sp);
extern "C" void chime_simt_start();

void fiber_prepare(Fiber& fiber, StackSpan stack, std::size_t colour, Fiber::Entry entry,
                   void* argument) {
  const std::uintptr_t top =
      (reinterpret_cast<std::uintptr_t>(stack.low) + stack.bytes - 64 - colour) &
      ~std::uintptr_t{15};
  void** word = reinterpret_cast<void**>(top);
  *--word = reinterpret_cast<void*>(chime_simt_start);  // popped by ret: rsp is then `top`, aligned
  *--word = nullptr;                                    // rbp: ends frame-pointer chains
  *--word = nullptr;                                    // rbx
  *--word = argument;                                   // r12
  *--word = reinterpret_cast<void*>(entry);             // r13
  *--word = nullptr;                                    // r14
  *--word = nullptr;                                    // r15
  fiber.stack = stack;
  fiber.sp = word;
}

static inline void machine_switch(Fiber& from, Fiber& to) { chime_simt_switch(&from.sp, to.sp); }

#endif

void fiber_switch(Fiber& from, Fiber& to) {
  sanitizer_before_switch(&from.sanitizer, to.sanitizer, to.stack.low, to.stack.bytes);
  machine_switch(from, to);
  sanitizer_after_switch(from.sanitizer);
}

void fiber_leave(Fiber& from, Fiber& to) {
  sanitizer_before_switch(nullptr, to.sanitizer, to.stack.low, to.stack.bytes);
  machine_switch(from, to);
  std::abort();  // a fiber that left was resumed
}

void fiber_entered() { sanitizer_after_switch({}); }

void fiber_adopt_thread(Fiber& fiber) {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  fiber.stack = {static_cast<std::byte*>(low), bytes};
  fiber.sp = low;
  fiber.sanitizer.tsan = tsan_current_fiber();
}

}  // namespace chime::simt
