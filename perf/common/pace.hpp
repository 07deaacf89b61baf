// How long a benchmark takes and how far it is, on standard error: an estimate before it starts,
// and a line after five seconds of silence, then after longer ones. Runs that end within five
// seconds print nothing.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace chime::perf {

class Pace {
 public:
  // `tells`: false in all PEs but one. A thread reports, and sleeps meanwhile: the long work may be
  // one kernel. `silence_s`: the time until its first line.
  Pace(std::string program, bool tells, double silence_s = 5);
  ~Pace();
  Pace(const Pace&) = delete;

  // Sets how long the rest takes. Printed at once if that is long.
  void expect(double seconds);

  // Row `number` of `rows` begins; `what` names it.
  void begin_row(const std::string& what, std::size_t number, std::size_t rows);

 private:
  void run();

  const std::string program_;
  std::mutex mutex_;  // guards what is below
  std::string where_ = "estimating the time";
  double reported_s_ = 0;  // when the user last saw something, on the clock of now_s()
  double silence_s_;       // until the next line: grows
  double start_s_ = 0;
  double expected_s_ = 0;  // 0: unknown
  bool must_end_ = false;
  std::condition_variable ended_;
  std::thread thread_;
};

// "8 s", "2 min 44 s"
std::string duration_in_words(double seconds);

}  // namespace chime::perf
