#include "bootstrap/hub_session.hpp"

#include <algorithm>

namespace chime::bootstrap {
namespace {

constexpr std::size_t kMaxListed = 16;

}  // namespace

bool HubSession::is_over() const {
  return std::all_of(members_.begin(), members_.end(), [](const Member& m) {
    return m.state == State::kLeft || m.state == State::kLost;
  });
}

void HubSession::join(int pe, std::string node) {
  members_[pe].state = State::kJoined;
  members_[pe].node = std::move(node);
  tell_what_was_lost_before(pe);
  answer_node_peers_if_known();
}

void HubSession::tell_what_was_lost_before(int newcomer) {
  for (int pe = 0; pe < static_cast<int>(members_.size()); pe++)
    if (pe != newcomer && members_[pe].state == State::kLost) tell_lost(newcomer, pe);
}

void HubSession::tell_lost(int to, int pe) {
  send_(to, MessageWriter(Message::kLost).put<std::int32_t>(pe).text(members_[pe].why).take());
}

void HubSession::leave(int pe) {
  if (is_gone(pe)) return;
  members_[pe].state = State::kLeft;
  if (gave_up_ < 0 && first_absent() >= 0) gave_up_ = pe;
  std::erase_if(waiting_, [&](const Request& r) { return r.from == pe; });
  settle_lookups_of(pe);
  release_barrier_if_full();
  answer_node_peers_if_known();
}

void HubSession::lose(int pe, const std::string& why) {
  if (is_gone(pe)) return;
  members_[pe].state = State::kLost;
  members_[pe].why = why;
  std::erase_if(waiting_, [&](const Request& r) { return r.from == pe; });
  // Before the answers that fail because of it: who gets one knows that a PE is lost.
  for (int other = 0; other < static_cast<int>(members_.size()); other++)
    if (other != pe) tell_lost(other, pe);
  settle_lookups_of(pe);
  release_barrier_if_full();
  answer_node_peers_if_known();
}

void HubSession::handle(int pe, MessageReader& message) {
  const auto id = message.get<std::uint32_t>();
  switch (message.type()) {
    case Message::kPublish:
      return publish(pe, id, message);
    case Message::kLookup:
      return look_up(pe, id, message);
    case Message::kBarrier:
      return enter_barrier(pe, id);
    case Message::kGiveUp:
      return give_up_barrier(pe, id);
    case Message::kNodePeers:
      return find_node_peers(pe, id);
    case Message::kExplain: {
      auto words = explain(pe, message.get<std::uint32_t>());
      return reply({pe, id, Message::kExplain}, std::as_bytes(std::span(words)));
    }
    default:
      throw BootstrapError("a message that only the hub may send");
  }
}

void HubSession::publish(int pe, std::uint32_t id, MessageReader& message) {
  auto key = message.text();
  auto value = message.bytes();
  members_[pe].published.insert_or_assign(std::move(key), Bytes(value.begin(), value.end()));
  reply({pe, id, Message::kPublish});
  settle_lookups_of(pe);
}

void HubSession::look_up(int pe, std::uint32_t id, MessageReader& message) {
  const auto owner = message.get<std::int32_t>();
  if (owner < 0 || owner >= static_cast<int>(members_.size()))
    throw BootstrapError("a lookup of no PE");
  Request request{pe, id, Message::kLookup, owner, message.text()};
  const bool may_wait = message.get<std::uint8_t>() != 0;
  waiting_.push_back(request);
  settle_lookups_of(owner);
  if (may_wait) return;
  settle([&](const Request& r) { return r.from == pe && r.id == id; },
         [&](const Request& r) { fail(r, "is not there"); });
}

void HubSession::enter_barrier(int pe, std::uint32_t id) {
  waiting_.push_back({pe, id, Message::kBarrier});
  release_barrier_if_full();
}

// If it is answered already, all have entered, and the answer is on its way.
void HubSession::give_up_barrier(int pe, std::uint32_t id) {
  const auto is_it = [&](const Request& r) {
    return r.kind == Message::kBarrier && r.from == pe && r.id == id;
  };
  if (std::none_of(waiting_.begin(), waiting_.end(), is_it)) return;
  const auto who_is_missing = explain(pe, id);
  broken_barrier_ = "PE " + std::to_string(pe) + " gave up a barrier that " + who_is_missing;
  settle(is_it, [&](const Request& r) { fail(r, who_is_missing); });
  release_barrier_if_full();
}

void HubSession::find_node_peers(int pe, std::uint32_t id) {
  waiting_.push_back({pe, id, Message::kNodePeers});
  answer_node_peers_if_known();
}

void HubSession::reply(const Request& to, std::span<const std::byte> content) {
  send_(to.from, MessageWriter(Message::kReply).put(to.id).bytes(content).take());
}

void HubSession::fail(const Request& to, std::string_view why) {
  send_(to.from, MessageWriter(Message::kFailed).put(to.id).text(why).take());
}

template <class Question, class Answer>
void HubSession::settle(Question is_meant, Answer answer) {
  auto keep = std::stable_partition(waiting_.begin(), waiting_.end(),
                                    [&](const Request& r) { return !is_meant(r); });
  std::for_each(keep, waiting_.end(), answer);
  waiting_.erase(keep, waiting_.end());
}

void HubSession::settle_lookups_of(int pe) {
  const Member& owner = members_[pe];
  settle(
      [&](const Request& r) {
        return r.kind == Message::kLookup && r.pe == pe &&
               (is_gone(pe) || owner.published.contains(r.key));
      },
      [&](const Request& r) {
        auto found = owner.published.find(r.key);
        found != owner.published.end() ? reply(r, found->second) : fail(r, describe(pe));
      });
}

void HubSession::release_barrier_if_full() {
  auto is_barrier = [](const Request& r) { return r.kind == Message::kBarrier; };
  const auto entered = std::count_if(waiting_.begin(), waiting_.end(), is_barrier);
  const bool is_full = entered == static_cast<std::ptrdiff_t>(members_.size());
  if (is_full && broken_barrier_.empty())
    settle(is_barrier, [&](const Request& r) { reply(r); });
  else if (const auto why = why_barrier_fails(); !why.empty())
    settle(is_barrier, [&](const Request& r) { fail(r, why); });
}

// Empty if it may still become full.
std::string HubSession::why_barrier_fails() const {
  if (!broken_barrier_.empty()) return broken_barrier_;
  return first_gone() >= 0 ? describe(first_gone()) : "";
}

void HubSession::answer_node_peers_if_known() {
  if (gave_up_ >= 0)
    return settle([](const Request& r) { return r.kind == Message::kNodePeers; },
                  [&](const Request& r) {
                    fail(r, "PE " + std::to_string(gave_up_) +
                                " gave up before all PEs had joined; initialise again");
                  });
  for (std::size_t pe = 0; pe < members_.size(); pe++) {
    if (members_[pe].state == State::kAbsent) return;
    if (members_[pe].node.empty()) {  // lost before it joined: nobody will ever know its node
      return settle([](const Request& r) { return r.kind == Message::kNodePeers; },
                    [&](const Request& r) { fail(r, describe(static_cast<int>(pe))); });
    }
  }
  settle([](const Request& r) { return r.kind == Message::kNodePeers; },
         [&](const Request& r) {
           std::vector<std::int32_t> peers;
           for (std::size_t pe = 0; pe < members_.size(); pe++)
             if (members_[pe].node == members_[r.from].node)
               peers.push_back(static_cast<std::int32_t>(pe));
           reply(r, std::as_bytes(std::span(peers)));
         });
}

int HubSession::first_absent() const {
  for (std::size_t pe = 0; pe < members_.size(); pe++)
    if (members_[pe].state == State::kAbsent) return static_cast<int>(pe);
  return -1;
}

int HubSession::first_gone() const {
  for (std::size_t pe = 0; pe < members_.size(); pe++)
    if (is_gone(static_cast<int>(pe))) return static_cast<int>(pe);
  return -1;
}

std::string HubSession::describe(int pe) const {
  const auto name = "PE " + std::to_string(pe);
  switch (members_[pe].state) {
    case State::kAbsent:
      return name + " has not joined the job";
    case State::kJoined:
      return name + " is in the job";
    case State::kLeft:
      return name + " has left the job (finalized)";
    case State::kLost:
      return name + " is gone: " + members_[pe].why;
  }
  return name;
}

std::string HubSession::explain(int from, std::uint32_t id) const {
  for (const Request& r : waiting_) {
    if (r.from != from || r.id != id) continue;
    if (r.kind == Message::kLookup)
      return describe(r.pe) + (has_seen(r.pe) ? ", but has not published it" : "");
    if (r.kind == Message::kNodePeers)
      return list([&](int pe) { return members_[pe].state == State::kAbsent; }) +
             " not joined the job";
    return list([&](int pe) {
             return std::none_of(waiting_.begin(), waiting_.end(), [&](const Request& other) {
               return other.from == pe && other.kind == Message::kBarrier;
             });
           }) +
           " not entered";
  }
  return "the answer was on its way";
}

template <class Question>
std::string HubSession::list(Question is_meant) const {
  std::vector<int> meant;
  for (int pe = 0; pe < static_cast<int>(members_.size()); pe++)
    if (is_meant(pe)) meant.push_back(pe);
  std::string text = meant.size() == 1 ? "PE " : "PEs ";
  for (std::size_t i = 0; i < meant.size(); i++) {
    if (i == kMaxListed) return text + " and " + std::to_string(meant.size() - i) + " more have";
    text += (i ? ", " : "") + std::to_string(meant[i]);
  }
  return text + (meant.size() == 1 ? " has" : " have");
}

}  // namespace chime::bootstrap
