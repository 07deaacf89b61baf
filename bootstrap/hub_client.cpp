#include "bootstrap/hub_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "bootstrap/last_words.hpp"
#include "bootstrap/place.hpp"
#include "chime/abi/start_thread.h"
#include "net/fields.hpp"

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kExplainTimeout{1000};
constexpr std::chrono::seconds kFlushTimeout{1};    // for last words
constexpr std::chrono::seconds kGiveUpTimeout{10};  // for the hub's word on a barrier given up
constexpr int kExitWithHub = 1;

std::string milliseconds_since(Clock::time_point begin) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

std::string words(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

HubClient::HubClient(Options options, Deadline deadline) : options_(std::move(options)) {
  join(deadline);
  thread_ = abi::start_thread([this] { serve(); });
}

HubClient::~HubClient() {
  {
    std::lock_guard lock(mutex_);
    is_leaving_ = true;
  }
  try {
    send(MessageWriter(Message::kGoodbye).take());
    flush();
  } catch (const BootstrapError&) {
    // The hub is gone: nobody is left to greet.
  }
  reactor_.post([this] { must_stop_ = true; });
  thread_.join();
  connection_->close();
}

// On the caller's thread; from then on the reactor belongs to its own.
void HubClient::join(Deadline deadline) {
  std::optional<net::Error> failure;
  const net::Dial dial(
      reactor_,
      {.addresses = options_.hub,
       .credentials = hub_credentials(options_.token),
       .roles = {.client_pe = options_.pe},
       .introduction =
           net::Writer().put<std::int32_t>(options_.n_pes).text(name_of_this_node()).take(),
       .limits = kHubLimits,
       .waits = options_.waits_for_hub},
      deadline,
      [this](std::shared_ptr<net::Connection> connection) {
        connection_ = std::move(connection);
        connection_->belong_to(*this);
      },
      [&](const net::Error& why) { failure = why; });
  reactor_.run_until([&] { return connection_ || failure; }, Deadline::max());
  if (failure) throw *failure;
}

void HubClient::serve() {
  while (!must_stop_) reactor_.run_once();
}

std::vector<int> HubClient::node_peers() const {
  auto reply = request(
      Message::kNodePeers, [](MessageWriter&) {}, Clock::now() + options_.timeout,
      "which PEs share this node");
  std::vector<std::int32_t> peers(reply.size() / sizeof(std::int32_t));
  std::memcpy(peers.data(), reply.data(), peers.size() * sizeof peers[0]);
  return {peers.begin(), peers.end()};
}

void HubClient::publish(std::string_view key, std::span<const std::byte> value) {
  const auto what = "publishing '" + std::string(key) + "'";
  if (value.size() > kMaxValueBytes)
    throw BootstrapError(what + ": " + std::to_string(value.size()) + " bytes, at most " +
                             std::to_string(kMaxValueBytes) + " are allowed",
                         CHIMEX_ERR_INVALID);
  request(
      Message::kPublish, [&](MessageWriter& m) { m.text(key).bytes(value); },
      Clock::now() + options_.timeout, what);
}

Bytes HubClient::lookup(int pe, std::string_view key, Deadline deadline) {
  const auto what = "'" + std::string(key) + "' of PE " + std::to_string(pe);
  if (pe < 0 || pe >= size())
    throw BootstrapError(what + ": the job has PEs 0 to " + std::to_string(size() - 1),
                         CHIMEX_ERR_INVALID);
  const bool may_wait = deadline > Clock::now();
  // Without waiting means without waiting for the PE; the hub still needs its moment to answer.
  const auto answer_by = may_wait ? deadline : Clock::now() + kExplainTimeout;
  return request(
      Message::kLookup,
      [&](MessageWriter& m) { m.put<std::int32_t>(pe).text(key).put<std::uint8_t>(may_wait); },
      answer_by, what);
}

void HubClient::barrier(Deadline deadline) {
  {
    std::lock_guard lock(mutex_);
    if (is_barrier_broken_)
      throw BootstrapError("barrier: an earlier barrier of this PE has failed");
  }
  try {
    enter_barrier(deadline);
  } catch (const BootstrapError&) {
    std::lock_guard lock(mutex_);
    is_barrier_broken_ = true;
    throw;
  }
}

// At the deadline the hub decides: it may have let all go while this PE's word was on its way.
void HubClient::enter_barrier(Deadline deadline) const {
  const auto begin = Clock::now();
  const auto id = post(
      Message::kBarrier, [](MessageWriter&) {}, "barrier");
  auto answer = look_for(id, deadline);
  if (answer.outcome == Outcome::kNone) {
    const auto waited = "barrier: waited " + milliseconds_since(begin) + " ms; ";
    send(MessageWriter(Message::kGiveUp).put(id).take());
    answer = wait_for(id, Clock::now() + kGiveUpTimeout);
    if (answer.outcome == Outcome::kNone)
      throw BootstrapError(waited + options_.hub_name + " does not answer", CHIMEX_ERR_TIMEOUT);
    if (answer.outcome == Outcome::kFailed)
      throw BootstrapError(waited + words(answer.content), CHIMEX_ERR_TIMEOUT);
  }
  content_of(std::move(answer), "barrier");
}

void HubClient::abort(int code, std::string_view why) noexcept {
  try {
    send(MessageWriter(Message::kAbort).put<std::int32_t>(code).text(why).take());
    flush();
  } catch (const std::exception&) {
    // The hub is gone, and whoever depends on it ends by itself.
  }
}

std::string HubClient::describe() const {
  return options_.means + ", PE " + std::to_string(rank()) + " of " + std::to_string(size());
}

template <class Write>
Bytes HubClient::request(Message type, Write write, Deadline deadline,
                         const std::string& what) const {
  const auto begin = Clock::now();
  const auto id = post(type, write, what);
  auto answer = wait_for(id, deadline);
  if (answer.outcome == Outcome::kNone)
    throw BootstrapError(what + ": waited " + milliseconds_since(begin) + " ms; " + ask_why(id),
                         CHIMEX_ERR_TIMEOUT);
  return content_of(std::move(answer), what);
}

// Sends a request. The id by which its answer is found.
template <class Write>
std::uint32_t HubClient::post(Message type, Write write, const std::string& what) const {
  const auto id = open_request();
  MessageWriter message(type);
  message.put(id);
  write(message);
  try {
    send(message.take());
  } catch (const BootstrapError& e) {
    throw BootstrapError(what + ": " + e.what());
  }
  return id;
}

Bytes HubClient::content_of(Answer answer, const std::string& what) const {
  // The hub tells of a loss before it fails what waited for it.
  if (answer.outcome == Outcome::kFailed)
    throw BootstrapError(what + ": " + words(answer.content),
                         lost_peers_.is_empty() ? CHIMEX_ERR_SYSTEM : CHIMEX_ERR_PEER_DEAD);
  return answer.content;
}

std::uint32_t HubClient::open_request() const {
  std::lock_guard lock(mutex_);
  requests_[next_id_];
  return next_id_++;
}

// kNone at the deadline. The request is forgotten: an answer that comes later has no one to hear
// it.
HubClient::Answer HubClient::wait_for(std::uint32_t id, Deadline deadline) const {
  auto answer = look_for(id, deadline);
  std::lock_guard lock(mutex_);
  requests_.erase(id);
  return answer;
}

// The same, and the request stays if there is no answer.
HubClient::Answer HubClient::look_for(std::uint32_t id, Deadline deadline) const {
  std::unique_lock lock(mutex_);
  answered_.wait_until(lock, deadline,
                       [&] { return requests_[id].outcome != Outcome::kNone || is_hub_gone_; });
  auto answer = requests_[id];
  if (answer.outcome != Outcome::kNone) requests_.erase(id);
  if (answer.outcome == Outcome::kNone && is_hub_gone_) {
    const auto why = options_.hub_name + " is gone";
    const auto content = std::as_bytes(std::span(why));
    return {Outcome::kFailed, Bytes(content.begin(), content.end())};
  }
  return answer;
}

std::string HubClient::ask_why(std::uint32_t id) const {
  try {
    const auto question = open_request();
    send(MessageWriter(Message::kExplain).put(question).put(id).take());
    auto answer = wait_for(question, Clock::now() + kExplainTimeout);
    if (answer.outcome == Outcome::kReply) return words(answer.content);
  } catch (const BootstrapError&) {
    // Falls through: the same news.
  }
  return options_.hub_name + " does not answer";
}

// Whole or not at all, and without waiting for a hub that is late: what it has not read waits here.
void HubClient::send(const Bytes& message) const {
  try {
    connection_->send(message);
  } catch (const net::Error&) {
    throw BootstrapError(options_.hub_name + " is gone");
  }
}

// For last words: this process may end at once.
void HubClient::flush() const {
  const auto end = Clock::now() + kFlushTimeout;
  std::unique_lock lock(mutex_);
  answered_.wait_until(lock, end, [this] { return is_hub_gone_ || !connection_->has_unsent(); });
}

void HubClient::on_drained(net::Connection&) {
  std::lock_guard lock(mutex_);
  answered_.notify_all();
}

void HubClient::on_frame(net::Connection&, Bytes frame) {
  MessageReader message(frame);
  hear(message);
}

void HubClient::hear(MessageReader& message) {
  switch (message.type()) {
    case Message::kReply:
    case Message::kFailed:
      return note_answer(message);
    case Message::kLost: {
      const auto pe = message.get<std::int32_t>();
      return lost_peers_.add(pe, message.text());
    }
    case Message::kAborted: {
      const auto pe = message.get<std::int32_t>();
      const auto code = message.get<std::int32_t>();
      return note_aborted(pe, code, message.text());
    }
    case Message::kAskActivity:
      return tell_activity();
    default:
      throw_nonsense("a message that only a PE may send");
  }
}

void HubClient::note_answer(MessageReader& message) {
  const auto id = message.get<std::uint32_t>();
  const auto content = message.bytes();
  std::lock_guard lock(mutex_);
  const auto waiting = requests_.find(id);
  if (waiting == requests_.end()) return;
  waiting->second = Answer{message.type() == Message::kFailed ? Outcome::kFailed : Outcome::kReply,
                           Bytes(content.begin(), content.end())};
  answered_.notify_all();
}

void HubClient::note_aborted(int pe, int code, const std::string& why) const {
  if (!options_.ends_when_aborted) return;
  end_process(code, "PE " + std::to_string(pe) + " ended the job with code " +
                        std::to_string(code) + ": " + why);
}

void HubClient::tell_activity() {
  {
    std::lock_guard lock(say_mutex_);
    if (say_) say_();
  }
  connection_->send(MessageWriter(Message::kToldActivity).take());
}

void HubClient::on_end(net::Connection&, const net::Error&) {
  std::unique_lock lock(mutex_);
  is_hub_gone_ = true;
  answered_.notify_all();
  if (is_leaving_ || !options_.ends_with_hub) return;
  end_process(kExitWithHub, "PE " + std::to_string(options_.pe) + " ends because " +
                                options_.hub_name + " is gone");
}

}  // namespace chime::bootstrap
