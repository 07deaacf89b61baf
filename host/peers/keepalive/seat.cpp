#include "host/peers/keepalive/seat.hpp"

#include <cerrno>
#include <utility>

#include "net/socket/error.hpp"

namespace chime::host {
namespace {

constexpr std::chrono::milliseconds kPause{20};     // between rounds
constexpr std::chrono::seconds kStrangersTime{10};  // to prove the secret

}  // namespace

LeaderSeat::LeaderSeat(net::Reactor& reactor, Options options, Follow follow, Lead lead)
    : reactor_(reactor),
      options_(std::move(options)),
      follow_(std::move(follow)),
      lead_(std::move(lead)) {}

LeaderSeat::~LeaderSeat() {
  if (timer_) reactor_.cancel(*timer_);
  if (attempt_) attempt_->close();
}

void LeaderSeat::look(net::Deadline when, bool may_lead) {
  may_lead_ = may_lead;
  later(when, &LeaderSeat::begin_round);
}

void LeaderSeat::later(net::Deadline when, void (LeaderSeat::*step)()) {
  if (timer_) reactor_.cancel(*timer_);
  timer_ = reactor_.at(when, [this, step] {
    timer_.reset();
    (this->*step)();
  });
}

void LeaderSeat::begin_round() {
  next_ = 0;
  free_.reset();
  somebody_may_be_there_ = false;
  try_next();
}

void LeaderSeat::try_next() {
  while (next_ < options_.names.size()) {
    const std::size_t name = next_++;
    auto socket = net::start_connecting(options_.names[name]);
    if (!socket) {
      if (errno != ECONNREFUSED) somebody_may_be_there_ = true;
      if (errno == ECONNREFUSED && !free_) free_ = name;
    } else if (net::may_be_of_this_job(socket)) {
      attempt_ = net::Connection::start(
          reactor_, *this, std::move(socket),
          net::SecureChannel::client(options_.credentials, options_.roles, {}, options_.limits),
          net::Clock::now() + kStrangersTime);
      return;
    }
  }
  take_the_seat();
}

// Somebody else may have been faster: then it is found in the next round.
void LeaderSeat::take_the_seat() {
  if (!may_lead_ || !free_ || somebody_may_be_there_)
    return later(net::Clock::now() + kPause, &LeaderSeat::begin_round);
  net::Descriptor listener;
  try {
    listener = net::listen_at(options_.names[*free_]);
  } catch (const net::Error&) {
    return later(net::Clock::now() + kPause, &LeaderSeat::begin_round);
  }
  lead_(std::move(listener));
}

void LeaderSeat::on_open(net::Connection&) { follow_(std::exchange(attempt_, nullptr)); }

// A leader that ends may have let this PE in before: its successor is found in a round of its own.
void LeaderSeat::on_end(net::Connection&, const net::Error& why) {
  attempt_.reset();
  if (why.fault() == net::Fault::kClosed) somebody_may_be_there_ = true;
  later(net::Clock::now(), &LeaderSeat::try_next);
}

}  // namespace chime::host
