// Which hosts are lost, and whether all PEs learn of it: many PEs without sockets, with random
// message delays; hosts die, and processes die or stop at random moments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "chime/device/simt/exec/export.hpp"
#include "chime/device/simt/faults/sanitizers.hpp"
#include "host/peers/keepalive/tree.hpp"
#include "net/socket/error.hpp"

namespace chime::host {
namespace {

using Link = KeepaliveTree::Link;
using End = KeepaliveTree::End;
using testing::SizeIs;

// TSan has nothing to check here: one thread plays all PEs. ASan checks memory and not the
// protocol.
constexpr int kSeeds = CHIME_SIMT_TSAN ? 20 : CHIME_SIMT_ASAN ? 100 : 400;

// In ms of the simulation.
constexpr int kSilence = 3000;       // CHIME_FABRIC_TIMEOUT
constexpr int kProbe = 1000;         // by which the kernel may be late
constexpr int kTreeStands = 10'000;  // all have found each other long before

class Job {
 public:
  struct Pe;

  // `host_of[pe]`.
  Job(std::vector<int> host_of, unsigned seed) : random_(seed) {
    for (std::size_t pe = 0; pe < host_of.size(); ++pe) {
      const auto host = static_cast<std::size_t>(host_of[pe]);
      if (hosts_.size() <= host) hosts_.resize(host + 1);
      hosts_[host].pes.push_back(static_cast<int>(pe));
    }
    const int n_pes = static_cast<int>(host_of.size());
    for (int pe = 0; pe < n_pes; ++pe) {
      const int host = host_of[static_cast<std::size_t>(pe)];
      pes_.push_back(std::make_unique<Pe>(*this, pe, host, n_pes));
    }
    for (int host = 0; host < n_hosts(); ++host) begin(host);
  }

  int n_hosts() const { return static_cast<int>(hosts_.size()); }
  int n_pes() const { return static_cast<int>(pes_.size()); }
  int leader_of(int host) const { return hosts_[at(host)].leader; }
  const std::vector<int>& pes_of(int host) const { return hosts_[at(host)].pes; }
  bool is_alive(int host) const { return !hosts_[at(host)].is_dead; }
  const Pe& pe(int pe) const { return *pes_[at(pe)]; }

  void run_until(int time) {
    while (!events_.empty() && events_.begin()->first.first <= time) {
      const auto event = events_.extract(events_.begin());
      now_ = event.key().first;
      event.mapped()();
    }
    now_ = time;
  }

  // The host loses power at `time`.
  void kill_host(int host, int time) {
    later(time - now_, [this, host] {
      cut(host);
      hosts_[at(host)].is_dead = true;
      for (const int pe : pes_of(host)) pes_[at(pe)]->is_dead = true;
    });
  }
  // The host runs on, but no message reaches or leaves it.
  void cut_host_off(int host, int time) {
    later(time - now_, [this, host] { cut(host); });
  }
  // Kills the process of a leader whose host has other living ones.
  void kill_leader(int host, int time) {
    later(time - now_, [this, host] {
      Host& h = hosts_[at(host)];
      const auto alive = [this](int pe) { return !pes_[at(pe)]->is_dead; };
      if (h.is_dead || std::ranges::count_if(h.pes, alive) < 2) return;
      kill_process(h.leader);
      const auto after = std::ranges::find(h.pes, h.leader) - h.pes.begin();
      h.leader = -1;
      const auto n = static_cast<std::ptrdiff_t>(h.pes.size());
      for (std::ptrdiff_t i = 1; h.leader < 0; ++i)
        if (const int pe = h.pes[static_cast<std::size_t>((after + i) % n)]; alive(pe))
          h.leader = pe;
      later(pause(1, 100), [this, host, next = h.leader] { take_seat(host, next); });
    });
  }
  // It stops at `time` for `length`; its kernel still answers.
  void stop(int pe, int time, int length) {
    later(time - now_, [this, pe, length] {
      ++pes_[at(pe)]->stops;
      later(length, [this, pe] { go_on(*pes_[at(pe)]); });
    });
  }

