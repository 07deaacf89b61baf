// What the program is doing, told where it takes long: a line on standard error after five seconds
// of silence, then after longer ones. Short runs say nothing, and standard output is left alone.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <thread>

namespace particles {

// Something that may take long, from here to the end of the scope; phases nest, and the innermost
// is told. Of the thread that runs the program.
class Phase {
 public:
  // `total`: how many items there are, or 0 where nobody knows before the end; `items` names them.
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

// While it lives, silence is broken; one in the process that tells, and none in the others. A
// thread of its own, because what takes long may be one kernel.
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

// The user has just been told something: silence begins anew.
void note_told();

}  // namespace particles
