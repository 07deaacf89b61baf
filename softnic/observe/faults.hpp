// Faults on demand, by seed and rule. SOFTNIC_FAULTS is a list of rules separated by ';', each
// "name:key=value,key=value"; docs/softnic.md has the table. Every decision comes from one seeded
// generator, so a run with the same seed and the same order of events repeats.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "softnic/firmware/objects.hpp"

namespace softnic {

class Faults {
 public:
  // Throws std::runtime_error naming the rule and its possible values.
  explicit Faults(const std::string& rules);

  // The doorbell that just came for queue pair `qpn` is swallowed.
  bool loses_doorbell(std::uint32_t qpn);

  // The syndrome that the `nth` WQE of `qp` fails with, else `found`.
  Syndrome syndrome_for(const QueuePair& qp, std::uint64_t nth, Syndrome found);

  // `qp` sends nothing for now (delay, and with it reordering between queue pairs).
  bool holds_back(const QueuePair& qp);

  // `qp` processes nothing that arrives (a stalled peer).
  bool stalls(const QueuePair& qp);

  // `qp` behaves as if no receive WQE were posted.
  bool not_ready(const QueuePair& qp);

  // How long a completion of queue pair `qpn` is held back, and with it all later ones of its
  // queue.
  std::optional<std::chrono::microseconds> delays_completion(std::uint32_t qpn);

  // Places payload that came for `qp` in the program's memory: all at once, or torn.
  void place(const QueuePair& qp, std::byte* to, const std::byte* payload, std::uint32_t bytes);

  // How long a packet of a write to `qp` waits while what follows it is placed.
  std::optional<std::chrono::microseconds> lets_overtake(const QueuePair& qp);
  // Whether that can ever happen to queue pair `qpn`.
  bool reorders(std::uint32_t qpn) const;

  // This NIC ends now, without notice to its neighbours.
  bool vanishes();

  // Waits between the load and the store of an atomic.
  void pause_inside_atomic();

  // How often each rule has struck so far, by its name.
  using Strikes = std::map<std::string, std::uint64_t>;
  Strikes strikes() const;

 private:
  struct Rule {
    std::string name;
    double probability = 1.0;
    std::optional<std::uint32_t> qp;   // index of the queue pair on this NIC (low 12 bits)
    std::optional<std::uint64_t> wqe;  // n-th WQE of a queue pair, from 0
    std::uint64_t count = ~0ull;       // how often it may strike
    std::uint64_t struck = 0;
    std::uint32_t microseconds = 100;
    Syndrome syndrome = Syndrome::kNone;
  };

  static Rule parse(const std::string& text);
  Rule* pick(const char* name, std::uint32_t qpn);
  bool strikes(Rule& rule);

  std::vector<Rule> rules_;
  std::mt19937_64 random_;
  Clock::time_point started_ = Clock::now();
  std::vector<std::pair<std::uint32_t, Clock::time_point>> held_until_;
};

}  // namespace softnic