  int now() const { return now_; }
  int pause(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  std::size_t connections_between_hosts() const {
    return static_cast<std::size_t>(std::ranges::count_if(wires_, [this](const auto& wire) {
      return wire.second.is_up && host_of(wire.second.ends[0]) != host_of(wire.second.ends[1]);
    }));
  }
  std::uint64_t messages() const { return messages_; }

  struct Pe final : KeepaliveTree::Outside {
    Pe(Job& of, int number, int on_host, int n_pes)
        : job(of), pe(number), host(on_host), tree(*this, n_pes, of.record_of(on_host), "3 s") {}

    void find(int wanted) override {
      job.for_pe(pe, job.pause(1, 50),
                 [this, wanted] { tree.on_found(job.record_of(job.pes_[at(wanted)]->host)); });
    }
    void reach(const NodeRecord& node, std::chrono::milliseconds after) override {
      const int number = ++reaching[node.node()];
      EXPECT_TRUE(open.insert(node.node()).second) << "two at once";
      job.for_pe(pe, static_cast<int>(after.count()), [this, other = node.node(), number] {
        job.try_to_reach(*this, other, number, job.now_ + kSilence);
      });
    }
    void stop_reaching(int node) override {
      ++reaching[node];
      open.erase(node);
    }
    bool still_reaches(int node, int number) {
      return open.contains(node) && reaching[node] == number;
    }
    void send(Link link, const net::Bytes& message) override { job.carry(*this, link, message); }
    void close(Link link) override { job.close(*this, link); }
    void settle_soon() override {
      job.for_pe(pe, 5, [this] { tree.settle(); });
    }
    void lost(const NodeRecord& node, const std::string&) override {
      for (const int gone : node.pes) {
        EXPECT_TRUE(told.emplace(gone, job.now_).second) << "PE " << gone << " is told of twice";
      }
    }

    Job& job;
    const int pe, host;
    bool is_dead = false;
    int stops = 0;
    std::vector<std::function<void()>> held;  // until it goes on
    std::map<int, int> reaching;              // the number of the attempt, by node
    std::set<int> open;                       // nodes
    std::map<int, int> told;                  // when, by PE
    KeepaliveTree tree;
  };

 private:
  struct Host {
    std::vector<int> pes;
    int leader = -1;
    bool leads = false;  // it listens
    bool is_cut = false, is_dead = false;
  };
  // A connection. Both ends use the same number for it.
  struct Wire {
    int ends[2];
    int last_arrival[2] = {0, 0};  // at each: messages stay in order
    bool is_up = true;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int host_of(int pe) const { return pes_[at(pe)]->host; }

  NodeRecord record_of(int host) const {
    return {.host = "host" + std::to_string(host), .pes = pes_of(host), .addresses = {}};
  }

  void later(int delay, std::function<void()> event) {
    events_.emplace(std::pair{now_ + delay, next_event_++}, std::move(event));
  }
  // An action of `pe`, unless it is dead; if it is stopped, after it continues.
  void for_pe(int pe, int delay, std::function<void()> what) {
    later(delay, [this, pe, what = std::move(what)] {
      Pe& p = *pes_[at(pe)];
      if (p.is_dead) return;
      p.stops > 0 ? p.held.push_back(what) : what();
    });
  }
  void go_on(Pe& pe) {
    if (--pe.stops > 0) return;
    for (const auto& what : std::exchange(pe.held, {}))
      if (!pe.is_dead) what();
  }

  void begin(int host) {
    hosts_[at(host)].leader = pes_of(host).front();
    later(pause(0, 100), [this, host] { take_seat(host, leader_of(host)); });
  }
  void take_seat(int host, int pe) {
    if (leader_of(host) != pe) return;  // it is dead
    for_pe(pe, 0, [this, host, pe] {
      if (leader_of(host) != pe) return;
      hosts_[at(host)].leads = true;
      pes_[at(pe)]->tree.lead();
      for (const int local_peer : pes_of(host))
        if (local_peer != pe)
          for_pe(local_peer, pause(1, 50), [this, pe, local_peer] { join(pe, local_peer); });
    });
  }
  void join(int leader, int local_peer) {
    if (pes_[at(leader)]->is_dead || leader_of(host_of(local_peer)) != leader) return;
    const Link link = connect(leader, local_peer);
    for_pe(leader, 0, [this, leader, link] { pes_[at(leader)]->tree.on_link(link); });
    pes_[at(local_peer)]->tree.on_link(link);
  }

  Link connect(int a, int b) {
    wires_[++last_link_] = {.ends = {a, b}};
    return last_link_;
  }

  bool is_apart(int host, int other) const {
    return host != other && (hosts_[at(host)].is_cut || hosts_[at(other)].is_cut);
  }

  void try_to_reach(Pe& from, int node, int number, int silent_at) {
    if (!from.still_reaches(node, number)) return;
    const int host = host_of(node);  // a PE stands for its node
    const auto again = [&, this](int delay) {
      for_pe(from.pe, delay, [this, &from, node, number, silent_at] {
        try_to_reach(from, node, number, silent_at);
      });
    };
    if (is_apart(from.host, host)) {
      if (now_ < silent_at) return again(std::min(100, silent_at - now_));
      from.open.erase(node);
      return from.tree.on_unreached(node, End::kSilent);
    }
    if (!hosts_[at(host)].leads) return again(20);
    const int leader = leader_of(host);
    from.open.erase(node);
    const Link link = connect(from.pe, leader);
    for_pe(leader, pause(1, 5), [this, leader, link] {  // before the first message over it
      if (wires_[link].is_up) pes_[at(leader)]->tree.on_link(link);
    });
    from.tree.on_reached(node, link);
  }

  void carry(const Pe& from, Link link, const net::Bytes& message) {
    Wire& wire = wires_.at(link);
    ++messages_;
    if (!wire.is_up || is_apart(host_of(wire.ends[0]), host_of(wire.ends[1]))) return;
    const int to = wire.ends[0] == from.pe ? 1 : 0;
    int& last = wire.last_arrival[to];
    last = std::max(last, now_ + pause(5, 10));
    for_pe(wire.ends[to], last - now_, [this, link, to, message] {
      if (!wires_.at(link).is_up) return;
      try {
        pes_[at(wires_.at(link).ends[to])]->tree.on_message(link, message);
      } catch (const net::Error& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }

  void tell_end(const Wire& wire, Link link, int end, int delay, End how) {
    for_pe(wire.ends[end], delay,
           [this, link, pe = wire.ends[end], how] { pes_[at(pe)]->tree.on_end(link, how); });
  }

  void close(const Pe& from, Link link) {
    Wire& wire = wires_.at(link);
    if (!std::exchange(wire.is_up, false)) return;
    tell_end(wire, link, wire.ends[0] == from.pe ? 1 : 0, pause(1, 5), End::kClosed);
  }

  void kill_process(int pe) {
    pes_[at(pe)]->is_dead = true;
    hosts_[at(host_of(pe))].leads = false;
    for (auto& [link, wire] : wires_) {
      if ((wire.ends[0] != pe && wire.ends[1] != pe) || !wire.is_up) continue;
      const int other = wire.ends[0] == pe ? 1 : 0;
      const bool is_cut = is_apart(host_of(wire.ends[0]), host_of(wire.ends[1]));
      if (is_cut) continue;  // it ends by silence
      wire.is_up = false;
      tell_end(wire, link, other, pause(5, 10), End::kClosed);
    }
  }

  // Both ends detect it by themselves.
  void cut(int host) {
    hosts_[at(host)].is_cut = true;
    for (auto& [link, wire] : wires_) {
      const bool is_here[2] = {host_of(wire.ends[0]) == host, host_of(wire.ends[1]) == host};
      if (!wire.is_up || is_here[0] == is_here[1]) continue;
      for (const int end : {0, 1})
        tell_end(wire, link, end, pause(kSilence - kProbe, kSilence + kProbe), End::kSilent);
    }
  }

  std::mt19937 random_;
  int now_ = 0;
  std::uint64_t next_event_ = 0, messages_ = 0;
  Link last_link_ = 0;
  std::map<std::pair<int, std::uint64_t>, std::function<void()>> events_;
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::map<Link, Wire> wires_;
};

// PEs on hosts in any order: in blocks, by turns, or at random.
std::vector<int> some_places(std::mt19937& random, int n_hosts) {
  std::vector<int> places;
  for (int host = 0; host < n_hosts; ++host) places.insert(places.end(), 1 + random() % 4, host);
  if (random() % 2) std::ranges::shuffle(places, random);
  return places;
}

std::set<int> pes_on(const Job& job, const std::set<int>& hosts) {
  std::set<int> pes;
  for (const int host : hosts) pes.insert(job.pes_of(host).begin(), job.pes_of(host).end());
  return pes;
}

// Every living PE has reported all PEs of these hosts, and no other.
void expect_told_of(const Job& job, const std::set<int>& hosts) {
  const auto expected = pes_on(job, hosts);
  for (int pe = 0; pe < job.n_pes(); ++pe) {
    if (job.pe(pe).is_dead || hosts.contains(job.pe(pe).host)) continue;
    std::set<int> told;
    for (const auto& [gone, when] : job.pe(pe).told) told.insert(gone);
    EXPECT_EQ(told, expected) << "on PE " << pe << " of host " << job.pe(pe).host;
  }
}

TEST(KeepaliveTree, NodesHaveOneConnectionLessThanTheyAre) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    Job job(some_places(random, 2 + static_cast<int>(random() % 20)), seed);
    job.run_until(kTreeStands);
    EXPECT_EQ(job.connections_between_hosts(), static_cast<std::size_t>(job.n_hosts() - 1));
    expect_told_of(job, {});
  }
}

TEST(KeepaliveTree, EveryPeHasEveryNode) {
  std::mt19937 random(1);
  Job job(some_places(random, 20), 1);
  job.run_until(kTreeStands);
  for (int pe = 0; pe < job.n_pes(); ++pe)
    EXPECT_THAT(job.pe(pe).tree.roster().nodes(), SizeIs(20));
}

TEST(KeepaliveTree, ALostHostIsNamedOnAllInTime) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 2 + static_cast<int>(random() % 20)), seed);
    const int lost = static_cast<int>(random() % static_cast<unsigned>(job.n_hosts()));
    job.kill_host(lost, kTreeStands);
    job.run_until(4 * kTreeStands);
    expect_told_of(job, {lost});
    for (int pe = 0; pe < job.n_pes(); ++pe)
      for (const auto& [gone, when] : job.pe(pe).told)
        EXPECT_LE(when, kTreeStands + kSilence + kProbe + 500);
  }
}

// Parents with their own parents, leaves with the root, and all hosts but one.
TEST(KeepaliveTree, AllHostsThatAreLostAreNamedAndNoOther) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 2 + static_cast<int>(random() % 12)), seed);
    std::vector<int> hosts(static_cast<std::size_t>(job.n_hosts()));
    std::iota(hosts.begin(), hosts.end(), 0);
    std::ranges::shuffle(hosts, random);
    const std::size_t n_lost = 1 + random() % (hosts.size() - 1);
    const int spread = random() % 2 ? 1 : 3 * kSilence;  // at once, or one while another is found
    std::set<int> lost;
    for (std::size_t i = 0; i < n_lost; ++i) {
      job.kill_host(hosts[i], kTreeStands + job.pause(0, spread));
      lost.insert(hosts[i]);
    }
    job.run_until(20 * kTreeStands);
    expect_told_of(job, lost);
  }
}

