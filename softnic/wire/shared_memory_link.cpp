// The link between processes of one host: for each pair of NICs a socket, used once, and two rings
// in a memfd.
//
// A NIC's address is the abstract socket name that it could bind, so addresses need no table and
// leave no file. The side that sends first connects and passes the memfd; both check the other's
// user, and the fabric's name.
//
//   listening socket   "\0softnic/<uid>/<hash of the fabric's name>/<address>"
//   hello              {magic, my address, fabric name}, with the memfd attached; its size is
//   sealed
//
// The socket stays open: its hang-up shows that the neighbour is gone.
//
// Short sleeps use futexes in the rings, which cost half of a byte through a socket. Long ones use
// the sockets, where new neighbours and hang-ups also wake.

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "link.hpp"
#include "ring.hpp"
#include "softnic/observe/log.hpp"

namespace softnic {
namespace {

constexpr std::uint32_t kMaxNics = 4095;
constexpr std::uint32_t kMagic = 0x534e4943;  // "SNIC"
constexpr std::size_t kMaxFabricName = 128;
constexpr char kWaking = 1;
constexpr std::chrono::nanoseconds kLongestOnFutex = std::chrono::microseconds(100);

struct Hello {
  std::uint32_t magic = kMagic;
  std::uint32_t address = 0;
  char fabric[kMaxFabricName] = {};
};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

struct Pair {  // both directions between two NICs; lives in the memfd
  Ring::Shared from_connector;
  Ring::Shared to_connector;
};

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A memfd for a pair, of a sealed size: if a neighbour could cut it, every access here could be a
// SIGBUS. -1 if there is none.
int make_pair_memory() {
  const int memfd = ::memfd_create("softnic-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memfd < 0) return -1;
  if (::ftruncate(memfd, sizeof(Pair)) == 0 && ::fcntl(memfd, F_ADD_SEALS, kSeals) == 0)
    return memfd;
  ::close(memfd);
  return -1;
}

bool is_pair_memory(int memfd) {
  struct stat status {};
  return ::fstat(memfd, &status) == 0 && status.st_size == sizeof(Pair) &&
         (::fcntl(memfd, F_GET_SEALS) & F_SEAL_SHRINK);
}

// Null if it cannot be mapped.
Pair* map_pair(int memfd) {
  void* at = ::mmap(nullptr, sizeof(Pair), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<Pair*>(at);
}

// One neighbour as one side sees it. Unmaps on destruction.
struct Connection {
  Descriptor socket;
  Pair* pair;
  Ring out;
  Ring in;
  std::uint32_t nic;

  Connection(Descriptor s, Pair* p, bool connector, std::uint32_t peer)
      : socket(std::move(s)),
        pair(p),
        out(connector ? &p->from_connector : &p->to_connector),
        in(connector ? &p->to_connector : &p->from_connector),
        nic(peer) {}
  Connection(const Connection&) = delete;
  ~Connection() { ::munmap(pair, sizeof(Pair)); }
};

std::uint64_t hash(
    const std::string& text) {  // FNV-1a; names only, the hello carries the whole name
  std::uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

// Sleeps on all of `words` until one of them is woken or is no longer kOnFutex, or until `at_most`
// is over. False if the kernel does not support it (before Linux 5.16).
bool wait_for_any(std::vector<futex_waitv>& words, std::chrono::nanoseconds at_most) {
  timespec until;
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += static_cast<long>(at_most.count());
  if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
  return ::syscall(SYS_futex_waitv, words.data(), words.size(), 0, &until, CLOCK_MONOTONIC) >= 0 ||
         errno != ENOSYS;
}

socklen_t name_of_nic(const std::string& fabric, std::uint32_t nic, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const int length =
      std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "softnic/%u/%016llx/%u",
                    ::geteuid(), static_cast<unsigned long long>(hash(fabric)), nic);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

bool send_hello(int socket, const Hello& hello, int memfd) {
  iovec data{const_cast<Hello*>(&hello), sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &memfd, sizeof memfd);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof hello;
}

// The hello and its memfd; nothing if the other side is not of this fabric.
std::optional<Descriptor> receive_hello(int socket, Hello& hello) {
  iovec data{&hello, sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* rights = got < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (!rights || rights->cmsg_type != SCM_RIGHTS) return std::nullopt;
  int memfd;
  std::memcpy(&memfd, CMSG_DATA(rights), sizeof memfd);
  Descriptor owned(memfd);
  if (got != sizeof hello || hello.magic != kMagic) return std::nullopt;
  return owned;
}

class SharedMemoryLink final : public Link {
 public:
  explicit SharedMemoryLink(std::string fabric) : fabric_(std::move(fabric)) {
    if (fabric_.size() >= kMaxFabricName)
      throw std::runtime_error("softnic: SOFTNIC_FABRIC is longer than 127 characters");
    listen_at_free_address();
    loopback_memory_ = std::make_unique<Ring::Shared>();
    loopback_.emplace(loopback_memory_.get());
  }

  std::uint32_t address() const override { return address_; }

  Reach begin(std::uint32_t nic, std::uint32_t bytes, std::byte** payload) override {
    current_socket_ = -1;
    current_ = ring_to(nic);
    if (!current_) return Reach::kGone;
    *payload = current_->reserve(bytes);
    return *payload ? Reach::kReady : Reach::kFull;
  }
  void commit(const PacketHeader& header) override {
    current_->publish(header);
    if (current_socket_ < 0) return;
    const Sleep sleep = current_->takes_waking();
    if (sleep == Sleep::kOnSocket)
      ::send(current_socket_, &kWaking, sizeof kWaking, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sleep == Sleep::kOnFutex) ::syscall(SYS_futex, current_->futex(), FUTEX_WAKE, 1);
    has_woken_ |= sleep != Sleep::kAwake;
  }

  bool is_alive(std::uint32_t nic) override { return ring_to(nic) != nullptr; }
  unsigned neighbours() const override { return static_cast<unsigned>(connections_.size()); }

  bool has_woken() const override { return has_woken_; }

  bool fall_asleep(std::chrono::nanoseconds at_most) override {
    has_woken_ = false;
    const bool on_futex = at_most <= kLongestOnFutex && futexes_work_ && !connections_.empty() &&
                          connections_.size() <= FUTEX_WAITV_MAX;
    nap_ = {.how = on_futex ? Sleep::kOnFutex : Sleep::kOnSocket, .at_most = at_most};
    bool may_sleep = true;
    for (auto& connection : connections_) may_sleep &= connection->in.fall_asleep(nap_.how);
    on_futex ? list_futexes() : list_sockets();
    return may_sleep;
  }
  // The sockets carry one byte for each waking; the listening socket and a hang-up wake, too.
  void sleep() override {
    if (nap_.how == Sleep::kOnFutex) {
      futexes_work_ = wait_for_any(words_, nap_.at_most);
      return;
    }
    const timespec time{0, static_cast<long>(nap_.at_most.count())};
    nap_.heard = ::ppoll(heard_.data(), heard_.size(), &time, nullptr);
  }
  void wake_up() override {
    const Nap nap = std::exchange(nap_, {});
    if (nap.how == Sleep::kAwake) return;
    for (auto& connection : connections_) connection->in.wake_up();
    if (nap.heard > 0) attend();
    heard_nothing_ = nap.heard == 0 && strangers_.empty();
  }

  unsigned poll(const Receive& receive, unsigned budget) override {
    unsigned done = drain(*loopback_, receive, budget);
    bool any_broken = false;
    // The answer to a packet may go to a NIC that was not connected yet: so there may be more now.
    for (std::size_t i = 0, known = connections_.size(); i < known; ++i) {
      Ring& in = connections_[i]->in;
      done += drain(in, receive, budget);
      any_broken |= in.is_broken();
    }
    if (any_broken) drop_broken();
    return done;
  }

  void housekeeping() override {
    if (std::exchange(heard_nothing_, false)) return;
    list_sockets();
    if (::poll(heard_.data(), heard_.size(), 0) > 0 || !strangers_.empty()) attend();
  }

  void leave() override {
    by_nic_.clear();
    connections_.clear();
    strangers_.clear();
    listener_ = Descriptor();
  }

 private:
  struct Nap {
    Sleep how = Sleep::kAwake;
    std::chrono::nanoseconds at_most{};
    int heard = -1;  // events of sockets; -1 if nobody listened
  };

  void list_futexes() {
    words_.clear();
    for (auto& connection : connections_)
      words_.push_back({static_cast<std::uint64_t>(Sleep::kOnFutex),
                        reinterpret_cast<std::uintptr_t>(connection->in.futex()), FUTEX_32, 0});
  }

  // Fills heard_: the connections in their order, then the listening socket.
  void list_sockets() {
    heard_.clear();
    for (auto& connection : connections_) heard_.push_back({connection->socket.get(), POLLIN, 0});
    heard_.push_back({listener_.get(), POLLIN, 0});
  }

  // Handles the events in heard_. Connections that were added since are not in it, and follow its
  // own.
  void attend() {
    for (std::size_t i = heard_.size() - 1; i-- > 0;) {
      if (heard_[i].revents == 0 || is_there(heard_[i].fd) || connections_[i]->in.has_record())
        continue;  // what it sent is delivered first
      drop(connections_[i].get());
    }
    if (heard_.back().revents != 0 || !strangers_.empty()) accept_new();
  }

  void listen_at_free_address() {
    for (address_ = 1; address_ <= kMaxNics; ++address_) {
      Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      sockaddr_un name;
      const socklen_t length = name_of_nic(fabric_, address_, name);
      if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), length) != 0) {
        if (errno == EADDRINUSE) continue;
        throw std::runtime_error(std::string("softnic: bind of the link's socket: ") +
                                 std::strerror(errno));
      }
      if (::listen(socket.get(), 1024) != 0)
        throw std::runtime_error(std::string("softnic: listen on the link's socket: ") +
                                 std::strerror(errno));
      listener_ = std::move(socket);
      return;
    }
    throw std::runtime_error(
        "softnic: 4095 NICs of this user and fabric exist already; set SOFTNIC_FABRIC to another "
        "name");
  }

  Ring* ring_to(std::uint32_t nic) {
    if (nic == address_) return &*loopback_;
    if (auto found = by_nic_.find(nic); found != by_nic_.end()) {
      current_socket_ = found->second->socket.get();
      return &found->second->out;
    }
    return connect_to(nic);
  }

  Ring* connect_to(std::uint32_t nic) {
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un name;
    const socklen_t length = name_of_nic(fabric_, nic, name);
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), length) != 0) return nullptr;
    if (!is_same_user(socket.get())) return nullptr;
    Descriptor memory(make_pair_memory());
    Pair* pair = memory.get() < 0 ? nullptr : map_pair(memory.get());
    if (!pair) return nullptr;
    Hello hello;
    hello.address = address_;
    fabric_.copy(hello.fabric, kMaxFabricName - 1);
    Connection* connection = add(std::move(socket), pair, true, nic);
    if (send_hello(connection->socket.get(), hello, memory.get())) return &connection->out;
    drop(connection);
    return nullptr;
  }

