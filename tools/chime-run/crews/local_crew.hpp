// PEs as children of this process.
#pragma once

#include <deque>
#include <list>
#include <map>

#include "crew.hpp"
#include "processes/child_process.hpp"
#include "processes/output.hpp"

namespace chime::run {

class LocalCrew final : public Crew {
 public:
  struct Surroundings {
    int input_of_pe_0;
    bool has_own_output = true;  // else PEs write to this process's output
    Sink& out;                   // where the owner puts the PEs' output
    Sink& err;
  };
  LocalCrew(CrewOwner& owner, Surroundings surroundings)
      : owner_(owner), surroundings_(surroundings) {}

  void start(const Order& order) override;
  void add_to(std::vector<pollfd>& polled) const override;
  std::optional<Clock::time_point> next() const override { return {}; }
  void serve() override;
  void read_rest() override;
  std::vector<PeEnd> take_ends() override;
  void look() override {}  // its owner has reaped all before take_ends()
  bool has_looked() const override { return true; }
  bool has_running_pes() const override;
  bool is_over() const override { return !has_running_pes(); }
  void end(int signal) override;
  void kill() override;
  void pass_to_listeners(int signal) override;

 private:
  struct Pe {
    int number;
    ChildProcess process;
  };

  void start_pe(const Order& order, const Order::Pe& pe, int input, const cpu_set_t* cpus);
  void show_output_of(const Pe& pe);
  void check_that_all_run(const std::string& program);

  CrewOwner& owner_;
  const Surroundings surroundings_;
  std::deque<Pe> pes_;
  std::map<pid_t, Pe*> by_process_;
  std::list<Source> sources_;
};

}  // namespace chime::run
