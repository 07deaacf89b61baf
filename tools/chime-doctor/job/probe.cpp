#include "tools/chime-doctor/job/probe.hpp"

#include <algorithm>
#include <utility>

#include "bootstrap/hub/listen.hpp"
#include "chime/abi/start_thread.h"
#include "net/mesh/fields.hpp"
#include "net/socket/error.hpp"
#include "net/socket/interfaces.hpp"

namespace chime::doctor {
namespace {

using std::chrono::system_clock;

// The shortest of several round trips bounds best how far two clocks are apart.
constexpr int kQuestionsOfTime = 8;
constexpr std::uint64_t kGuest = 0;  // tags of connections: of one that came in, or 1 + an attempt

std::int64_t nanoseconds(system_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

// "10.0.0.1" of "10.0.0.1:4711", "fe80::1" of "[fe80::1]:4711".
std::string host_in(const net::Address& address) {
  std::string text = address.text();
  text.erase(text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

std::vector<ListeningAddress> without_loopback(const std::vector<net::Address>& addresses) {
  std::vector<ListeningAddress> found;
  for (const net::Interface& interface : net::interfaces_that_are_up())
    for (const net::Address& address : addresses)
      if (!interface.is_loopback && interface.address.with_port(address.port()) == address)
        found.push_back({interface.name, host_in(address), address.port(), true});
  return found;
}

// All hosts may come to the first one at once, with all their attempts.
std::size_t most_guests(int n_pes, std::size_t n_addresses, std::size_t n_ports) {
  constexpr std::size_t kStrangers = 256;
  return kStrangers + most_attempts(n_addresses, n_ports) * static_cast<std::size_t>(n_pes);
}

PathFacts::Outcome outcome_of(net::Fault fault) {
  switch (fault) {
    case net::Fault::kTimeout:
      return PathFacts::Outcome::kSilent;
    case net::Fault::kNobody:
      return PathFacts::Outcome::kClosed;
    case net::Fault::kSystem:
      return PathFacts::Outcome::kNoWay;
    case net::Fault::kExhausted:
      return PathFacts::Outcome::kNotTried;
    default:
      return PathFacts::Outcome::kOther;
  }
}

// Without the address, which the path has.
std::string words_of(const net::Error& error, const net::Address& address) {
  if (error.fault() == net::Fault::kTimeout) return "no answer";
  const std::string words = error.what(), prefix = address.text() + ": ";
  return words.starts_with(prefix) ? words.substr(prefix.size()) : words;
}

}  // namespace

PathProbe::PathProbe(Options options) : options_(std::move(options)) {
  bootstrap::Listening listening = bootstrap::listen_for_other_hosts(options_.interface);
  addresses_ = without_loopback(listening.addresses);
  gate_ = std::make_unique<net::Gate>(
      reactor_, std::move(listening.listeners),
      net::Gate::Options{
          .credentials = options_.credentials,
          .pe = options_.pe,
          .max_strangers = most_guests(options_.n_pes, addresses_.size(), options_.n_ports)},
      [this](std::shared_ptr<net::Connection> guest) {
        guest->belong_to(*this);
        guest->tag = kGuest;
        guest->accept();
        guests_.push_back(std::move(guest));
      });
  thread_ = abi::start_thread([this] { serve(); });
}

PathProbe::~PathProbe() {
  reactor_.post([this] { must_stop_ = true; });
  thread_.join();
  attempts_.clear();
  for (const auto& guest : guests_) guest->close();
}

void PathProbe::serve() {
  while (!must_stop_) reactor_.run_once();
  end_all();
}

PairFacts PathProbe::try_all(const std::vector<Target>& targets,
                             std::chrono::milliseconds patience) {
  PairFacts found;
  if (targets.empty()) return found;
  std::future<void> ended = all_ended_.get_future();
  const net::Deadline deadline = net::Clock::now() + patience;
  reactor_.post([this, &targets, deadline] {
    for (const auto& [pe, address, through, source] : targets)
      attempts_.push_back(
          {.path = {options_.pe, pe, address.interface, address.host, address.port, address.listens,
                    PathFacts::Outcome::kSilent, "no answer", through, source}});
    n_running_ = attempts_.size();
    reactor_.at(deadline, [this] { end_all(); });
    for (Attempt& attempt : attempts_) begin(attempt, deadline);
  });
  ended.wait();  // the reactor's clock ends it
  for (const Attempt& attempt : attempts_) {
    found.paths.push_back(attempt.path);
    if (attempt.has_clock) found.clocks.push_back(attempt.clock);
  }
  return found;
}

void PathProbe::begin(Attempt& attempt, net::Deadline deadline) try {
  const auto address = net::Address::internet(attempt.path.host, attempt.path.port);
  const std::string& source = attempt.path.source;
  net::Dial::Options options{
      .addresses = {address},
      .credentials = options_.credentials,
      .roles = {options_.pe, attempt.path.to},
      .from = {attempt.path.through,
               source.empty() ? net::Address() : net::Address::internet(source, 0)},
      .waits = false};
  attempt.dial = std::make_unique<net::Dial>(
      reactor_, std::move(options), deadline,
      [this, &attempt](std::shared_ptr<net::Connection> opened) {
        if (attempt.has_ended) return opened->close();  // too late
        attempt.connection = std::move(opened);
        attempt.connection->belong_to(*this);
        attempt.connection->tag = 1 + static_cast<std::uint64_t>(&attempt - attempts_.data());
        ask_time(attempt);
      },
      [this, &attempt, address](const net::Error& why) {
        end(attempt, outcome_of(why.fault()), words_of(why, address));
      });
} catch (const net::Error& error) {
  end(attempt, PathFacts::Outcome::kNoWay, error.what());
}

void PathProbe::ask_time(Attempt& attempt) {
  attempt.asked_at = system_clock::now();
  attempt.connection->send(net::Writer().put<std::int64_t>(0).take());
}

void PathProbe::take_time(Attempt& attempt, std::int64_t theirs_ns) {
  const std::int64_t asked = nanoseconds(attempt.asked_at), now = nanoseconds(system_clock::now());
  const double bound = 0.5e-9 * static_cast<double>(now - asked);
  const double behind = 1e-9 * static_cast<double>(theirs_ns - (asked + (now - asked) / 2));
  if (!attempt.has_clock || bound < attempt.clock.bound_s)
    attempt.clock = {options_.pe, attempt.path.to, -behind, bound};
  attempt.has_clock = true;
  if (++attempt.answers < kQuestionsOfTime) return ask_time(attempt);
  end(attempt, PathFacts::Outcome::kOpen, "");
}

void PathProbe::end(Attempt& attempt, PathFacts::Outcome outcome, const std::string& why) {
  if (std::exchange(attempt.has_ended, true)) return;
  attempt.path.outcome = outcome;
  attempt.path.why = why;
  if (attempt.connection) attempt.connection->close();  // the other end needs its descriptor
  if (--n_running_ == 0) all_ended_.set_value();
}

// One that has had an answer is open, however slow.
void PathProbe::end_all() {
  for (Attempt& attempt : attempts_)
    if (attempt.has_clock)
      end(attempt, PathFacts::Outcome::kOpen, "");
    else
      end(attempt, PathFacts::Outcome::kSilent, "no answer");
}

void PathProbe::on_frame(net::Connection& connection, net::Bytes frame) {
  if (connection.tag == kGuest)
    return connection.send(net::Writer().put(nanoseconds(system_clock::now())).take());
  take_time(attempts_[connection.tag - 1], net::Reader(frame).get<std::int64_t>());
}

void PathProbe::on_end(net::Connection& connection, const net::Error& why) {
  if (connection.tag == kGuest)
    guests_.remove_if([&](const auto& guest) { return guest.get() == &connection; });
  else
    end(attempts_[connection.tag - 1], outcome_of(why.fault()), why.what());
}

}  // namespace chime::doctor
