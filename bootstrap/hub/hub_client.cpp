#include "bootstrap/hub/hub_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "bootstrap/hub/last_words.hpp"
#include "bootstrap/place.hpp"
#include "chime/abi/start_thread.h"
#include "net/mesh/fields.hpp"

namespace chime::bootstrap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kExplainTimeout{1};
constexpr std::chrono::seconds kFlushTimeout{1};  // for last words
constexpr int kExitWithHub = 1;

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
  answer_those_still_open();
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
        connection_->belong_to(hearing_);
      },
      [&](const net::Error& why) { failure = why; });
  reactor_.run_until([&] { return connection_ || failure; }, Deadline::max());
  if (failure) throw *failure;
}

void HubClient::serve() {
  while (!must_stop_) reactor_.run_once();
}

NodeInfo HubClient::find_node() const {
  auto reply = request(
      Message::kNodePeers, [](MessageWriter&) {}, "which PEs share this node");
  std::vector<std::int32_t> peers(reply.size() / sizeof(std::int32_t));
  std::memcpy(peers.data(), reply.data(), peers.size() * sizeof peers[0]);
  return node_of(rank(), {peers.begin(), peers.end()});
}

void HubClient::publish(std::string_view key, std::span<const std::byte> value) {
  const auto what = "publishing '" + std::string(key) + "'";
  if (value.size() > kMaxValueBytes)
    throw BootstrapError(what + ": " + std::to_string(value.size()) + " bytes, at most " +
                             std::to_string(kMaxValueBytes) + " are allowed",
                         CHIMEX_ERR_INVALID);
  request(
      Message::kPublish, [&](MessageWriter& m) { m.text(key).bytes(value); }, what);
}

// The answer goes to nobody.
void HubClient::publish_in_passing(std::string_view key, std::span<const std::byte> value) {
  const Question unheard(questions(), questions()->open([](const Answer&) {}));
  post(Message::kPublish, unheard.id(), [&](MessageWriter& m) { m.text(key).bytes(value); });
}

void HubClient::look_for(OpenQuestions::Id question, int pe, std::string_view key,
                         bool may_wait) const {
  post(Message::kLookup, question,
       [&](MessageWriter& m) { m.put<std::int32_t>(pe).text(key).put<std::uint8_t>(may_wait); });
}

void HubClient::abort(int code, std::string_view why) noexcept {
  try {
    send(MessageWriter(Message::kAbort).put<std::int32_t>(code).text(why).take());
    flush();
  } catch (const std::exception&) {
    // The hub is gone, and every PE that depends on it ends by itself.
  }
}

std::string HubClient::describe() const {
  return options_.means + ", PE " + std::to_string(rank()) + " of " + std::to_string(size());
}

template <class Write>
void HubClient::post(Message type, OpenQuestions::Id question, Write write) const {
  MessageWriter message(type);
  message.put(question);
  write(message);
  send(message.take());
}

template <class Write>
Bytes HubClient::request(Message type, Write write, const std::string& what) const {
  AwaitedAnswer awaited;
  const Question question(questions(), questions()->open(awaited.on_answer()));
  try {
    post(type, question.id(), write);
  } catch (const BootstrapError& error) {
    throw BootstrapError(what + ": " + error.what(), error.code());
  }
  return await(awaited, question, Clock::now() + options_.timeout, what);
}

std::string HubClient::why_open(OpenQuestions::Id question) const {
  AwaitedAnswer awaited;
  const Question explain(questions(), questions()->open(awaited.on_answer()));
  try {
    post(Message::kExplain, explain.id(), [&](MessageWriter& m) { m.put(question); });
  } catch (const BootstrapError& error) {
    return error.what();
  }
  const auto answer = awaited.wait_until(Clock::now() + kExplainTimeout);
  if (!answer) return options_.hub_name + " does not answer";
  return answer->code == CHIMEX_OK ? words(answer->value) : answer->why;
}

// Whole or not at all, and without waiting for a hub that is late: what it has not read waits here.
void HubClient::send(const Bytes& message) const {
  try {
    connection_->send(message);
  } catch (const net::Error&) {
    throw BootstrapError(options_.hub_name + " is gone", options_.code_when_gone);
  }
}

// For last words: this process may end at once.
void HubClient::flush() const {
  const auto end = Clock::now() + kFlushTimeout;
  std::unique_lock lock(mutex_);
  has_sent_.wait_until(lock, end, [this] { return is_hub_gone_ || !connection_->has_unsent(); });
}

void HubClient::note_drained() {
  std::lock_guard lock(mutex_);
  has_sent_.notify_all();
}

void HubClient::hear(const Bytes& frame) {
  MessageReader message(frame);
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
  const auto question = message.get<OpenQuestions::Id>();
  if (message.type() == Message::kFailed) {
    const auto code = message.get<std::int32_t>();
    return questions()->answer(question,
                               {.code = static_cast<chimex_status>(code), .why = message.text()});
  }
  const auto value = message.bytes();
  questions()->answer(question, {.value = {value.begin(), value.end()}});
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
  connection_->send(MessageWriter(Message::kActivityReported).take());
}

void HubClient::note_end() {
  bool is_leaving;
  {
    std::lock_guard lock(mutex_);
    is_hub_gone_ = true;
    has_sent_.notify_all();
    is_leaving = is_leaving_;
  }
  if (options_.ends_with_hub && !is_leaving)
    end_process(kExitWithHub, "PE " + std::to_string(options_.pe) + " ends because " +
                                  options_.hub_name + " is gone");
  questions()->answer_all({.code = options_.code_when_gone, .why = options_.hub_name + " is gone"});
}

}  // namespace chime::bootstrap
