// The launcher: starts the PEs, serves them, and ends them all when one fails, a limit is reached
// or the user asks for it.
//
// One loop over signals, pipes and one deadline; nothing in it blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/local.hpp"
#include "crews/crew.hpp"
#include "hub_events.hpp"
#include "options.hpp"
#include "processes/ends.hpp"
#include "processes/output.hpp"
#include "processes/repeated.hpp"
#include "processes/signals.hpp"

namespace chime::run {

class Job final : private CrewOwner {
 public:
  explicit Job(const Options& options);

  // Returns chime-run's exit code when no process of the job is left.
  int run();

  // When the end of each PE was seen, in nanoseconds of trace::now_ns().
  const std::map<int, std::uint64_t>& ends_of_pes() const { return ends_of_pes_; }

 private:
  struct LinesOfPe {
    Lines out, err;
  };

  void start();
  Lines::Filter filter_of(int pe);
  void wait_for_work();
  // Calls `act` for a crew; if the crew finds out that its PEs cannot run, that ends the job.
  void let(Crew& crew, const std::function<void(Crew&)>& act);

  void take_signal(int signal);
  void end_without_guardian();
  void end_by_signal(int signal);
  void report();

  void take_ends();
  void add(std::vector<PeEnd> ends);
  void note_abort(const Abort& abort);
  void note_end(const PeEnd& end);
  void check_clock();
  void ask_and_end(int signal);
  void check_answers();
  void check_output();

  // The first reason decides the exit code; then all PEs get `signal`, and SIGKILL when the grace
  // is over.
  void decide(int exit_code);
  void end_pes(int signal);
  void kill_pes();
  void finish_output();
  void say(const std::string& text);
  bool is_any(bool (Crew::*so)() const) const;
  std::optional<Clock::time_point> next_event() const;

  void on_output(int pe, Stream stream, std::string_view text) override;
  void on_words(const std::string& sentence) override { say(sentence); }

  const Options options_;
  const Signals signals_;
  HubEvents hub_events_;
  bootstrap::LaunchedJob hub_;

  Sink out_, err_;
  Repeated repeated_;            // what PEs say on stderr
  std::deque<LinesOfPe> lines_;  // [pe]; none without prefix
  std::vector<std::unique_ptr<Crew>> crews_;
  Ends ends_;
  std::map<int, std::uint64_t> ends_of_pes_;

  std::optional<Clock::time_point> limit_;  // of the whole job
  // While PEs are asked what they are doing before the end; and the signal that they get then.
  std::optional<Clock::time_point> answer_by_;
  int ending_signal_ = 0;
  std::optional<Clock::time_point> kill_at_;  // end of grace
  std::optional<int> exit_code_;
};

}  // namespace chime::run
