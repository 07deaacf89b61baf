// One session of a job at the hub: who has joined, what they published, who waits for what. No
// sockets here: answers go out through `send`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/wire.hpp"

namespace chime::bootstrap {

class HubSession {
 public:
  // Sends `message` to `pe` if it is connected; must not call back.
  using Send = std::function<void(int pe, Bytes message)>;

  HubSession(int n_pes, Send send) : members_(n_pes), send_(std::move(send)) {}

  bool has_seen(int pe) const { return members_[pe].state != State::kAbsent; }
  // All have joined and none is left.
  bool is_over() const;

  void join(int pe, std::string node);
  void leave(int pe);
  void lose(int pe, const std::string& why);
  // Handles a request of `pe`. Throws BootstrapError if it makes no sense.
  void handle(int pe, MessageReader& message);

 private:
  enum class State { kAbsent, kJoined, kLeft, kLost };
  struct Member {
    State state = State::kAbsent;
    std::string why;   // of kLost
    std::string node;  // PEs with equal ones share a kernel and a process-id space
    std::map<std::string, Bytes, std::less<>> published;
  };
  struct Request {
    int from;
    std::uint32_t id;
    Message kind;
    int pe = -1;           // kLookup
    std::string key = {};  // kLookup
  };

  void publish(int pe, std::uint32_t id, MessageReader& message);
  void look_up(int pe, std::uint32_t id, MessageReader& message);
  void enter_barrier(int pe, std::uint32_t id);
  void give_up_barrier(int pe, std::uint32_t id);
  void find_node_peers(int pe, std::uint32_t id);

  void reply(const Request& to, std::span<const std::byte> content = {});
  void fail(const Request& to, std::string_view why);
  // Answers and forgets the waiting requests that `is_meant` accepts.
  template <class Question, class Answer>
  void settle(Question is_meant, Answer answer);
  void tell_what_was_lost_before(int newcomer);
  void tell_lost(int to, int pe);
  void settle_lookups_of(int pe);
  void release_barrier_if_full();
  void answer_node_peers_if_known();

  bool is_gone(int pe) const {
    return members_[pe].state == State::kLeft || members_[pe].state == State::kLost;
  }
  int first_gone() const;
  int first_absent() const;
  std::string describe(int pe) const;
  std::string why_barrier_fails() const;
  std::string explain(int from, std::uint32_t id) const;
  // "PEs 1, 3 and 4" of those for which `is_meant` holds.
  template <class Question>
  std::string list(Question is_meant) const;

  std::vector<Member> members_;
  int gave_up_ = -1;  // the first PE that left before all had joined: this session will never be
  std::string broken_barrier_;  // who gave one up, and whom it waited for: none is full again
  Send send_;
  std::vector<Request> waiting_;
};

}  // namespace chime::bootstrap