TEST(KeepaliveTree, LeadersThatDieAreNoLostHosts) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 2 + static_cast<int>(random() % 12)), seed);
    for (int i = 0; i < 8; ++i)
      job.kill_leader(job.pause(0, job.n_hosts() - 1), kTreeStands + job.pause(0, 3000));
    job.run_until(2 * kTreeStands);
    expect_told_of(job, {});
    const int lost = job.pause(0, job.n_hosts() - 1);
    job.kill_host(lost, 2 * kTreeStands + 1);
    job.run_until(10 * kTreeStands);
    expect_told_of(job, {lost});
  }
}

TEST(KeepaliveTree, LeadersAndHostsDieAtTheSameTime) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 3 + static_cast<int>(random() % 10)), seed);
    std::set<int> lost;
    for (int i = 0; i < 6; ++i) {
      const int host = job.pause(0, job.n_hosts() - 1), when = kTreeStands + job.pause(0, 5000);
      if (job.pause(0, 1)) {
        job.kill_leader(host, when);
      } else if (static_cast<int>(lost.size()) < job.n_hosts() - 1 && lost.insert(host).second) {
        job.kill_host(host, when);
      }
    }
    job.run_until(20 * kTreeStands);
    expect_told_of(job, lost);
  }
}

TEST(KeepaliveTree, StoppedProcessesAreNotNamedAndHearOfItWhenTheyGoOn) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 3 + static_cast<int>(random() % 10)), seed);
    for (int i = 0; i < 4; ++i)
      job.stop(job.pause(0, job.n_pes() - 1), kTreeStands + job.pause(0, 5000), 2 * kTreeStands);
    const int lost = job.pause(0, job.n_hosts() - 1);
    job.kill_host(lost, kTreeStands + 2000);
    job.run_until(20 * kTreeStands);
    expect_told_of(job, {lost});
  }
}

