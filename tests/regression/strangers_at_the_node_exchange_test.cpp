// Strangers of the same user could disturb the meeting of a node's PEs: one packet that was too
// long ended the job, a silent connection held it until its time was over, and any listener at the
// name got the job's secret.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "bootstrap/hub/tcp.hpp"
#include "host/errors/error.hpp"
#include "host/peers/node/exchange.hpp"
#include "host/peers/node/meeting.hpp"
#include "support/meet.hpp"

namespace chime::host {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kPes = 3;

// A socket of this machine that listens at an abstract name.
struct Listening {
  std::string name;
  int type;
  auto operator<=>(const Listening&) const = default;
};

std::set<Listening> who_listens() {
  std::set<Listening> all;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string word, flags, type, name;
    fields >> word >> word >> word >> flags >> type >> word >> word >> name;
    constexpr char kAccepts[] = "00010000";
    if (flags == kAccepts && name.starts_with("@chime-"))
      all.insert({name.substr(1), std::stoi(type, nullptr, 16)});
  }
  return all;
}

struct Name {
  sockaddr_un address{};
  socklen_t length;
  explicit Name(const std::string& name) {
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Connects to every name that begins to listen, and calls `attack` with the socket.
class Stranger {
 public:
  explicit Stranger(std::function<void(int)> attack)
      : known_(who_listens()), attack_(std::move(attack)), thread_([this] { knock_at_all(); }) {}
  ~Stranger() {
    must_stop_ = true;
    thread_.join();
    for (const int fd : sockets_) close(fd);
  }
  bool has_knocked() const { return has_knocked_; }

 private:
  void knock_at_all() {
    while (!must_stop_)
      for (const Listening& found : who_listens())
        if (known_.insert(found).second) knock(found);
  }
  void knock(const Listening& at) {
    const Name name(at.name);
    for (int i = 0; i < 20; ++i) {
      const int fd = socket(AF_UNIX, at.type | SOCK_CLOEXEC, 0);
      sockets_.push_back(fd);
      if (connect(fd, name.get(), name.length)) return;
      attack_(fd);
      has_knocked_ = true;
    }
  }

  std::set<Listening> known_;
  std::function<void(int)> attack_;
  std::vector<int> sockets_;
  std::atomic<bool> must_stop_{false}, has_knocked_{false};
  std::thread thread_;
};

int some_memory() { return memfd_create("chime test", MFD_CLOEXEC); }

ino_t inode_of(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status.st_ino;
}

// PEs as threads: each comes when `may_come(pe)` returns, and all must find all.
template <class MayCome>
void all_meet(const chimex_uniqueid_t& id, MayCome may_come) {
  std::vector<int> heaps;
  for (int pe = 0; pe < kPes; ++pe) heaps.push_back(some_memory());
  std::vector<std::future<void>> pes;
  for (int pe = 0; pe < kPes; ++pe)
    pes.push_back(std::async(std::launch::async, [&, pe] {
      const auto job = bootstrap::join_unique_id(id, pe, kPes, {.timeout = 20s});
      may_come(pe, *job);
      NodeEndpointInfo endpoint_info;
      endpoint_info.pe = pe;
      endpoint_info.transport_has_descriptor = 1;
      const int control = some_memory();
      const auto local_peers =
          exchange_with_node(*job, endpoint_info, heaps[pe], control, Clock::now() + 10s);
      ASSERT_EQ(local_peers.size(), kPes - 1u);
      for (const LocalPeer& local_peer : local_peers)
        EXPECT_EQ(inode_of(local_peer.transport.get()),
                  inode_of(heaps[local_peer.endpoint_info.pe]));
      close(control);
      bootstrap::test::meet(*job);
    }));
  for (auto& pe : pes) {
    try {
      pe.get();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  for (const int heap : heaps) close(heap);
}

// The lowest PE listens at once; the others come after the stranger.
void all_meet_after(const Stranger& stranger) {
  all_meet(bootstrap::create_unique_id("lo"), [&](int pe, bootstrap::Bootstrap&) {
    const auto end = Clock::now() + 10s;
    while (pe != 0 && !stranger.has_knocked() && Clock::now() < end) std::this_thread::yield();
  });
  EXPECT_TRUE(stranger.has_knocked());
}

TEST(NodeExchange, APacketThatIsTooLongIsTheStrangersProblem) {
  all_meet_after(Stranger([](int fd) {
    const std::vector<char> packet(65'537, 'x');
    send(fd, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }));
}

TEST(NodeExchange, ASilentConnectionDelaysNone) {
  all_meet_after(Stranger([](int) {}));
}

TEST(NodeExchange, GarbageWithDescriptorsIsDropped) {
  all_meet_after(Stranger([](int fd) {
    char garbage[64] = "garbage";
    iovec payload{garbage, sizeof garbage};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)];
    msghdr message{};
    message.msg_iov = &payload;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
    sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }));
}

// Listens at `name`, accepts all connections, and keeps all bytes that arrive.
class Squatter {
 public:
  explicit Squatter(const std::string& name) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const Name where(name);
    EXPECT_EQ(bind(fd_, where.get(), where.length), 0);
    EXPECT_EQ(listen(fd_, 64), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Squatter() { stop(); }
  // Returns the bytes.
  std::string stop() {
    if (thread_.joinable()) {
      shutdown(fd_, SHUT_RDWR);
      thread_.join();
      close(fd_);
    }
    return heard_;
  }

 private:
  void serve() {
    for (int guest; (guest = accept(fd_, nullptr, nullptr)) >= 0; close(guest)) {
      char buffer[4096];
      const timeval patience{0, 100'000};
      setsockopt(guest, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      for (ssize_t got; (got = recv(guest, buffer, sizeof buffer, 0)) > 0;)
        heard_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  int fd_;
  std::string heard_;
  std::thread thread_;
};

// The lowest PE's future name; a stranger saw it before the PEs left and joined again.
std::string first_name(const bootstrap::Bootstrap& job) {
  return node_names(node_credentials(job), 0).front().text().substr(1);
}

TEST(NodeExchange, AnEarlierOwnerOfTheNameGetsNothingAndStopsNone) {
  std::optional<Squatter> squatter;
  std::promise<void> sits;
  const auto has_come = sits.get_future().share();
  bootstrap::Bytes secret;
  all_meet(bootstrap::create_unique_id("lo"), [&](int pe, bootstrap::Bootstrap& job) {
    if (pe == 0) {
      secret = job.job_secret();
      squatter.emplace(first_name(job));
      sits.set_value();
    }
    has_come.wait();
  });
  const std::string heard = squatter->stop();
  const std::string_view known(reinterpret_cast<const char*>(secret.data()), secret.size());
  EXPECT_EQ(heard.find(known), std::string::npos) << "a stranger received the secret";
}

}  // namespace
}  // namespace chime::host
