#include "agent.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "options.hpp"
#include "processes/guardian.hpp"
#include "processes/processes.hpp"
#include "processes/waiting.hpp"

namespace chime::run {
namespace {

constexpr std::chrono::seconds kGrace{2};  // for PEs that somebody on this host asks to end
constexpr std::chrono::milliseconds kKillPause{100};

}  // namespace

Agent::Agent()
    : to_launcher_(STDOUT_FILENO),
      crew_(*this, {.input_of_pe_0 = input_.read_end(), .out = to_launcher_, .err = to_launcher_}) {
}

int Agent::run() {
  adopt_orphans();
  to_launcher_.add("\n" + greeting() + "\n");
  while (!is_over()) {
    wait_for_work();
    signals_.take_all([this](int signal) { take_signal(signal); });
    tell_ends();
    check_clock();
  }
  kill_all_descendants();
  crew_.read_rest();
  to_launcher_.flush();
  return is_launcher_gone_ ? kExitCannotRun : 0;
}

bool Agent::is_over() const {
  return (has_order_ || is_launcher_gone_) && !crew_.has_running_pes();
}

void Agent::wait_for_work() {
  std::vector<pollfd> polled = {{signals_.fd(), POLLIN, 0}};
  if (!is_launcher_gone_) polled.push_back({STDIN_FILENO, POLLIN, 0});
  if (to_launcher_.has_waiting()) polled.push_back({to_launcher_.fd(), POLLOUT, 0});
  input_.add_to(polled);
  crew_.add_to(polled);
  wait_for(polled, kill_at_);

  if (!is_launcher_gone_ && polled[1].revents) listen();
  if (const auto taken = input_.write_some())
    say(to_launcher_, FromAgent::kTaken, net::Writer().put(static_cast<std::uint32_t>(taken)));
  crew_.serve();
  to_launcher_.write_some();
  if (to_launcher_.is_closed()) launcher_is_gone();
}

void Agent::take_signal(int signal) {
  if (signal == SIGCHLD) return;  // tell_ends looks in every round
  if (signal == SIGUSR1 || signal == SIGUSR2) return crew_.pass_to_listeners(signal);
  if (signal == guardian_died_signal() || !has_order_) return launcher_is_gone();
  on_words(name_of_signal(signal) + " came to the agent; ending its PEs");
  crew_.end(signal);
  if (!kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Agent::listen() {
  std::byte buffer[65536];
  const auto got = read(STDIN_FILENO, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return launcher_is_gone();
  from_launcher_.add(std::span(buffer).first(static_cast<std::size_t>(got)));
  try {
    while (const auto frame = from_launcher_.next(kLongestFrame)) obey(*frame);
  } catch (const net::Error& error) {
    on_words(std::string("its agent does not understand chime-run: ") + error.what());
    launcher_is_gone();
  }
}

void Agent::obey(std::span<const std::byte> frame) {
  net::Reader fields(frame);
  switch (fields.get<ToAgent>()) {
    case ToAgent::kOrder:
      return start(fields);
    case ToAgent::kEnd: {
      const auto signal = fields.get<std::int32_t>();
      return signal == SIGKILL ? crew_.kill() : crew_.end(signal);
    }
    case ToAgent::kPass:
      return crew_.pass_to_listeners(fields.get<std::int32_t>());
    case ToAgent::kLook:
      tell_ends();
      return say(to_launcher_, FromAgent::kLooked);
    case ToAgent::kInput:
      return feed(text_of(fields.rest()));
    case ToAgent::kAsk:
      return say(to_launcher_, FromAgent::kHere);
  }
  throw net::Error(net::Fault::kProtocol, "an unknown word");
}

void Agent::start(net::Reader& fields) try {
  has_order_ = true;
  const std::string directory = fields.text();
  const Order order = order_in(fields);
  if (chdir(directory.c_str()))
    throw CannotRun(kExitCannotRun, "the folder " + directory + ": " + std::strerror(errno));
  crew_.start(order);
  input_.close_read_end();
  say(to_launcher_, FromAgent::kStarted);
} catch (const CannotRun& error) {
  say(to_launcher_, FromAgent::kCannotRun,
      net::Writer().put(static_cast<std::int32_t>(error.code())).text(error.what()));
  crew_.kill();
}

void Agent::feed(std::string_view input) { input.empty() ? input_.end() : input_.add(input); }

// The output of the PEs that ended goes first.
void Agent::tell_ends() {
  ChildProcess::reap_ended();
  const auto ends = crew_.take_ends();
  if (!ends.empty()) crew_.serve();
  for (const PeEnd& end : ends)
    say(to_launcher_, FromAgent::kEnded,
        net::Writer()
            .put(static_cast<std::int32_t>(end.pe))
            .put(static_cast<std::int32_t>(end.pid))
            .put(static_cast<std::int32_t>(end.status)));
}

void Agent::check_clock() {
  if (!kill_at_ || Clock::now() < *kill_at_) return;
  crew_.kill();
  kill_at_ = Clock::now() + kKillPause;  // once more, should one have escaped its group
}

void Agent::launcher_is_gone() {
  if (std::exchange(is_launcher_gone_, true)) return;
  kill_at_ = Clock::now();
}

void Agent::on_output(int pe, Stream stream, std::string_view text) {
  say(to_launcher_, FromAgent::kOutput,
      net::Writer().put(static_cast<std::int32_t>(pe)).put(stream).raw(net::bytes_of(text)));
}

void Agent::on_words(const std::string& sentence) {
  say(to_launcher_, FromAgent::kWords, net::Writer().text(sentence));
}

}  // namespace chime::run
