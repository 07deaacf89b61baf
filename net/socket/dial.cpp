#include "net/socket/dial.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "net/socket/error.hpp"

namespace chime::net {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{200};
constexpr std::chrono::milliseconds kLongestAttempt{60'000};

Fault fault_of(int error) {
  if (error == ECONNREFUSED) return Fault::kNobody;
  return is_exhaustion(error) ? Fault::kExhausted : Fault::kSystem;
}

}  // namespace

Dial::Dial(Reactor& reactor, Options options, Deadline deadline, Opened opened, Failed failed)
    : reactor_(reactor),
      options_(std::move(options)),
      deadline_(deadline),
      opened_(std::move(opened)),
      failed_(std::move(failed)),
      pause_(kFirstPause) {
  later(Clock::now(), [this] { try_next(); });
}

Dial::~Dial() {
  if (timer_) reactor_.cancel(*timer_);
  if (attempt_) attempt_->close();
}

void Dial::try_next() {
  if (next_ == options_.addresses.size()) return wait_for_next_round();
  begin(options_.addresses[next_++]);
}

void Dial::begin(const Address& address) {
  auto socket = start_connecting(address, options_.from);
  if (!socket) {
    const int error = errno;
    note(address.text() + ": " + std::generic_category().message(error), fault_of(error));
    return later(Clock::now(), [this] { try_next(); });
  }
  if (!may_be_of_this_job(socket)) {
    note(address.text() + ": another user's process listens there", Fault::kSecret);
    return later(Clock::now(), [this] { try_next(); });
  }
  attempt_ = Connection::start(reactor_, *this, std::move(socket),
                               SecureChannel::client(options_.credentials, options_.roles,
                                                     options_.introduction, options_.limits),
                               end_of_attempt());
  attempt_->tag = next_ - 1;
}

Deadline Dial::end_of_attempt() const {
  const bool is_the_only_address = options_.addresses.size() == 1;
  return is_the_only_address ? deadline_ : std::min(deadline_, Clock::now() + options_.attempt);
}

void Dial::note(const std::string& why, Fault fault) {
  tried_ += (tried_.empty() ? "" : "; ") + why;
  last_fault_ = fault;
  without_listener_ += fault == Fault::kNobody;
}

// That nobody listens at some addresses, which may be another host's, says nothing where others
// cannot be reached at all.
Fault Dial::fault_of_round(bool nobody_listens) const {
  return !nobody_listens && last_fault_ == Fault::kNobody ? Fault::kSystem : last_fault_;
}

void Dial::wait_for_next_round() {
  const auto next_round = Clock::now() + pause_;
  const bool nobody_listens = without_listener_ == options_.addresses.size();
  if (!options_.waits || (options_.has_listened && nobody_listens) || next_round >= deadline_)
    return fail(fault_of_round(nobody_listens), tried_);
  pause_ = std::min(2 * pause_, kLongestPause);
  options_.attempt = std::min(2 * options_.attempt, kLongestAttempt);
  next_ = 0;
  tried_.clear();
  without_listener_ = 0;
  later(next_round, [this] { try_next(); });
}

// The caller may destroy this object in it.
void Dial::fail(Fault fault, const std::string& what) {
  const Failed failed = std::move(failed_);
  failed(Error(fault, what));
}

void Dial::later(Deadline when, std::function<void()> step) {
  timer_ = reactor_.at(when, [this, step = std::move(step)] {
    timer_.reset();
    step();
  });
}

void Dial::on_open(Connection&) {
  const Opened opened = std::move(opened_);
  opened(std::move(attempt_));
}

void Dial::on_end(Connection& connection, const Error& why) {
  attempt_.reset();
  const auto text = options_.addresses[connection.tag].text();
  if (why.fault() == Fault::kRefused) return fail(Fault::kRefused, why.what());
  note(text + ": " + why.what(), why.fault());
  later(Clock::now(), [this] { try_next(); });
}

}  // namespace chime::net
