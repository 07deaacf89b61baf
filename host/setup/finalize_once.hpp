// Lets one thread take a PE down, while no other thread is in a call that uses it.
#pragma once

#include "host/pe/pe.hpp"

namespace chime::host {

// While it lives, calls of other threads on the PE fail at once and say why. Throws Error{INVALID},
// and all is as before, if another thread leaves or is in a call: then the program does not wait
// for its threads, and would lose the PE's memory under them.
class FinalizeOnce {
 public:
  explicit FinalizeOnce(PeSlot& slot);
  ~FinalizeOnce();
  FinalizeOnce(const FinalizeOnce&) = delete;

 private:
  PeSlot& slot_;
};

}  // namespace chime::host
