#include "net/mesh/reach.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

constexpr std::chrono::milliseconds kPause{100};  // between attempts at one address

}  // namespace

Reach::Reach(Reactor& reactor, Options options, Opened opened, Failed failed)
    : reactor_(reactor),
      options_(std::move(options)),
      opened_(std::move(opened)),
      failed_(std::move(failed)) {
  for (const Address& address : options_.addresses) attempts_.push_back({.address = address});
  for (Attempt& attempt : attempts_) {
    attempt.silent_at = Clock::now() + options_.silence;
    at(attempt, Clock::now(), &Reach::begin);
  }
}

Reach::~Reach() {
  for (Attempt& attempt : attempts_) drop(attempt);
}

void Reach::drop(Attempt& attempt) {
  if (attempt.timer) reactor_.cancel(*attempt.timer);
  attempt.timer.reset();
  if (attempt.connection) attempt.connection->close();
  attempt.connection.reset();
}

void Reach::at(Attempt& attempt, Deadline when, void (Reach::*step)(Attempt&)) {
  if (attempt.timer) reactor_.cancel(*attempt.timer);
  attempt.timer = reactor_.at(when, [this, &attempt, step] {
    attempt.timer.reset();
    (this->*step)(attempt);
  });
}

// An attempt that fails at once counts as no answer, for its network may come back; but not one
// that this process could not make.
void Reach::begin(Attempt& attempt) {
  auto socket = start_connecting(attempt.address);
  if (!socket && errno == ECONNREFUSED)
    return settle(attempt, State::kNobody, std::generic_category().message(errno));
  if (!socket && is_exhaustion(errno)) attempt.silent_at = Clock::now() + options_.silence;
  if (!socket) return again(attempt);
  end_after_silence(socket, options_.silence);
  attempt.connection = Connection::start(
      reactor_, *this, std::move(socket),
      SecureChannel::client(options_.credentials, options_.roles, {}, options_.limits),
      Deadline::max());
  attempt.connection->tag = static_cast<std::uint64_t>(&attempt - attempts_.data());
  at(attempt, attempt.silent_at, &Reach::look);
}

// Once it answers, the connection's own silence says when it does no more.
void Reach::look(Attempt& attempt) {
  if (attempt.connection && !attempt.connection->is_connecting()) {
    attempt.state = State::kAnswers;
    return;
  }
  settle(attempt, State::kSilent, "no answer");
}

void Reach::again(Attempt& attempt) {
  const auto next = Clock::now() + kPause;
  if (attempt.state == State::kAsked && next >= attempt.silent_at)
    return at(attempt, attempt.silent_at, &Reach::look);
  at(attempt, next, &Reach::begin);
}

void Reach::ask_anew(Attempt& attempt) {
  attempt.state = State::kAsked;
  attempt.silent_at = Clock::now() + options_.silence;
  again(attempt);
}

void Reach::settle(Attempt& attempt, State state, const std::string& why) {
  drop(attempt);
  attempt.state = state;
  std::string& words = state == State::kSilent ? why_silent_ : why_nobody_;
  words += (words.empty() ? "" : "; ") + attempt.address.text() + ": " + why;
  const auto is = [](State wanted) {
    return [wanted](const Attempt& a) { return a.state == wanted; };
  };
  if (std::ranges::any_of(attempts_, is(State::kAsked)) ||
      std::ranges::any_of(attempts_, is(State::kAnswers)))
    return;
  const bool is_silent = std::ranges::any_of(attempts_, is(State::kSilent));
  const Failed failed = std::move(failed_);  // which may destroy this object
  failed(is_silent ? Failure::kSilent : Failure::kNobody, is_silent ? why_silent_ : why_nobody_);
}

void Reach::on_open(Connection& connection) {
  auto taken = std::exchange(attempts_[connection.tag].connection, nullptr);
  for (Attempt& attempt : attempts_) drop(attempt);
  const Opened opened = std::move(opened_);
  opened(std::move(taken));
}

// Whoever comes to a process that ends is turned away: the next one takes its place. Only one that
// listens there for another job turns away again and again.
void Reach::on_end(Connection& connection, const Error& why) {
  Attempt& attempt = attempts_[connection.tag];
  const bool has_answered = !connection.is_connecting();
  attempt.connection.reset();
  switch (why.fault()) {
    case Fault::kTimeout:
    case Fault::kSystem:
      return has_answered ? settle(attempt, State::kSilent, why.what()) : again(attempt);
    case Fault::kClosed:
    case Fault::kSecret:
      if (!attempt.nobody_at) attempt.nobody_at = Clock::now() + options_.silence;
      if (Clock::now() < *attempt.nobody_at) return ask_anew(attempt);
      [[fallthrough]];
    default:
      settle(attempt, State::kNobody, why.what());
  }
}

}  // namespace chime::net
