// Reports what the program is doing if that takes long: a line on standard error after five seconds
// of silence, then after longer ones. Short runs print nothing, and standard output is not used.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <thread>

namespace particles {

// A piece of work that may take long, from here to the end of the scope. Phases nest, and the
// innermost is reported. For the thread that runs the program.
class Phase {
 public:
  // `total`: the number of items, or 0 if it is not known before the end; `items` names them.
  explicit Phase(std::string what, std::int64_t total = 0, std::string items = "");
  ~Phase();
  Phase(const Phase&) = delete;

  // Costs a store: may be called for each item.
  void at(std::int64_t done) { done_.store(done, std::memory_order_relaxed); }

  // "reading data.lj: 1200 lines", "g(r): 300 of 4000 atoms (7 %)"
  std::string words() const;

 private:
  const std::string what_, items_;
  const std::int64_t total_;
  std::atomic<std::int64_t> done_ = 0;
  Phase* const outer_;
};

// While an object of this class lives, long silence ends with a line. One process of the job has
// one. It has a thread of its own, because the long work may be one kernel.
class Teller {
 public:
  explicit Teller(std::chrono::milliseconds first_silence = std::chrono::seconds(5));
  ~Teller();
  Teller(const Teller&) = delete;

 private:
  void run();

  std::chrono::milliseconds silence_;  // until the next line: grows
  std::condition_variable ended_;
  bool must_end_ = false;
  std::thread thread_;
};

// The program has just printed something for the user: silence begins anew.
void note_told();

}  // namespace particles
