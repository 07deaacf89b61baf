// chime-run --agent: starts PEs on its host as chime-run, on another, orders it to over standard
// input, and tells it over standard output what becomes of them (agent_talk.hpp).
//
// It holds no decision of its own but one: when chime-run is gone, its PEs end at once.
#pragma once

#include <optional>

#include "agent_talk.hpp"
#include "crew.hpp"
#include "local_crew.hpp"
#include "net/mesh/frame.hpp"
#include "processes/input_pipe.hpp"
#include "processes/output.hpp"
#include "processes/signals.hpp"

namespace chime::run {

class Agent final : private CrewOwner {
 public:
  Agent();

  // Returns the exit code when no process of the PEs is left.
  int run();

 private:
  void wait_for_work();
  void take_signal(int signal);
  void listen();
  void obey(std::span<const std::byte> frame);
  void start(net::Reader& fields);
  void feed(std::string_view input);
  void tell_ends();
  void check_clock();
  void launcher_is_gone();
  bool is_over() const;

  void on_output(int pe, Stream stream, std::string_view text) override;
  void on_words(const std::string& sentence) override;

  Signals signals_;
  Sink to_launcher_;
  net::FrameCutter from_launcher_;
  InputPipe input_;
  LocalCrew crew_;
  bool has_order_ = false;
  bool is_launcher_gone_ = false;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace chime::run
