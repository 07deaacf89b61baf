// A job of many PEs that starts over the modelled network: each PE joins the hub, goes through
// init's steps, meets all others in a collective call, and opens paths to the peers that it
// touches.
//
// Real: the hub's session (bootstrap/hub_session), the collective call (host/collective/meeting),
// the messages' bytes (sizes.hpp). Modelled after their code: sockets and handshakes (net/mesh: the
// first sender opens a connection of its own), the order of init's steps (host/setup/device_stage),
// and connections on demand (README.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/hub/hub_session.hpp"
#include "host/collective/meeting.hpp"
#include "network.hpp"
#include "sizes.hpp"

namespace chime::perf {

struct JobOptions {
  int n_pes = 1;
  int node_pes = 8;
  bool is_lazy = true;         // peers are connected when first touched, else all of them at init
  double queue_pair_us = 100;  // until the queue pairs to a peer are connected: four system calls
};

// A phase of the job, for all PEs.
struct Phase {
  double seconds = 0;
  double messages = 0, bytes = 0;  // mean
  std::uint64_t most_messages = 0, most_bytes = 0;
  std::uint32_t steps = 0;  // messages one after the other
  double hub_messages = 0;  // for each PE
};

struct Touches {
  Phase phase;
  std::uint64_t count = 0;
  double mean_us = 0, worst_us = 0;  // from the first touch until the peer can be written to
};

class Job {
 public:
  Job(const JobOptions& options, const NetworkCosts& costs);

  Phase start();
  // All PEs come at the same time.
  Phase collective_call();
  // REQUIRES: lazy. All PEs touch their peers at the same time: `peers_of[pe]`.
  Touches touch(const std::vector<std::vector<int>>& peers_of);
  // One PE touches one peer, and no other PE does anything; microseconds.
  double touch_alone(int pe, int peer);

 private:
  enum class Purpose : std::uint8_t { kHub, kNode, kCalls, kPaths };
  enum class Kind : std::uint8_t {
    kDialed,
    kChallenge,
    kHello,
    kVerdict,
    kToHub,
    kFromHub,
    kNodeEndpointInfo,
    kNodeEndpointInfos,
    kCall,
    kOffer,
    kReceipt
  };
  struct Message {
    Kind kind;
    Purpose purpose;
    int from;
    net::Bytes content = {};
  };
  // Init's steps, in order.
  enum class Step : std::uint8_t {
    kJoin,
    kSettings,
    kNodePeers,
    kTellGpus,
    kHearGpus,
    kNode,
    kShow,
    kSee,
    kTellReceipts,
    kHearReceipts,
    kLeaveFabric,
    kSeeFirstFabric,
    kSideChannels,
    kDone
  };
  struct Pe {
    Step step = Step::kJoin;
    int turn = 0;  // of a step with several turns
    int local_peers = 0;
  };
  struct Outgoing {
    Kind kind;
    std::size_t bytes;
    net::Bytes content;
  };
  // One direction of a mesh.
  struct Link {
    bool is_asked = false, is_open = false, has_endpoint_info = false;
    std::vector<Outgoing> waiting;
  };
  enum class PathState : std::uint8_t { kUnknown, kAsked, kConnecting, kUsable };
  struct PeerPath {
    PathState state = PathState::kUnknown;
    double wanted_us = -1;  // when this PE touched it
  };
  using Links = std::unordered_map<std::uint64_t, Link>;

  void handle(int to, Message message);
  void serve_hub(const Message& message);
  void on_hub_answer(int pe, const net::Bytes& answer);

  void advance(int pe);
  bool take_step(int pe);
  void publish(int pe, const std::string& key, std::size_t bytes);
  void look_up(int pe, int of, const std::string& key, std::uint32_t id = 0);
  bool look_up_each(int pe, int from, int count, const std::string& key);
  void meet_node(int pe);
  void join_node(int local_peer);

  void dial(int from, int to, Purpose purpose);
  void on_open(int pe, int server, Purpose purpose);
  void send(int from, int to, Purpose purpose, Outgoing message);
  void put_on_wire(int from, int to, Purpose purpose, Outgoing message);
  Links& links(Purpose purpose) { return purpose == Purpose::kCalls ? calls_ : path_links_; }

  void send_calls(int pe);
  void want(int pe, int peer);
  void offer(int pe, int peer);
  void accept(int pe, int peer, PeerPath& path);
  void on_offer(int pe, int from);
  void on_receipt(int pe, int from);

  Phase run();
  int hub() const { return options_.n_pes; }
  int node_hub(int pe) const { return pe / options_.node_pes * options_.node_pes; }
  int node_size(int pe) const { return std::min(options_.node_pes, options_.n_pes - node_hub(pe)); }
  static std::uint64_t pair(int from, int to) {
    return static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
  }

  const JobOptions options_;
  const EndpointInfoBytesOf endpoint_infos_ = endpoint_info_bytes();
  HandshakeBytes handshakes_[4];  // [purpose]
  Network<Message> network_;
  bootstrap::HubSession session_;
  std::vector<Pe> pes_;
  std::vector<host::Meeting> meetings_;
  Links calls_, path_links_;
  std::unordered_map<std::uint64_t, PeerPath> paths_;
  Touches touches_;
};

}  // namespace chime::perf