  Connection* add(Descriptor socket, Pair* pair, bool connector, std::uint32_t nic) {
    connections_.push_back(std::make_unique<Connection>(std::move(socket), pair, connector, nic));
    Connection* connection = connections_.back().get();
    by_nic_.try_emplace(
        nic, connection);  // the first one carries all that this side sends: this keeps the order
    return connection;
  }

  void accept_new() {
    for (;;) {
      Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.get() < 0) break;
      if (is_same_user(socket.get())) strangers_.push_back(std::move(socket));
    }
    std::erase_if(strangers_, [this](Descriptor& socket) { return greet(socket); });
  }

  // True if `socket` needs no more attention: it became a connection, or is not of this fabric.
  bool greet(Descriptor& socket) {
    pollfd waiting{socket.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) == 0) return false;
    Hello hello;
    std::optional<Descriptor> memory = receive_hello(socket.get(), hello);
    hello.fabric[kMaxFabricName - 1] = 0;
    const bool belongs = memory && fabric_ == hello.fabric && hello.address >= 1 &&
                         hello.address <= kMaxNics && is_pair_memory(memory->get());
    if (Pair* pair = belongs ? map_pair(memory->get()) : nullptr)
      add(std::move(socket), pair, false, hello.address);
    return true;
  }

  // Reads the wake-up bytes of a socket. False if the other side has closed it.
  static bool is_there(int socket) {
    char wakings[16];
    for (;;) {
      const ssize_t got = ::recv(socket, wakings, sizeof wakings, MSG_DONTWAIT);
      if (got > 0) continue;
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }

  void drop(const Connection* connection) {
    const auto found = by_nic_.find(connection->nic);
    if (found != by_nic_.end() && found->second == connection) by_nic_.erase(found);
    std::erase_if(connections_, [&](const auto& c) { return c.get() == connection; });
  }

  void drop_broken() {
    for (std::size_t i = connections_.size(); i-- > 0;) {
      const Connection& connection = *connections_[i];
      if (!connection.in.is_broken()) continue;
      print(
          "softnic: NIC %u has written to its ring what no NIC writes; the connection is closed\n",
          connection.nic);
      drop(&connection);
    }
  }

  static unsigned drain(Ring& ring, const Receive& receive, unsigned budget) {
    unsigned done = 0;
    PacketHeader header;
    for (; done < budget; ++done) {
      const std::byte* payload = ring.peek(header);
      if (!payload) break;
      receive(header, payload);
      ring.pop(header);
    }
    return done;
  }

  std::string fabric_;
  std::uint32_t address_ = 0;
  Descriptor listener_;
  std::unique_ptr<Ring::Shared> loopback_memory_;
  std::optional<Ring> loopback_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::map<std::uint32_t, Connection*> by_nic_;
  std::vector<Descriptor> strangers_;  // accepted, not yet introduced
  Ring* current_ = nullptr;            // of begin(), for commit()
  int current_socket_ = -1;            // of the same neighbour; -1 for the loopback and a new one
  bool has_woken_ = false;
  bool futexes_work_ = true;
  Nap nap_;
  bool heard_nothing_ = false;  // the last sleep was on the sockets, and there was no event
  std::vector<pollfd> heard_;
  std::vector<futex_waitv> words_;
};

}  // namespace

std::unique_ptr<Link> make_shared_memory_link(const std::string& fabric) {
  return std::make_unique<SharedMemoryLink>(fabric);
}

}  // namespace softnic
