// The PE that a launch belongs to. The executor knows no PEs: the runtime that is built on it gives
// the PE of the calling host thread. Without a runtime no launch belongs to a PE.
#pragma once

#include "chime/device/simt/exec/export.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

struct Launchers {
  // The PE as kernels of the calling host thread see it. May prepare the PE for the device.
  const Context* (*context_of_thread)();
  int (*pe_of_thread)();  // -1: none
  // Whether waits that were queued for this PE must end without their event.
  bool (*is_aborted)(const Context*);
  // Runs before the next launch. May call the runtime that launches (the softgpu's).
  void (*before_launch)();
};

// `launchers` lives for ever. Call this before the first launch.
void set_launchers(const Launchers& launchers);

const Context* context_of_thread();
int pe_of_thread();
bool is_aborted(const Context* context);

// Call this for a launch that is not made by Chime, before the runtime that makes it holds a lock.
CHIME_SIMT_EXPORT void before_foreign_launch();

}  // namespace chime::simt
