#include "bootstrap/peer_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "chime/abi/start_thread.h"
#include "net/socket/descriptor.hpp"

namespace chime::bootstrap {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr char kEndpointInfoKey[] = "chime.watch";
constexpr char kGoodbyeKey[] = "chime.goodbye";
constexpr auto kEndpointInfoRetry =
    100ms;  // between rounds of asking for endpoint infos that are not there yet
constexpr auto kNoPidfdPoll = 200ms;   // kernels before 5.3 and some sandboxes have no pidfd_open
constexpr auto kGoodbyeGrace = 500ms;  // a goodbye may arrive after the process has ended

}  // namespace

class PeerWatch::Watcher {
 public:
  Watcher(Bootstrap& bootstrap, std::vector<KnownLocalPeer> known,
          std::function<void(int, std::string)> lost)
      : bootstrap_(bootstrap),
        lost_(std::move(lost)),
        me_(endpoint_info_of_this_process()),
        wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    for (const KnownLocalPeer& local_peer : known)
      peers_.push_back(
          {.pe = local_peer.pe, .is_known = true, .endpoint_info = local_peer.endpoint_info});
    thread_ = abi::start_thread([this] { watch(); });
    bootstrap_.on_peer_lost([this](int pe, const std::string& why) { hear(pe, why); });
  }

  ~Watcher() {
    bootstrap_.on_peer_lost(nullptr);
    must_stop_.store(true,
                     std::memory_order_relaxed);  // the thread's join below is all the order needed
    eventfd_write(wake_.get(), 1);
    thread_.join();
  }

  void say_goodbye() { bootstrap_.publish(kGoodbyeKey, {}); }
  void hear(int pe, const std::string& why);

 private:
  enum class State { kUnknown, kWatched, kUnwatchable, kDone };
  struct Peer {
    int pe;
    bool is_known = false;  // its endpoint info is
    State state = State::kUnknown;
    ProcessEndpointInfo endpoint_info = {};
    net::Descriptor pidfd = {};  // empty where the kernel has none: then asked from time to time
  };

  void watch();
  bool find_node_peers();
  void find_endpoint_infos();
  void start_watching(Peer& peer);
  void wait_for_an_end();
  void check(Peer& peer);
  void tell(int pe, const std::string& how);
  bool has_said_goodbye(const Peer& peer);
  std::string words_about_launcher() const;
  std::chrono::milliseconds pause() const;
  bool must_stop() const { return must_stop_.load(std::memory_order_relaxed); }

  Bootstrap& bootstrap_;
  const std::function<void(int, std::string)> lost_;
  const ProcessEndpointInfo me_;
  const pid_t parent_ = getppid();
  net::Descriptor wake_;
  std::atomic<bool> must_stop_{false};
  std::vector<Peer> peers_;  // the thread's own

  std::mutex mutex_;
  std::set<int> watched_;  // the process watch will see these end
  std::set<int> reported_;

  std::thread thread_;
};

PeerWatch::PeerWatch(Bootstrap& bootstrap, std::vector<KnownLocalPeer> known,
                     std::function<void(int, std::string)> lost) {
  if (bootstrap.size() > 1)
    watcher_ = std::make_unique<Watcher>(bootstrap, std::move(known), std::move(lost));
}
PeerWatch::~PeerWatch() = default;
void PeerWatch::tell(int pe, const std::string& how) {
  if (watcher_) watcher_->hear(pe, how);
}
void PeerWatch::say_goodbye() {
  if (watcher_) watcher_->say_goodbye();
}

void PeerWatch::Watcher::watch() {
  if (peers_.empty() && !find_node_peers()) return;
  for (Peer& peer : peers_)
    if (peer.is_known) start_watching(peer);
  while (!must_stop()) {
    find_endpoint_infos();
    wait_for_an_end();
  }
}

bool PeerWatch::Watcher::find_node_peers() {
  try {
    const NodeInfo& node = bootstrap_.node();
    const bool are_known = !node.processes.empty();
    for (std::size_t i = 0; i < node.pes.size(); ++i)
      if (node.pes[i] != bootstrap_.rank())
        peers_.push_back({.pe = node.pes[i],
                          .is_known = are_known,
                          .endpoint_info = are_known ? node.processes[i] : ProcessEndpointInfo{}});
    if (!are_known) bootstrap_.publish(kEndpointInfoKey, std::as_bytes(std::span(&me_, 1)));
    return true;
  } catch (const BootstrapError&) {
    return false;  // the job never came together: the thread that waits for it reports that
  }
}

