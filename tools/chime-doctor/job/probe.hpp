// Tries whether hosts reach each other by TCP, and how far their clocks are apart.
//
// Each PE that looks at its host listens where a side channel would (host/peers/side_channel.hpp),
// and answers whoever proves the job's secret with its clock's time. Those that come in are let in
// as a side channel lets them in, so what gets through here gets through there.
#pragma once

#include <chrono>
#include <future>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/mesh/gate.hpp"
#include "net/mesh/reactor.hpp"
#include "net/socket/dial.hpp"
#include "tools/chime-doctor/job/facts.hpp"
#include "tools/chime-doctor/job/targets.hpp"

namespace chime::doctor {

class PathProbe final : private net::ConnectionOwner {
 public:
  struct Options {
    net::Credentials credentials;
    int pe = 0, n_pes = 1;
    std::string interface;    // CHIME_BOOTSTRAP_IF; empty: all of them
    std::size_t n_ports = 0;  // of RoCE, which others try, too
  };
  // Listens, and starts a thread. Throws BootstrapError or net::Error if it cannot listen.
  explicit PathProbe(Options options);
  // Ends the thread: others reach this PE no more.
  ~PathProbe();

  // Where it listens, without loopback, which leads no other host here.
  const std::vector<ListeningAddress>& addresses() const { return addresses_; }

  // Tries all at once. What has not answered after `patience` is silent. Once.
  PairFacts try_all(const std::vector<Target>& targets, std::chrono::milliseconds patience);

 private:
  struct Attempt {
    PathFacts path;
    std::unique_ptr<net::Dial> dial = nullptr;
    std::shared_ptr<net::Connection> connection = nullptr;
    int answers = 0;
    std::chrono::system_clock::time_point asked_at{};
    ClockFacts clock{};
    bool has_clock = false, has_ended = false;
  };

  void serve();
  void begin(Attempt& attempt, net::Deadline deadline);
  void ask_time(Attempt& attempt);
  void take_time(Attempt& attempt, std::int64_t theirs_ns);
  void end(Attempt& attempt, PathFacts::Outcome outcome, const std::string& why);
  void end_all();

  void on_frame(net::Connection& connection, net::Bytes frame) override;
  void on_end(net::Connection& connection, const net::Error& why) override;

  const Options options_;
  std::vector<ListeningAddress> addresses_;

  // The thread's.
  net::Reactor reactor_;
  bool must_stop_ = false;
  std::unique_ptr<net::Gate> gate_;
  std::list<std::shared_ptr<net::Connection>> guests_;
  std::vector<Attempt> attempts_;
  std::size_t n_running_ = 0;
  std::promise<void> all_ended_;

  std::thread thread_;
};

}  // namespace chime::doctor
