// PEs of another host, by an agent there: a child of this process (ssh, or the command of
// --agent-command) that runs chime-run --agent on that host. Their messages: crews/agent_talk.hpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent_talk.hpp"
#include "crew.hpp"
#include "net/mesh/frame.hpp"
#include "processes/child_process.hpp"
#include "processes/output.hpp"

namespace chime::run {

class RemoteCrew final : public Crew {
 public:
  struct Where {
    std::string host;
    std::vector<std::string> agent;  // the whole command that starts it
    Clock::duration start_limit;
    int input_of_pe_0;  // read if PE 0 is there
    Sink& out;          // where the owner puts what PEs write
    Sink& err;
  };
  RemoteCrew(CrewOwner& owner, Where where);

  void start(const Order& order) override;
  void add_to(std::vector<pollfd>& polled) const override;
  std::optional<Clock::time_point> next() const override;
  void serve() override;
  void read_rest() override;
  std::vector<PeEnd> take_ends() override;
  void look() override;
  bool has_looked() const override { return looks_ == 0 || is_over(); }
  bool has_running_pes() const override { return !running_.empty(); }
  bool is_over() const override { return !agent_ || !agent_->is_running(); }
  void end(int signal) override;
  void kill() override;
  void pass_to_listeners(int signal) override;

 private:
  enum class State { kAwaitsGreeting, kAwaitsStart, kStarted, kCannotRun };

  void hear(std::string_view text);
  void hear_before_greeting(std::string_view text);
  void hear_line(const std::string& line);
  void send_order();
  void hear_frame(std::span<const std::byte> frame);
  void read_input();
  void check_clock();
  void ask();
  void note_answer();
  void check_answer();
  void give_up_agent();
  void note_end_of_agent();
  void say_signal(ToAgent what, int signal);
  void say_words(const std::string& sentence);
  [[noreturn]] void cannot_run(int code, const std::string& why);
  bool reads_input() const;
  std::string command() const;

  CrewOwner& owner_;
  const Where where_;
  Order order_;
  std::optional<ChildProcess> agent_;
  net::Descriptor life_line_;  // the agent's standard input
  Sink to_agent_{-1};
  std::optional<Source> output_, errors_;
  Lines error_lines_;
  std::string before_greeting_;
  net::FrameCutter frames_;

  State state_ = State::kAwaitsGreeting;
  bool has_order_ = false;  // the agent
  std::set<int> running_;   // PEs whose end is not known
  std::vector<PeEnd> ends_;
  int looks_ = 0;  // that are not answered
  std::uint32_t input_on_its_way_ = 0;
  bool has_input_ended_ = false;
  std::optional<Clock::time_point> start_by_;
  std::optional<Clock::time_point> leave_by_;  // then the agent is killed
  Clock::time_point ask_at_{};                 // whether it is there
  std::optional<Clock::time_point> asked_at_;  // and it has not answered yet
  bool is_silent_ = false;                     // so long that it was said
  bool is_ending_ = false;                     // its PEs shall end
  bool is_killed_ = false;
};

}  // namespace chime::run