// Asks without waiting: a peer that is late must not keep the others from being watched.
void PeerWatch::Watcher::find_endpoint_infos() {
  for (Peer& peer : peers_) {
    if (peer.state != State::kUnknown || must_stop()) continue;
    try {
      const auto bytes = bootstrap_.lookup(peer.pe, kEndpointInfoKey, Clock::now());
      if (bytes.size() != sizeof(ProcessEndpointInfo)) continue;
      std::memcpy(&peer.endpoint_info, bytes.data(), sizeof(ProcessEndpointInfo));
      start_watching(peer);
    } catch (const BootstrapError&) {
      // Not there yet.
    }
  }
}

void PeerWatch::Watcher::start_watching(Peer& peer) {
  const bool is_visible =
      std::strcmp(peer.endpoint_info.space, me_.space) == 0 && peer.endpoint_info.pid != me_.pid;
  peer.state = is_visible ? State::kWatched : State::kUnwatchable;
  if (!is_visible) return;
  {
    std::lock_guard lock(mutex_);
    watched_.insert(peer.pe);
  }
  peer.pidfd = net::Descriptor(
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(peer.endpoint_info.pid), 0)));
  // The descriptor holds whatever process has the number now; only the start time says that it is
  // the PE.
  if (!is_alive(peer.endpoint_info)) check(peer);
}

void PeerWatch::Watcher::wait_for_an_end() {
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  std::vector<Peer*> owners = {nullptr};
  for (Peer& peer : peers_) {
    if (peer.state != State::kWatched || !peer.pidfd) continue;
    polled.push_back({peer.pidfd.get(), POLLIN, 0});
    owners.push_back(&peer);
  }
  poll(polled.data(), polled.size(), static_cast<int>(pause().count()));
  for (std::size_t i = 1; i < polled.size() && !must_stop(); i++)
    if (polled[i].revents) check(*owners[i]);
  for (Peer& peer : peers_)
    if (peer.state == State::kWatched && !peer.pidfd && !is_alive(peer.endpoint_info) &&
        !must_stop())
      check(peer);
}

// For ever (-1), unless something has to be asked for again.
std::chrono::milliseconds PeerWatch::Watcher::pause() const {
  auto pause = -1ms;
  for (const Peer& peer : peers_) {
    if (peer.state == State::kUnknown) return kEndpointInfoRetry;
    if (peer.state == State::kWatched && !peer.pidfd) pause = kNoPidfdPoll;
  }
  return pause;
}

// The process of `peer` has ended.
void PeerWatch::Watcher::check(Peer& peer) {
  peer.state = State::kDone;
  if (has_said_goodbye(peer) || must_stop()) return;
  tell(peer.pe, "process " + std::to_string(peer.endpoint_info.pid) + " on host " +
                    peer.endpoint_info.host + " has ended (process watch)" +
                    words_about_launcher());
}

// Without their launcher PEs end by themselves, some earlier than others. A PE that sees a local
// peer end before it hears of the launcher must not blame the local peer.
std::string PeerWatch::Watcher::words_about_launcher() const {
  return getppid() == parent_ ? "" : "; the launcher that started this PE is gone, too";
}

// The process watch knows more of a PE that it watches (process, host), and will tell in a moment.
void PeerWatch::Watcher::hear(int pe, const std::string& why) {
  {
    std::lock_guard lock(mutex_);
    if (watched_.contains(pe)) return;
  }
  tell(pe, why);
}

void PeerWatch::Watcher::tell(int pe, const std::string& how) {
  std::lock_guard lock(mutex_);
  if (reported_.insert(pe).second) lost_(pe, how);
}

bool PeerWatch::Watcher::has_said_goodbye(const Peer& peer) {
  try {
    bootstrap_.lookup(peer.pe, kGoodbyeKey, Clock::now() + kGoodbyeGrace);
    return true;
  } catch (const BootstrapError&) {
    return false;
  }
}

}  // namespace chime::bootstrap
