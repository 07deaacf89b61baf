// Writes completions: CQEs in order, events, the flush of a failed queue pair.
#pragma once

#include "softnic/firmware/device.hpp"
#include "softnic/observe/counters.hpp"
#include "softnic/observe/faults.hpp"

namespace softnic {

class Completer {
 public:
  Completer(Device& device, Faults& faults, Counters& counters)
      : device_(device), faults_(faults), counters_(counters) {}

  // Writes one CQE, and fires the queue's event if it is armed for it; later, if a fault delays it.
  void complete(std::uint32_t cqn, const Completion& completion);

  // Completes, in order, every outstanding WQE at the head that is done. A failed one moves the
  // queue pair to error, after which the rest is flushed.
  void retire(QueuePair& qp);

  // Moves the queue pair to error: outstanding WQEs and posted receive WQEs complete as flushed.
  void enter_error(QueuePair& qp);

  // Completes as flushed what the program posted to the receive queue of a queue pair in error.
  void flush_receive_queue(QueuePair& qp);

  // Writes the CQEs that are due. Returns whether there were any.
  bool write_late(Clock::time_point now);
  bool has_late() const { return late_queues_ != 0; }
  // Writes those of the queues of `qp` now: it ends, and its library looks at them for the last
  // time.
  void write_late_of(const QueuePair& qp);

  // A consumer armed `cq`: fires at once if completions are waiting.
  void rearm(CompletionQueue& cq);
  static bool is_arm_record_new(const CompletionQueue& cq);

 private:
  void write(CompletionQueue& cq, const Completion& completion);
  void write_late(CompletionQueue& cq);
  void fire(CompletionQueue& cq);
  void count(const QueuePair& qp, const Outstanding& o);

  Device& device_;
  Faults& faults_;
  Counters& counters_;
  unsigned late_queues_ = 0;  // upper bound: removed queues count until write_late()
};

}  // namespace softnic
