// Nodes with real connections, all in this process. The lost host never existed: a socket of this
// machine that never answers.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <future>
#include <list>
#include <set>
#include <thread>

#include "bootstrap/hub/tcp.hpp"
#include "host/peers/keepalive/keepalive.hpp"
#include "host/peers/keepalive/links.hpp"
#include "net/secure/secret.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;

constexpr auto kSilence = 1000ms;
constexpr auto kPatience = 30s;
constexpr int kPes = 6;
constexpr int kLost = 5;  // the node of PE 2 is above it

net::Address loopback() { return net::Address::internet("127.0.0.1", 0); }

bool comes(const std::function<bool()>& condition) {
  const auto end = net::Clock::now() + kPatience;
  while (!condition()) {
    if (net::Clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

// As in tests/unit/net/reach_test.cpp.
class SilentHost {
 public:
  SilentHost() : listener_(net::listen_at(loopback())) {
    ::listen(listener_.get(), 0);
    for (int i = 0; i < 3; ++i)
      waiting_.push_back(net::start_connecting(net::address_of(listener_)));
    std::this_thread::sleep_for(50ms);
  }
  net::Bytes record() const {
    net::Writer message;
    NodeRecord{.host = "gone", .pes = {kLost}, .addresses = net::address_of(listener_).to_bytes()}
        .write(message);
    return message.take();
  }

 private:
  net::Descriptor listener_;
  std::list<net::Descriptor> waiting_;
};

// PEs 0 and 1, 2 and 3, 4: each on a node. A request for a node's record is answered, as by a
// launcher.
class Nodes {
 public:
  Nodes() {
    for (int pe = 0; pe < kLost; ++pe) start(pe);
    for (int pe = 0; pe < kLost; ++pe) {
      net::Writer record;
      links_[at(pe)]->wait_until_ready(net::Clock::now() + kPatience).write(record);
      const std::lock_guard lock(mutex_);
      records_[pe] = record.take();
      for (const auto& [asker, wanted] : wanted_) answer(asker, wanted);
    }
  }

  ~Nodes() {
    for (int pe = 0; pe < kLost; ++pe) end(pe);
  }

  void end(int pe) {
    std::unique_ptr<KeepaliveLinks> ended;  // without the lock: its thread may wait for it
    const std::lock_guard lock(mutex_);
    ended = std::move(links_[at(pe)]);
  }
  void find(int pe, const net::Bytes& record) { links_[at(pe)]->found(record); }
  bool has_told(int pe) { return lost_[at(pe)] > 0; }
  int told(int pe) { return lost_[at(pe)]; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::vector<int> node_of(int pe) {
    return pe < 2 ? std::vector{0, 1} : pe < 4 ? std::vector{2, 3} : std::vector{4};
  }

  void start(int pe) {
    links_[at(pe)] = std::make_unique<KeepaliveLinks>(
        KeepaliveLinks::Options{.secret = secret_,
                                .job = "job",
                                .pe = pe,
                                .n_pes = kPes,
                                .node_pes = node_of(pe),
                                .addresses = {loopback()},
                                .silence = kSilence,
                                .log = [](const std::string& line) { ADD_FAILURE() << line; }},
        KeepaliveLinks::Events{.find =
                                   [this, pe](int wanted) {
                                     const std::lock_guard lock(mutex_);
                                     wanted_[pe] = wanted;
                                     answer(pe, wanted);
                                   },
                               .lost =
                                   [this, pe](const NodeRecord& node, const std::string&) {
                                     EXPECT_EQ(node.pes, std::vector{kLost});
                                     ++lost_[at(pe)];
                                   },
                               .failed = [](const std::string& why) { ADD_FAILURE() << why; }});
    links_[at(pe)]->start();
  }
  // Once that node has a record, and while the requesting PE exists.
  void answer(int pe, int wanted) {
    if (wanted == kLost || !links_[at(pe)]) return;
    const auto record = records_.find(node_of(wanted).front());
    if (record != records_.end()) links_[at(pe)]->found(record->second);
  }

  const net::Token token_ = net::random_token();
  const net::Bytes secret_{token_.begin(), token_.end()};
  std::mutex mutex_;  // guards the members below that are not atomic
  std::map<int, int> wanted_;
  std::map<int, net::Bytes> records_;
  std::array<std::atomic<int>, kLost> lost_{};
  std::array<std::unique_ptr<KeepaliveLinks>, kLost> links_;
};

TEST(KeepaliveLinks, AllPesOfAllNodesHearOfALostHost) {
  const SilentHost gone;
  Nodes nodes;
  nodes.find(4, gone.record());
  for (int pe = 0; pe < kLost; ++pe) EXPECT_TRUE(comes([&] { return nodes.has_told(pe); })) << pe;
  std::this_thread::sleep_for(kSilence);
  for (int pe = 0; pe < kLost; ++pe) EXPECT_EQ(nodes.told(pe), 1);
}

// The second of two leaders, and the one above it, end: other PEs of their nodes take over. Also
// where the leaders end before they have found each other.
class Successors : public testing::TestWithParam<std::chrono::milliseconds> {};

TEST_P(Successors, AreFoundWhereTheirLeadersWere) {
  const SilentHost gone;
  Nodes nodes;
  std::this_thread::sleep_for(GetParam());
  nodes.end(2);
  nodes.end(0);
  nodes.find(4, gone.record());
  for (const int pe : {1, 3, 4}) EXPECT_TRUE(comes([&] { return nodes.has_told(pe); })) << pe;
}

INSTANTIATE_TEST_SUITE_P(Early, Successors, testing::Values(0ms));
INSTANTIATE_TEST_SUITE_P(Late, Successors, testing::Values(200ms));

TEST(KeepaliveLinks, ANodeWhosePesHaveAllLeftIsNotLost) {
  Nodes nodes;
  std::this_thread::sleep_for(200ms);
  nodes.end(2);
  nodes.end(3);
  std::this_thread::sleep_for(3 * kSilence);
  for (const int pe : {0, 1, 4}) EXPECT_EQ(nodes.told(pe), 0);
}

// The number of this process's sockets.
int sockets() {
  int n = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    struct stat about {};
    n += fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
  }
  return n;
}

TEST(Keepalive, AJobOfOneNodeOpensNoSocket) {
  const auto id = bootstrap::create_unique_id("lo");
  auto other = std::async(std::launch::async,
                          [&] { return bootstrap::join_unique_id(id, 1, 2, {.timeout = 60s}); });
  const auto job = bootstrap::join_unique_id(id, 0, 2, {.timeout = 60s});
  const auto other_job = other.get();
  ASSERT_EQ(job->node().n_pes, 2);
  const int before = sockets();
  const Keepalive keepalive(*job, {.silence = 1s, .deadline = net::Clock::now() + 60s});
  EXPECT_EQ(sockets(), before);
}

}  // namespace
}  // namespace chime::host
