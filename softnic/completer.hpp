// Writes completions: CQEs in order, events, the flush of a failed queue pair.
#pragma once

#include "device.hpp"

namespace softnic {

class Completer {
 public:
  explicit Completer(Device& device) : device_(device) {}

  // Writes one CQE and fires the queue's event if it is armed for it.
  void complete(std::uint32_t cqn, const Completion& completion);

  // Completes, in order, every outstanding WQE at the head that is done. A failed one moves the
  // queue pair to error, after which the rest is flushed.
  void retire(QueuePair& qp);

  // Moves the queue pair to error: outstanding WQEs and posted receive WQEs complete as flushed.
  void enter_error(QueuePair& qp);

  // Completes as flushed what the program posted to the receive queue of a queue pair in error.
  void flush_receive_queue(QueuePair& qp);

  // A consumer armed `cq`: fires at once if completions are waiting.
  void rearm(CompletionQueue& cq);
  static bool is_arm_record_new(const CompletionQueue& cq);

 private:
  void fire(CompletionQueue& cq);

  Device& device_;
};

}  // namespace softnic
