#include "bootstrap/hub_client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>

#include "bootstrap/last_words.hpp"
#include "chime/abi/start_thread.h"

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kExplainTimeout{1000};
constexpr std::chrono::seconds kSendTimeout{10};
constexpr std::chrono::seconds kGiveUpTimeout{10};  // for the hub's word on a barrier given up
constexpr int kExitWithHub = 1;

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, INT_MAX));
}

std::string milliseconds_since(Clock::time_point begin) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
}

std::string words(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string name_of_this_node() {
  std::string boot_id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
  char space[64] = "";
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0) return boot_id;
  return boot_id + " " + space;
}

HubClient::HubClient(FileDescriptor fd, Options options, Deadline deadline)
    : options_(std::move(options)), fd_(std::move(fd)) {
  introduce(deadline);
  // A hub that does not read for so long is as good as gone; no send may hang.
  const timeval limit{kSendTimeout.count(), 0};
  setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  reader_ = abi::start_thread([this] { read_messages(); });
}

HubClient::~HubClient() {
  {
    std::lock_guard lock(mutex_);
    is_leaving_ = true;
  }
  try {
    send(MessageWriter(Message::kGoodbye).take());
  } catch (const BootstrapError&) {
    // The hub is gone: nobody is left to greet.
  }
  shutdown(fd_.get(), SHUT_RDWR);
  reader_.join();
}

void HubClient::introduce(Deadline deadline) {
  MessageReader challenge(receive_before(deadline));
  if (challenge.type() != Message::kChallenge)
    throw BootstrapError(options_.hub_name + " is not a Chime hub");
  if (const auto version = challenge.get<std::uint32_t>(); version != kWireVersion)
    throw BootstrapError(options_.hub_name + " speaks version " + std::to_string(version) +
                             " of the start-up protocol, this library version " +
                             std::to_string(kWireVersion) + ": use one Chime version on all sides",
                         CHIMEX_ERR_MISMATCH);
  const auto hub_nonce = challenge.get<Token>();
  const auto nonce = random_token();
  send(MessageWriter(Message::kHello)
           .put<std::int32_t>(options_.pe)
           .put<std::int32_t>(options_.n_pes)
           .put(nonce)
           .text(name_of_this_node())
           .put(pe_proof(options_.token, hub_nonce, nonce, options_.pe, options_.n_pes))
           .take());
  MessageReader verdict(receive_before(deadline));
  const bool is_verdict =
      verdict.type() == Message::kWelcome || verdict.type() == Message::kRefused;
  if (!is_verdict ||
      !equal_in_constant_time(verdict.get<Digest>(), hub_proof(options_.token, hub_nonce, nonce)))
    throw BootstrapError(options_.hub_name + " does not know this job's token",
                         CHIMEX_ERR_MISMATCH);
  if (verdict.type() == Message::kRefused)
    throw HubRefusal(options_.hub_name + " refused: " + verdict.text());
}

// Only before the reader thread starts.
Bytes HubClient::receive_before(Deadline deadline) {
  for (;;) {
    if (auto message = input_.next(kMaxMessageBytes)) return std::move(*message);
    pollfd ready{fd_.get(), POLLIN, 0};
    if (poll(&ready, 1, milliseconds_until(deadline)) == 0)
      throw BootstrapError(options_.hub_name + " did not answer in time", CHIMEX_ERR_TIMEOUT);
    std::byte buffer[1024];
    const auto got = recv(fd_.get(), buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0)
      throw BootstrapError(options_.hub_name +
                           " closed the connection: wrong token, or the job has ended");
    input_.add({buffer, static_cast<std::size_t>(got)});
  }
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

void HubClient::send(std::span<const std::byte> message) const {
  std::lock_guard lock(send_mutex_);
  while (!message.empty()) {
    const auto sent = ::send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0)
      throw BootstrapError(options_.hub_name + " cannot be reached: " + std::strerror(errno));
    message = message.subspan(static_cast<std::size_t>(sent));
  }
}

void HubClient::read_messages() {
  std::byte buffer[16384];
  try {
    for (;;) {
      while (auto message = input_.next(kMaxMessageBytes)) {
        MessageReader reader(std::move(*message));
        hear(reader);
      }
      const auto got = recv(fd_.get(), buffer, sizeof buffer, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      input_.add({buffer, static_cast<std::size_t>(got)});
    }
  } catch (const BootstrapError&) {
    // What the hub sends is not the protocol: as good as gone.
  }
  note_hub_gone();
}

void HubClient::hear(MessageReader& message) {
  switch (message.type()) {
    case Message::kReply:
    case Message::kFailed: {
      const auto id = message.get<std::uint32_t>();
      auto content = message.bytes();
      std::lock_guard lock(mutex_);
      auto waiting = requests_.find(id);
      if (waiting == requests_.end()) return;
      waiting->second =
          Answer{message.type() == Message::kFailed ? Outcome::kFailed : Outcome::kReply,
                 Bytes(content.begin(), content.end())};
      answered_.notify_all();
      return;
    }
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
      throw BootstrapError("a message that only a PE may send");
  }
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
  send(MessageWriter(Message::kToldActivity).take());
}

void HubClient::note_hub_gone() {
  std::unique_lock lock(mutex_);
  is_hub_gone_ = true;
  answered_.notify_all();
  if (is_leaving_ || !options_.ends_with_hub) return;
  end_process(kExitWithHub, "PE " + std::to_string(options_.pe) + " ends because " +
                                options_.hub_name + " is gone");
}

}  // namespace chime::bootstrap
