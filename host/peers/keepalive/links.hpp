// The connections of a KeepaliveTree, and the thread that serves them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host/peers/keepalive/seat.hpp"
#include "host/peers/keepalive/tree.hpp"
#include "net/mesh/gate.hpp"
#include "net/mesh/reach.hpp"

namespace chime::host {

class KeepaliveLinks final : private KeepaliveTree::Outside, private net::ConnectionOwner {
 public:
  struct Options {
    net::Bytes secret;  // the job's
    std::string job;
    int pe;
    int n_pes;
    std::vector<int> node_pes;            // ascending
    std::vector<net::Address> addresses;  // by which other hosts reach this one
    std::chrono::milliseconds silence;    // of a host, after which it is lost
    std::function<void(std::string)> log;
  };
  struct Events {
    // Both are called from the thread of the connections, and must not wait for others.
    std::function<void(int pe)> find;  // see to it that found() is called
    std::function<void(const NodeRecord& node, const std::string& why)> lost;
    // The thread has ended by an error.
    std::function<void(const std::string& why)> failed;
  };

  KeepaliveLinks(Options options, Events events);
  ~KeepaliveLinks();

  void start();
  // None of Events is called after it.
  void stop();

  // The record of this PE's node, once another PE of it could lead in this one's place. Throws
  // net::Error if that is not so at `deadline`.
  NodeRecord wait_until_ready(net::Deadline deadline);

  // The record of a node that was to be found. From any thread.
  void found(const net::Bytes& record);

 private:
  struct Reaching {
    std::optional<net::Reactor::TimerId> timer{};
    std::unique_ptr<net::Reach> reach{};
  };

  void serve();
  int node() const { return options_.node_pes.front(); }
  int index_in_node(int pe) const;
  bool is_local_peer(int pe) const { return index_in_node(pe) >= 0; }
  net::Credentials credentials() const { return {options_.secret, options_.job, "keepalive"}; }

  void lead(net::Descriptor listener);
  void follow(std::shared_ptr<net::Connection> leader);
  void listen_to_other_nodes();
  void begin_tree(NodeRecord record);
  void admit(std::shared_ptr<net::Connection> guest);
  void inherit(net::Connection& leader, const net::Bytes& message);
  KeepaliveTree::Link keep(std::shared_ptr<net::Connection> connection);
  void begin_to_reach(const NodeRecord& record);
  std::vector<net::Address> addresses_of(const NodeRecord& record) const;

  void find(int pe) override { events_.find(pe); }
  void reach(const NodeRecord& node, std::chrono::milliseconds pause) override;
  void stop_reaching(int node) override;
  void send(KeepaliveTree::Link link, const net::Bytes& message) override;
  void close(KeepaliveTree::Link link) override;
  void settle_soon() override;
  void lost(const NodeRecord& node, const std::string& why) override { events_.lost(node, why); }

  void on_frame(net::Connection& connection, net::Bytes frame) override;
  void on_end(net::Connection& connection, const net::Error& why) override;

  const Options options_;
  const Events events_;

  // The thread's own.
  net::Reactor reactor_;
  bool must_stop_ = false;
  std::optional<KeepaliveTree> tree_;       // once the node's record is there
  std::vector<net::Descriptor> inherited_;  // listeners for other nodes, until this PE leads
  std::vector<int> listeners_;              // the same, once it does: the gate has them
  std::unique_ptr<net::Gate> gate_;         // of the leader
  std::map<KeepaliveTree::Link, std::shared_ptr<net::Connection>> links_;
  KeepaliveTree::Link next_link_ = 1;
  KeepaliveTree::Link leader_ = 0;  // the link to it
  bool leader_is_heard_ = false;
  int leader_index_ = 0;  // among the node's PEs
  std::map<int, Reaching> reaching_;
  bool will_settle_ = false;
  LeaderSeat seat_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::optional<NodeRecord> ready_;
  std::optional<net::Error> failure_;

  std::thread thread_;  // last
};

}  // namespace chime::host
