// The launcher: starts the PEs, serves them, and ends them all when one fails, a limit is reached
// or it is told to.
//
// One loop over signals, pipes and one deadline; nothing in it blocks.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/local.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pe_process.hpp"
#include "repeated.hpp"

namespace chime::run {

class Job {
 public:
  explicit Job(const Options& options);

  // Returns chime-run's exit code when no process of the job is left.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  struct Abort {
    int pe;
    int code;
    std::string why;
  };

  bool start();
  bool start_pes();
  bool all_could_run();
  std::vector<cpu_set_t> places() const;
  void wait_for_work();
  void take_signals();
  void take_signal(int signal);
  void end_without_guardian();
  void take_ends();
  std::vector<Abort> take_aborts();
  void note_abort(const Abort& abort);
  std::vector<int> reap_pes();
  std::vector<int> reap_round();
  void note_end(int pe);
  void check_clock();
  void ask_what_pes_do();
  void ask_and_end(int signal);
  void end_by_signal(int signal);
  void report();
  void pass_to_listeners(int signal);
  void check_answers();
  void check_output();
  Source::Filter filter_of(int pe);

  // The first reason decides the exit code; then all PEs get `signal`, and SIGKILL when the grace
  // is over.
  void decide(int exit_code);
  void end_pes(int signal);
  void kill_pes();
  void say(const std::string& text);
  bool is_anyone_running() const;
  std::optional<Clock::time_point> next_event() const;

  const Options options_;
  net::Descriptor signals_;
  net::Descriptor abort_wake_;
  std::mutex abort_mutex_;
  std::vector<Abort> aborts_;   // from the hub's thread
  bool all_have_said_ = false;  // what they are doing; from the hub's thread
  bootstrap::LocalJob hub_;

  std::deque<PeProcess> pes_;
  Sink out_, err_;
  Repeated repeated_;  // what PEs say on stderr
  std::list<Source> sources_;

  std::optional<Clock::time_point> limit_;  // of the whole job
  // While PEs are asked what they are doing before the end; and the signal that they get then.
  std::optional<Clock::time_point> answer_by_;
  int ending_signal_ = 0;
  std::optional<Clock::time_point> kill_at_;  // end of grace
  std::optional<int> exit_code_;
};

}  // namespace chime::run