TEST(KeepaliveTree, AHostThatIsCutOffNamesAllOthers) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    Job job(some_places(random, 2 + static_cast<int>(random() % 6)), seed);
    const int cut = job.pause(0, job.n_hosts() - 1);
    job.cut_host_off(cut, kTreeStands);
    job.run_until(20 * kTreeStands);
    std::set<int> others;
    for (int host = 0; host < job.n_hosts(); ++host)
      if (host != cut) others.insert(host);
    expect_told_of(job, {cut});
    const auto expected = pes_on(job, others);
    for (const int pe : job.pes_of(cut)) EXPECT_THAT(job.pe(pe).told, SizeIs(expected.size()));
  }
}

TEST(KeepaliveTree, GarbageIsAnErrorOfItsSender) {
  Job job({0, 1}, 1);
  job.run_until(kTreeStands);
  auto& tree = const_cast<KeepaliveTree&>(job.pe(0).tree);
  EXPECT_THROW(tree.on_message(1, {}), net::Error);
  net::Writer no_such_pe;
  no_such_pe.put(std::uint8_t{1});
  NodeRecord{.host = "x", .pes = {2}, .addresses = {}}.write(no_such_pe);
  EXPECT_THROW(tree.on_message(1, no_such_pe.written()), net::Error);
  net::Writer unknown_kind;
  unknown_kind.put(std::uint8_t{9});
  NodeRecord{.host = "x", .pes = {1}, .addresses = {}}.write(unknown_kind);
  EXPECT_THROW(tree.on_message(1, unknown_kind.written()), net::Error);
}

}  // namespace
}  // namespace chime::host
