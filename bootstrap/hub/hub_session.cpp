#include "bootstrap/hub/hub_session.hpp"

#include <algorithm>
#include <utility>

namespace chime::bootstrap {
namespace {

constexpr std::size_t kMaxListed = 16;

// "PEs 1, 3 and 4 have", of those that `is_meant` marks.
std::string list(const std::vector<bool>& is_meant) {
  std::vector<std::size_t> meant;
  for (std::size_t pe = 0; pe < is_meant.size(); pe++)
    if (is_meant[pe]) meant.push_back(pe);
  std::string text = meant.size() == 1 ? "PE " : "PEs ";
  for (std::size_t i = 0; i < meant.size(); i++) {
    if (i == kMaxListed) return text + " and " + std::to_string(meant.size() - i) + " more have";
    text += (i ? ", " : "") + std::to_string(meant[i]);
  }
  return text + (meant.size() == 1 ? " has" : " have");
}

}  // namespace

void HubSession::join(int pe, std::string node) {
  Member& member = members_[pe];
  if (member.state == State::kAbsent) n_absent_--;
  member.state = State::kJoined;
  member.node = nodes_.try_emplace(std::move(node), static_cast<int>(nodes_.size())).first->second;
  on_node_.resize(nodes_.size());
  on_node_[static_cast<std::size_t>(member.node)].push_back(pe);
  tell_what_was_lost_before(pe);
  answer_node_peers_if_known();
}

void HubSession::tell_what_was_lost_before(int newcomer) {
  for (const int pe : gone_)
    if (members_[pe].state == State::kLost) tell_lost(newcomer, pe);
}

void HubSession::tell_lost(int to, int pe) {
  send_(to, MessageWriter(Message::kLost).put<std::int32_t>(pe).text(members_[pe].why).take());
}

void HubSession::leave(int pe) {
  if (is_gone(pe)) return;
  go(pe, State::kLeft);
  if (gave_up_ < 0 && n_absent_ > 0) gave_up_ = pe;
  settle_lookups_of(pe);
  answer_node_peers_if_known();
}

void HubSession::lose(int pe, const std::string& why) {
  if (is_gone(pe)) return;
  members_[pe].why = why;
  go(pe, State::kLost);
  // Sent before the answers that fail because of it: a PE that gets such an answer knows which PE
  // is lost.
  for (int other = 0; other < static_cast<int>(members_.size()); other++)
    if (other != pe) tell_lost(other, pe);
  settle_lookups_of(pe);
  answer_node_peers_if_known();
}

void HubSession::go(int pe, State how) {
  if (members_[pe].state == State::kAbsent) n_absent_--;
  members_[pe].state = how;
  gone_.push_back(pe);
  forget_requests_of(pe);
}

void HubSession::forget_requests_of(int pe) {
  const auto is_its = [pe](const Request& r) { return r.from == pe; };
  std::erase_if(for_node_peers_, is_its);
  for (const int owner : std::set(waited_for_)) {
    std::erase_if(members_[owner].lookups, is_its);
    note_whether_waited_for(owner);
  }
}

void HubSession::handle(int pe, MessageReader& message) {
  const auto id = message.get<std::uint32_t>();
  switch (message.type()) {
    case Message::kPublish:
      return publish(pe, id, message);
    case Message::kLookup:
      return look_up(pe, id, message);
    case Message::kNodePeers:
      return find_node_peers(pe, id);
    case Message::kExplain:
      return reply({pe, id}, net::bytes_of(explain(pe, message.get<std::uint32_t>())));
    default:
      throw_nonsense("a message that only the hub may send");
  }
}

void HubSession::publish(int pe, std::uint32_t id, MessageReader& message) {
  auto key = message.text();
  auto value = message.bytes();
  members_[pe].published.insert_or_assign(std::move(key), Bytes(value.begin(), value.end()));
  reply({pe, id});
  settle_lookups_of(pe);
}

void HubSession::look_up(int pe, std::uint32_t id, MessageReader& message) {
  const auto owner = message.get<std::int32_t>();
  if (owner < 0 || owner >= static_cast<int>(members_.size())) throw_nonsense("a lookup of no PE");
  const Request request{pe, id, message.text()};
  const bool may_wait = message.get<std::uint8_t>() != 0;
  Member& member = members_[owner];
  const auto found = member.published.find(request.key);
  if (found != member.published.end()) return reply(request, found->second);
  if (is_gone(owner)) return fail(request, CHIMEX_ERR_PEER_DEAD, describe(owner));
  if (!may_wait) return fail(request, CHIMEX_ERR_TIMEOUT, "is not there");
  member.lookups.push_back(request);
  waited_for_.insert(owner);
}

void HubSession::find_node_peers(int pe, std::uint32_t id) {
  for_node_peers_.push_back({pe, id});
  answer_node_peers_if_known();
}

void HubSession::reply(const Request& to, std::span<const std::byte> content) {
  send_(to.from, MessageWriter(Message::kReply).put(to.id).bytes(content).take());
}

void HubSession::fail(const Request& to, chimex_status code, std::string_view why) {
  send_(to.from,
        MessageWriter(Message::kFailed).put(to.id).put<std::int32_t>(code).text(why).take());
}

void HubSession::note_whether_waited_for(int pe) {
  if (members_[pe].lookups.empty())
    waited_for_.erase(pe);
  else
    waited_for_.insert(pe);
}

void HubSession::settle_lookups_of(int pe) {
  Member& owner = members_[pe];
  if (owner.lookups.empty()) return;
  if (is_gone(pe)) {
    waited_for_.erase(pe);
    for (const Request& r : std::exchange(owner.lookups, {})) {
      const auto found = owner.published.find(r.key);
      found != owner.published.end() ? reply(r, found->second)
                                     : fail(r, CHIMEX_ERR_PEER_DEAD, describe(pe));
    }
    return;
  }
  std::erase_if(owner.lookups, [&](const Request& r) {
    const auto found = owner.published.find(r.key);
    if (found == owner.published.end()) return false;
    reply(r, found->second);
    return true;
  });
  note_whether_waited_for(pe);
}

void HubSession::answer_node_peers_if_known() {
  if (for_node_peers_.empty()) return;
  if (gave_up_ >= 0) {
    const SetupFailure failure = why_it_gave_up();
    return fail_node_peers(failure.code, failure.why);
  }
  if (n_absent_ > 0) return;
  if (const auto why = why_node_peers_fail(); !why.empty())
    return fail_node_peers(code_of_absence(), why);
  answer_node_peers();
}

// What it has published, for it cannot be asked any more.
SetupFailure HubSession::why_it_gave_up() const {
  const auto& published = members_[gave_up_].published;
  const auto found = published.find(kSetupFailureKey);
  const auto failure = found == published.end() ? std::nullopt : read_setup_failure(found->second);
  return failure.value_or(SetupFailure{
      code_of_absence(),
      "PE " + std::to_string(gave_up_) + " gave up before all PEs had joined; initialise again"});
}

chimex_status HubSession::code_of_absence() const {
  const bool is_one_lost = std::any_of(
      gone_.begin(), gone_.end(), [this](int pe) { return members_[pe].state == State::kLost; });
  return is_one_lost ? CHIMEX_ERR_PEER_DEAD : CHIMEX_ERR_SYSTEM;
}

void HubSession::fail_node_peers(chimex_status code, std::string_view why) {
  for (const Request& request : std::exchange(for_node_peers_, {})) fail(request, code, why);
}

// The node of a PE that was lost before it joined never becomes known.
std::string HubSession::why_node_peers_fail() const {
  for (const int pe : gone_)
    if (members_[pe].node == kNoNode) return describe(pe);
  return "";
}

// Ascending. All have joined, so it is sorted once.
void HubSession::answer_node_peers() {
  for (const Request& r : std::exchange(for_node_peers_, {})) {
    auto& peers = on_node_[static_cast<std::size_t>(members_[r.from].node)];
    if (!std::is_sorted(peers.begin(), peers.end())) std::sort(peers.begin(), peers.end());
    reply(r, std::as_bytes(std::span(peers)));
  }
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
  const auto is_among = [&](const Requests& requests) {
    return std::any_of(requests.begin(), requests.end(),
                       [&](const Request& r) { return r.from == from && r.id == id; });
  };
  if (is_among(for_node_peers_)) return who_has_not_joined();
  for (int pe = 0; pe < static_cast<int>(members_.size()); pe++)
    if (is_among(members_[pe].lookups))
      return describe(pe) + (has_seen(pe) ? ", but has not published it" : "");
  return "the answer was in transit";
}

std::string HubSession::who_has_not_joined() const {
  std::vector<bool> is_absent;
  for (const Member& member : members_) is_absent.push_back(member.state == State::kAbsent);
  return list(is_absent) + " not joined the job";
}

}  // namespace chime::bootstrap
