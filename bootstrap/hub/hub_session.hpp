// One session of a job at the hub: the PEs that have joined, the values that they published, and
// the requests that wait. No sockets here: answers go out through `send`.
//
// The cost of an endpoint info is its size; the cost of a question for a node's PEs is the size of
// the node; neither depends on the size of the job. A loss is reported to all, so it costs a look
// at each member.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/hub/wire.hpp"

namespace chime::bootstrap {

class HubSession {
 public:
  // Sends `message` to `pe` if it is connected; must not call back.
  using Send = std::function<void(int pe, Bytes message)>;

  HubSession(int n_pes, Send send)
      : members_(static_cast<std::size_t>(n_pes)), n_absent_(n_pes), send_(std::move(send)) {}

  bool has_seen(int pe) const { return members_[pe].state != State::kAbsent; }
  // None is left, nor will any join: each has left, or was lost before it came.
  bool is_over() const { return gone_.size() == members_.size(); }

  void join(int pe, std::string node);
  void leave(int pe);
  void lose(int pe, const std::string& why);
  // Handles a request of `pe`. Throws net::Error if it makes no sense.
  void handle(int pe, MessageReader& message);

 private:
  enum class State { kAbsent, kJoined, kLeft, kLost };
  static constexpr int kNoNode = -1;
  struct Request {
    int from;
    std::uint32_t id;
    std::string key = {};  // of a lookup
  };
  using Requests = std::vector<Request>;
  struct Member {
    State state = State::kAbsent;
    std::string why;     // of kLost
    int node = kNoNode;  // PEs with equal ones share a kernel, a process-id space and a network
    std::map<std::string, Bytes, std::less<>> published;
    Requests lookups;  // that wait for this PE to publish
  };

  void publish(int pe, std::uint32_t id, MessageReader& message);
  void look_up(int pe, std::uint32_t id, MessageReader& message);
  void find_node_peers(int pe, std::uint32_t id);

  void reply(const Request& to, std::span<const std::byte> content = {});
  void fail(const Request& to, chimex_status code, std::string_view why);
  void fail_node_peers(chimex_status code, std::string_view why);
  void go(int pe, State how);
  void forget_requests_of(int pe);
  void tell_what_was_lost_before(int newcomer);
  void tell_lost(int to, int pe);
  void settle_lookups_of(int pe);
  void note_whether_waited_for(int pe);
  void answer_node_peers_if_known();
  void answer_node_peers();

  bool is_gone(int pe) const {
    return members_[pe].state == State::kLeft || members_[pe].state == State::kLost;
  }
  std::string describe(int pe) const;
  SetupFailure why_it_gave_up() const;
  std::string why_node_peers_fail() const;
  chimex_status code_of_absence() const;
  std::string explain(int from, std::uint32_t id) const;
  std::string who_has_not_joined() const;

  std::vector<Member> members_;
  int n_absent_;
  std::vector<int> gone_;                           // in the order of leaving or loss
  std::map<std::string, int> nodes_;                // by name
  std::vector<std::vector<std::int32_t>> on_node_;  // its PEs, in the order of joining
  std::set<int> waited_for_;                        // whose lookups are not all answered
  int gave_up_ = -1;  // the first PE that left before all had joined: this session will never be
  Requests for_node_peers_;
  Send send_;
};

}  // namespace chime::bootstrap
