// How the nodes of a job find out which of their hosts are lost, and tell each other: what one PE
// does, without sockets, clocks and threads (README.md). Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "host/peers/keepalive/roster.hpp"

namespace chime::host {

class KeepaliveTree {
 public:
  using Link = std::uint64_t;
  enum class End {
    kSilent,  // the other host's kernel does not answer any more
    kClosed,  // it does; the connection is over, or nobody of this job listens there
  };

  // The actions that it needs. None of these may call it back before returning.
  class Outside {
   public:
    // Asks the launcher for the record of the node of `pe`: on_found().
    virtual void find(int pe) = 0;
    // Connects to that node, after a pause: on_reached() or on_unreached().
    virtual void reach(const NodeRecord& node, std::chrono::milliseconds pause) = 0;
    virtual void stop_reaching(int node) = 0;
    virtual void send(Link link, const net::Bytes& message) = 0;
    virtual void close(Link link) = 0;
    // Calls settle() in a moment.
    virtual void settle_soon() = 0;
    // The host of `node` is lost, with all PEs there. Once a node.
    virtual void lost(const NodeRecord& node, const std::string& why) = 0;

   protected:
    ~Outside() = default;
  };

  // `silence`: what is said of a lost host, "for 8 s".
  KeepaliveTree(Outside& outside, int n_pes, NodeRecord mine, std::string silence);

  // This PE keeps its node's connections from now on. The others of the node have one, to it.
  void lead();

  void on_found(NodeRecord record);
  void on_reached(int node, Link link);
  void on_unreached(int node, End end);
  // One that somebody else has opened: of this node, or of another.
  void on_link(Link link);
  void on_message(Link link, std::span<const std::byte> message);
  void on_end(Link link, End end);

  // Sees to it that there are connections to the nodes above and below.
  void settle();

  const Roster& roster() const { return roster_; }

 private:
  enum class Kind : std::uint8_t { kHello, kNode, kLost, kLeft };

  int me() const { return mine_.node(); }
  bool has_link_to(int node) const;
  void greet(Link link);
  void hear_hello(Link link, NodeRecord record);
  void learn(NodeRecord record, Link from);
  void note_gone(const NodeRecord& record, Kind how, const std::string& why, Link from);
  void note_silent(int node);
  void drop_links_to(int node);
  void want(int node, std::chrono::milliseconds pause);
  void flood(const net::Bytes& message, Link except);
  net::Bytes notification_of(const NodeRecord& record, Kind how, const std::string& why) const;
  std::string why_silent(const NodeRecord& record) const;

  struct Departure {
    Kind how;
    std::string why;
  };
  static constexpr Link kNoLink = 0;
  static constexpr int kStranger = -1;  // it has not said hello

  Outside& outside_;
  const int n_pes_;
  const NodeRecord mine_;
  const std::string silence_;
  Roster roster_;
  std::map<int, Departure> departures_;  // by node
  std::map<Link, int> links_;            // to which node
  std::set<int> reaching_;
  bool leads_ = false;
};

}  // namespace chime::host
