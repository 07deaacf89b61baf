// The NIC's own activity: one thread that turns doorbells into packets and packets into memory and
// completions. README.md, "Engine", has its loop and the ordering argument.
#pragma once

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include "completer.hpp"
#include "requester.hpp"
#include "responder.hpp"
#include "softnic/observe/counters.hpp"
#include "softnic/observe/faults.hpp"
#include "softnic/wire/link.hpp"

namespace softnic {

class Pace;

class Engine {
 public:
  Engine(Device& device, std::unique_ptr<Link> link, const std::string& faults);

  ~Engine();  // stops the thread

  // Starts the thread, and returns when it runs: a fork() at once must not meet it half started. A
  // NIC outlives every destructor of the program, so an engine is destroyed only when the program
  // asks for it (softnic_deactivate).
  void start();

  // One turn of the loop, for callers that have not started the thread. Returns whether it did
  // work.
  bool turn();

  // In a child of fork(), which does not have the thread: gives up the parent's sockets.
  void abandon_link() { link_->leave(); }

  // The control path has changed a queue pair; both functions need the device's lock.
  void enter_error(QueuePair& qp) { completer_.enter_error(qp); }
  void reset(QueuePair& qp);
  // Called before it is removed.
  void settle(const QueuePair& qp);

  // Whether the data of writes to `qp` is placed in the order of its arrival.
  bool places_in_order(const QueuePair& qp) const { return !faults_.reorders(qp.qpn); }

  // Writes what this NIC did, as a line in the file of counters.
  void tell_counters() const { counters_.tell(faults_.strikes()); }

 private:
  enum class Next { kTurn, kPoll, kSleep };

  void run();
  Next look(Pace& pace);
  bool poll_doorbells();
  std::uint64_t take_doorbell(std::uint64_t* word);
  bool has_stayed(const std::uint64_t* word, std::uint64_t value);
  void arm(std::uint32_t page, std::uint64_t doorbell);
  bool run_queue_pairs();
  bool poll_link();
  void deliver(const PacketHeader& header, const std::byte* payload);
  void check_clocks(Clock::time_point now);
  bool has_work_in_flight();

  Device& device_;
  std::unique_ptr<Link> link_;
  Faults faults_;
  Counters counters_;
  Completer completer_;
  Requester requester_;
  Responder responder_;
  struct Doubted {  // a doorbell register with a value that is no doorbell yet
    const std::uint64_t* word;
    std::uint64_t value;
    Clock::time_point since;
  };
  std::vector<Doubted> doubted_;
  Clock::time_point next_check_{};
  bool vanished_ = false;
  std::atomic<bool> stopping_{false};
  std::latch running_{1};
  std::thread thread_;
};

}  // namespace softnic
