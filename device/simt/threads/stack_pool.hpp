// The stacks of one worker's fibers: slabs of stacks, made when needed and reused. A guard page
// lies below each stack. A canary at its low end helps where the system gives no guard: older Linux
// needs one more mapping for each guard and has a limit (vm.max_map_count).
#pragma once

#include <cstddef>
#include <vector>

#include "chime/device/simt/threads/fiber.hpp"

namespace chime::simt {

class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  ~StackPool() { release_memory(); }

  StackSpan get();
  // Takes back the stack that the caller still runs on: free again from the next call on.
  void put_after_switch(StackSpan stack);

  // Gives all memory back. No stack may be in use.
  void release_memory();

  static bool canary_lives(StackSpan stack);

  // Whether a stack of this pool ends at the page of `address`: a touch of it is an overflow. Safe
  // in a signal handler of the pool's OS thread.
  bool is_guard(const void* address) const;

 private:
  void add_slab();
  static void forget_history(StackSpan stack);

  std::vector<StackSpan> fresh_, free_;  // never used; used before
  std::vector<StackSpan> slabs_;
  StackSpan leaving_;
};

}  // namespace chime::simt
