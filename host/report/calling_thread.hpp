// The context of a host thread's operations: its PE's host context, in which failures go to a
// record of this thread alone. So a failure is reported to its caller, and to nobody else.
#pragma once

#include "chime/abi/context.h"
#include "host/pe/pe.hpp"

namespace chime::host {

class CallingThread {
 public:
  // The calling thread as one of `slot`'s, whose contexts are published.
  static CallingThread& of(const PeSlot& slot) {
    return mine_ != nullptr && mine_->slot_ == &slot ? *mine_ : bind(slot);
  }

  // With every check, or those that CHIME_CHECK asks for.
  const Context& context(bool is_checked) {
    context_.pe.checked = slot_->host_context.pe.checked | (is_checked ? abi::kChecks : 0);
    return context_;
  }

  bool has_failed() const { return failure_.claimed != 0; }
  abi::ErrorRecord& failure() { return failure_; }

 private:
  static CallingThread& bind(const PeSlot& slot);

  // Every host operation reads it: initial-exec makes that one load.
  static thread_local constinit CallingThread* mine_ __attribute__((tls_model("initial-exec")));

  const PeSlot* slot_ = nullptr;  // never freed, so that no other one has its address
  Context context_;
  abi::ErrorRecord failure_ = {};
};

}  // namespace chime::host
