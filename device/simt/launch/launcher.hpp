// Whose a launch is. The executor knows no PE: the runtime that is built on it says which one the
// calling host thread belongs to. Without one all launches are nobody's.
#pragma once

#include "chime/device/simt/exec/export.hpp"

namespace chime {
struct Context;
}

namespace chime::simt {

struct Launchers {
  // What kernels of the calling host thread see as their PE. May make it ready for the device.
  const Context* (*context_of_thread)();
  int (*pe_of_thread)();  // -1: none
  // Whether waits that were queued for this PE are to end without their event.
  bool (*is_aborted)(const Context*);
  // What waits for the next launch. May call the runtime that launches (the softgpu's).
  void (*before_launch)();
};

// `launchers` lives for ever. Before the first launch.
void set_launchers(const Launchers& launchers);

const Context* context_of_thread();
int pe_of_thread();
bool is_aborted(const Context* context);

// For a launch that is no call of Chime's, before the runtime that it is a call of holds a lock.
CHIME_SIMT_EXPORT void before_foreign_launch();

}  // namespace chime::simt
