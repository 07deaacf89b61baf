#include "host/transport/p2p/node_exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <span>

#include "host/error.hpp"
#include "host/transport/p2p/node_socket.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kMatesPerPacket = 64;  // 2 descriptors each: below what one packet may carry

[[noreturn]] void fail(chimex_status code, std::string what) {
  throw Error("node exchange", code, std::move(what));
}

std::uint64_t fnv1a(std::uint64_t hash, const void* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  return hash;
}

// The same on every PE of the node and job, and different for different jobs and nodes.
std::string hub_name(const bootstrap::Bootstrap& bootstrap, int hub) {
  std::string job = bootstrap.job_id();
  std::uint64_t hash = fnv1a(0xcbf29ce484222325u, job.data(), job.size());
  return fmt::format("chime-{:016x}-{}", hash, hub);
}

// A card and its descriptors on the wire: the job's secret and the card; the heap's descriptor if
// it has one, then the control page's.
using Hello = std::vector<std::byte>;

template <class T>
void append(Hello& bytes, const T* values, std::size_t count) {
  auto first = reinterpret_cast<const std::byte*>(values);
  bytes.insert(bytes.end(), first, first + count * sizeof(T));
}

bool same_secret(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;  // no early exit: the time must not tell how much was right
  for (std::size_t i = 0; i < a.size(); ++i) difference |= std::to_integer<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

NodeMate take_mate(const std::byte* card_bytes, std::vector<UniqueFd>& fds, std::size_t& next_fd) {
  NodeMate mate;
  std::memcpy(&mate.card, card_bytes, sizeof(NodeCard));
  std::size_t needed = next_fd + (mate.card.heap_has_fd ? 2 : 1);
  if (needed > fds.size())
    fail(CHIMEX_ERR_SYSTEM, fmt::format("descriptors of PE {} are missing", mate.card.pe));
  if (mate.card.heap_has_fd) mate.heap = std::move(fds[next_fd++]);
  mate.control = std::move(fds[next_fd++]);
  return mate;
}

void check_version(const NodeCard& card) {
  if (card.abi_version != kAbiVersion)
    fail(CHIMEX_ERR_MISMATCH,
         fmt::format("PE {} runs another version of Chime (interface {}, this PE {})", card.pe,
                     card.abi_version, kAbiVersion));
}

constexpr std::chrono::milliseconds kDeathCheck{250};

// A wait for other PEs in slices, so that one that dies before it comes is noticed at once.
class PatientWait {
 public:
  PatientWait(const bootstrap::Bootstrap& bootstrap, Deadline deadline)
      : bootstrap_(bootstrap), deadline_(deadline) {}

  Deadline deadline() const { return deadline_; }
  Deadline next_check() const {
    return std::min(deadline_, std::chrono::steady_clock::now() + kDeathCheck);
  }
  bool is_over() const { return std::chrono::steady_clock::now() >= deadline_; }

  // Throws if the launcher knows that some of `pes` are gone; names them all.
  void check(std::span<const int> pes) const {
    std::vector<std::string> gone;
    for (int pe : pes)
      if (std::string why = bootstrap_.why_lost(pe); !why.empty())
        gone.push_back(fmt::format("PE {} is gone: {}", pe, why));
    if (!gone.empty()) fail(CHIMEX_ERR_PEER_DEAD, fmt::format("{}", fmt::join(gone, "; ")));
  }

 private:
  const bootstrap::Bootstrap& bootstrap_;
  Deadline deadline_;
};

// ---- hub ----

// Accepts until every expected PE has shown its card.
class Hub {
 public:
  Hub(const std::string& name, std::vector<int> expected, bootstrap::Bytes secret, PatientWait wait)
      : listener_(name), expected_(std::move(expected)), secret_(std::move(secret)), wait_(wait) {}

  void collect() {
    while (mates_.size() < expected_.size()) {
      auto connection = listener_.accept(wait_.next_check());
      if (connection) {
        admit(std::move(*connection));
        continue;
      }
      wait_.check(absent());
      if (wait_.is_over()) fail(CHIMEX_ERR_TIMEOUT, missing());
    }
  }

  // Sends everyone the set, this PE's own card first.
  void distribute(const NodeCard& mine, int heap_fd, int control_fd) {
    std::vector<const NodeCard*> cards{&mine};
    std::vector<std::pair<int, int>> fds{{heap_fd, control_fd}};
    for (const auto& [pe, mate] : mates_) {
      cards.push_back(&mate.card);
      fds.emplace_back(mate.heap.get(), mate.control.get());
    }
    for (auto& connection : connections_) send_set(connection, cards, fds);
  }

  std::vector<NodeMate> take_mates() {
    std::vector<NodeMate> mates;
    for (auto& [pe, mate] : mates_) mates.push_back(std::move(mate));
    return mates;
  }

 private:
  void admit(NodeConnection connection) {
    NodeConnection::Packet packet = connection.receive(wait_.deadline());
    if (packet.bytes.size() != secret_.size() + sizeof(NodeCard)) return;
    if (!same_secret(std::span(packet.bytes).first(secret_.size()), secret_)) return;
    std::size_t next_fd = 0;
    NodeMate mate = take_mate(packet.bytes.data() + secret_.size(), packet.fds, next_fd);
    check_version(mate.card);
    int pe = mate.card.pe;
    if (std::find(expected_.begin(), expected_.end(), pe) == expected_.end() || mates_.contains(pe))
      fail(CHIMEX_ERR_MISMATCH, fmt::format("two processes say that they are PE {}", pe));
    mates_.emplace(pe, std::move(mate));
    connections_.push_back(std::move(connection));
  }

  std::vector<int> absent() const {
    std::vector<int> absent;
    for (int pe : expected_)
      if (!mates_.contains(pe)) absent.push_back(pe);
    return absent;
  }

  std::string missing() const {
    return fmt::format("PE {} did not come (CHIME_INIT_TIMEOUT bounds the wait)",
                       fmt::join(absent(), ", "));
  }

  void send_set(NodeConnection& connection, const std::vector<const NodeCard*>& cards,
                const std::vector<std::pair<int, int>>& fds) {
    for (std::size_t first = 0; first < cards.size(); first += kMatesPerPacket) {
      std::size_t last = std::min(first + kMatesPerPacket, cards.size());
      Hello bytes;
      std::vector<int> sent_fds;
      for (std::size_t i = first; i < last; ++i) {
        append(bytes, cards[i], 1);
        if (cards[i]->heap_has_fd) sent_fds.push_back(fds[i].first);
        sent_fds.push_back(fds[i].second);
      }
      connection.send(bytes, sent_fds, wait_.deadline());
    }
  }

  NodeListener listener_;
  std::vector<int> expected_;
  bootstrap::Bytes secret_;
  PatientWait wait_;
  std::map<int, NodeMate> mates_;
  std::vector<NodeConnection> connections_;
};

// ---- everyone else ----

NodeConnection show_card(const std::string& name, int hub, const bootstrap::Bytes& secret,
                         const NodeCard& mine, int heap_fd, int control_fd,
                         const PatientWait& wait) {
  std::optional<NodeConnection> connection;
  while (!(connection = connect_to_listener(name, wait.next_check()))) {
    wait.check({&hub, 1});
    if (wait.is_over())
      fail(CHIMEX_ERR_TIMEOUT,
           fmt::format("PE {} did not come (CHIME_INIT_TIMEOUT bounds the wait)", hub));
  }
  Hello hello;
  append(hello, secret.data(), secret.size());
  append(hello, &mine, 1);
  std::vector<int> fds;
  if (mine.heap_has_fd) fds.push_back(heap_fd);
  fds.push_back(control_fd);
  connection->send(hello, fds, wait.deadline());
  return std::move(*connection);
}

std::vector<NodeMate> receive_set(NodeConnection& connection, int me,
                                  const std::vector<int>& members, const PatientWait& wait) {
  std::vector<NodeMate> mates;
  for (std::size_t received = 0; received < members.size();) {
    NodeConnection::Packet packet = connection.receive(wait.deadline());
    if (packet.bytes.empty()) {
      wait.check(members);
      fail(CHIMEX_ERR_PEER_DEAD,
           fmt::format("PE {} gave up while the node's PEs met; its own message says why",
                       members.front()));
    }
    std::size_t next_fd = 0;
    for (std::size_t at = 0; at + sizeof(NodeCard) <= packet.bytes.size(); at += sizeof(NodeCard)) {
      NodeMate mate = take_mate(packet.bytes.data() + at, packet.fds, next_fd);
      check_version(mate.card);
      ++received;
      if (mate.card.pe != me) mates.push_back(std::move(mate));
    }
  }
  return mates;
}

}  // namespace

std::vector<NodeMate> exchange_with_node(const bootstrap::Bootstrap& bootstrap,
                                         const NodeCard& mine, int heap_fd, int control_fd,
                                         bootstrap::Deadline deadline) {
  std::vector<int> members = bootstrap.node_peers();
  if (members.size() <= 1) return {};
  const PatientWait wait(bootstrap, deadline);
  int hub = members.front();
  std::string name = hub_name(bootstrap, hub);
  if (mine.pe == hub) {
    Hub all(name, {members.begin() + 1, members.end()}, bootstrap.job_secret(), wait);
    all.collect();
    all.distribute(mine, heap_fd, control_fd);
    return all.take_mates();
  }
  NodeConnection connection =
      show_card(name, hub, bootstrap.job_secret(), mine, heap_fd, control_fd, wait);
  return receive_set(connection, mine.pe, members, wait);
}

}  // namespace chime::host
