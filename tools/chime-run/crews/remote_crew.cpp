#include "remote_crew.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "options.hpp"
#include "processes/processes.hpp"
#include "processes/waiting.hpp"

namespace chime::run {
namespace {

constexpr std::chrono::seconds kLeaveTime{5};  // for an agent that has nothing left to do
// An agent is asked now and then whether it is there: one that is stopped, or whose host is cut
// off, says nothing of its PEs.
constexpr std::chrono::seconds kAskEvery{5};
constexpr std::chrono::seconds kSilence{10};       // after which it is said
constexpr std::chrono::seconds kSilenceAtEnd{3};   // after which its PEs are not waited for
constexpr std::chrono::seconds kTimeToSayHere{1};  // before which it cannot be said to be silent
constexpr std::size_t kMostBeforeGreeting = 64 << 10;

}  // namespace

RemoteCrew::RemoteCrew(CrewOwner& owner, Where where)
    : owner_(owner),
      where_(std::move(where)),
      error_lines_("chime-run: host " + where_.host + ": ", where_.err) {}

void RemoteCrew::start(const Order& order) try {
  order_ = order;
  for (const Order::Pe& pe : order.pes) running_.insert(pe.number);
  has_input_ended_ = !running_.contains(0);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) throw std::system_error(errno, std::generic_category(), "pipe");
  const net::Descriptor input(ends[0]);
  life_line_ = net::Descriptor(ends[1]);
  to_agent_ = Sink(life_line_.get());
  agent_.emplace(Start{where_.agent, {}, input.get(), true, nullptr});
  start_by_ = Clock::now() + where_.start_limit;
  const std::vector<Sink*> sinks{&where_.out, &where_.err};
  output_.emplace(agent_->output().get(), sinks, [this](std::string_view text) { hear(text); });
  errors_.emplace(agent_->errors().get(), sinks, [this](std::string_view text) {
    text.empty() ? error_lines_.finish() : error_lines_.add(text);
  });
  if (const int error = agent_->exec_error())
    cannot_run(error == ENOENT ? kExitNotFound : kExitCannotRun,
               "'" + where_.agent[0] + "': " + std::strerror(error) +
                   " (--agent-command says what starts agents)");
} catch (const std::system_error& error) {
  cannot_run(kExitCannotRun, std::string("its agent cannot be started: ") + error.what());
}

void RemoteCrew::add_to(std::vector<pollfd>& polled) const {
  if (is_over()) return;
  for (const auto* source : {&*output_, &*errors_})
    if (source->is_waited_for()) polled.push_back({source->fd(), POLLIN, 0});
  if (to_agent_.has_waiting()) polled.push_back({to_agent_.fd(), POLLOUT, 0});
  if (reads_input()) polled.push_back({where_.input_of_pe_0, POLLIN, 0});
}

std::optional<Clock::time_point> RemoteCrew::next() const {
  if (is_over()) return {};
  auto next = earliest({start_by_, leave_by_});
  if (state_ != State::kStarted || is_silent_) return next;
  if (!asked_at_) return earliest({next, ask_at_});
  return earliest({next, *asked_at_ + (is_ending_ ? kSilenceAtEnd : kSilence)});
}

void RemoteCrew::serve() {
  if (is_over()) return;
  output_->read_some();
  errors_->read_some();
  read_input();
  to_agent_.write_some();
  check_clock();
}

void RemoteCrew::read_rest() {
  if (!output_) return;
  output_->read_rest();
  errors_->read_rest();
}

void RemoteCrew::hear(std::string_view text) {
  if (leave_by_ && !is_killed_) leave_by_ = Clock::now() + kLeaveTime;
  if (state_ == State::kAwaitsGreeting) return hear_before_greeting(text);
  note_answer();
  frames_.add(net::bytes_of(text));
  try {
    while (const auto frame = frames_.next(kLongestFrame)) hear_frame(*frame);
  } catch (const net::Error& error) {
    cannot_run(kExitCannotRun, std::string("its agent does not make sense: ") + error.what());
  }
}

// Lines, the last of them the greeting; frames may follow it at once.
void RemoteCrew::hear_before_greeting(std::string_view text) {
  before_greeting_ += text;
  for (auto end = before_greeting_.find('\n'); end != std::string::npos;
       end = before_greeting_.find('\n')) {
    const std::string line = before_greeting_.substr(0, end);
    before_greeting_.erase(0, end + 1);
    hear_line(line);
    if (state_ != State::kAwaitsGreeting) return hear(std::exchange(before_greeting_, {}));
  }
  if (before_greeting_.size() < kMostBeforeGreeting) return;
  hear_line(before_greeting_);
  before_greeting_.clear();
}

void RemoteCrew::hear_line(const std::string& line) {
  if (line == greeting()) return send_order();
  if (line.starts_with(kGreetingBegins))
    cannot_run(kExitCannotRun, "there it is the " + line.substr(10) + ", and here " +
                                   greeting().substr(10) + "; install the same version");
  if (!line.empty()) say_words(line);
}

// Not before the agent has greeted: the secret is for nobody else.
void RemoteCrew::send_order() {
  state_ = State::kAwaitsStart;
  has_order_ = true;
  std::error_code error;
  net::Writer fields;
  fields.text(std::filesystem::current_path(error).string());
  write(fields, order_);
  say(to_agent_, ToAgent::kOrder, std::move(fields));
}

void RemoteCrew::hear_frame(std::span<const std::byte> frame) {
  net::Reader fields(frame);
  switch (fields.get<FromAgent>()) {
    case FromAgent::kStarted:
      state_ = State::kStarted;
      ask_at_ = Clock::now() + kAskEvery;
      start_by_.reset();
      return;
    case FromAgent::kCannotRun: {
      const auto code = fields.get<std::int32_t>();
      cannot_run(code, fields.text());
    }
    case FromAgent::kOutput: {
      const auto pe = fields.get<std::int32_t>();
      const auto stream = fields.get<std::uint8_t>() == 0 ? Stream::kOut : Stream::kErr;
      if (pe < order_.pes.front().number || pe > order_.pes.back().number) break;
      return owner_.on_output(pe, stream, text_of(fields.rest()));
    }
    case FromAgent::kWords:
      return say_words(fields.text());
    case FromAgent::kEnded: {
      const auto pe = fields.get<std::int32_t>();
      const auto pid = fields.get<std::int32_t>();
      if (running_.erase(pe)) ends_.push_back({pe, pid, fields.get<std::int32_t>(), where_.host});
      if (running_.empty()) leave_by_ = Clock::now() + kLeaveTime;
      return;
    }
    case FromAgent::kLooked:
      --looks_;
      return;
    case FromAgent::kTaken:
      input_on_its_way_ -= fields.get<std::uint32_t>();
      return;
    case FromAgent::kHere:
      return;
  }
  throw net::Error(net::Fault::kProtocol, "neither word nor PE of this talk");
}

bool RemoteCrew::reads_input() const {
  return state_ == State::kStarted && !has_input_ended_ && input_on_its_way_ < kInputWindow;
}

void RemoteCrew::read_input() {
  pollfd ready{where_.input_of_pe_0, POLLIN, 0};
  if (!reads_input() || poll(&ready, 1, 0) < 1) return;
  std::byte buffer[16384];
  const auto got = read(where_.input_of_pe_0, buffer, sizeof buffer);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  const auto n = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  has_input_ended_ = n == 0;
  input_on_its_way_ += static_cast<std::uint32_t>(n);
  say(to_agent_, ToAgent::kInput, net::Writer().raw(std::span(buffer).first(n)));
}

void RemoteCrew::ask() {
  asked_at_ = Clock::now();
  say(to_agent_, ToAgent::kAsk);
  to_agent_.write_some();
}

// Whatever it says.
void RemoteCrew::note_answer() {
  asked_at_.reset();
  ask_at_ = Clock::now() + kAskEvery;
  if (std::exchange(is_silent_, false)) say_words("its agent answers again");
}

// Where nobody takes what PEs write, what the agent says is not read, either: that is no silence.
void RemoteCrew::check_answer() {
  if (state_ != State::kStarted || is_silent_ || is_killed_) return;
  const auto now = Clock::now();
  if (!output_->is_waited_for()) return note_answer();
  if (!asked_at_) {
    if (now >= ask_at_) ask();
    return;
  }
  if (now < *asked_at_ + (is_ending_ ? kSilenceAtEnd : kSilence)) return;
  is_silent_ = true;
  if (is_ending_) return give_up_agent();
  say_words("its agent has not answered for " + std::to_string(kSilence.count()) +
            " s: it is stopped, or its host is cut off; the job waits for it");
}

// Its PEs end by themselves when they find chime-run gone.
void RemoteCrew::give_up_agent() {
  say_words("its agent does not answer; it is left, with its PEs");
  is_killed_ = true;
  agent_->send(SIGKILL);
}

void RemoteCrew::check_clock() {
  const auto now = Clock::now();
  check_answer();
  if (leave_by_ && now >= *leave_by_) agent_->send(SIGKILL);
  if (start_by_ && now >= *start_by_)
    cannot_run(
        kExitCannotRun,
        "its agent has not started the PEs within " +
            std::to_string(std::chrono::round<std::chrono::seconds>(where_.start_limit).count()) +
            " s (" + command() + "; CHIME_INIT_TIMEOUT gives it longer)");
}

std::vector<PeEnd> RemoteCrew::take_ends() {
  if (agent_ && agent_->note_end()) note_end_of_agent();
  return std::exchange(ends_, {});
}

// Its earlier messages are read first: they may say how all its PEs have ended.
void RemoteCrew::note_end_of_agent() {
  read_rest();
  const auto lost = std::exchange(running_, {});
  if (lost.empty() || is_killed_) return;
  const std::string how = command() + " " + describe_end(*agent_->status());
  if (state_ != State::kStarted) {
    if (exit_code_of(*agent_->status()) != kExitNotFound)
      cannot_run(kExitCannotRun, how + " before it had started a PE");
    cannot_run(kExitNotFound, how +
                                  " (is chime-run there? It is looked for in the PATH of a remote "
                                  "shell, or where it is here when it is started by its path)");
  }
  say_words("is lost, and its PEs with it: " + how);
  for (const int pe : lost)
    ends_.push_back({.pe = pe, .pid = -1, .status = SIGKILL, .host = where_.host, .is_lost = true});
}

void RemoteCrew::look() {
  if (is_over() || !has_order_) return;
  ++looks_;
  say(to_agent_, ToAgent::kLook);
}

void RemoteCrew::end(int signal) {
  if (!has_order_) return kill();
  if (is_over() || is_killed_) return;
  if (is_silent_) return give_up_agent();
  say_signal(ToAgent::kEnd, signal);
  if (!std::exchange(is_ending_, true) && state_ == State::kStarted) ask();
}

// One that does not obey is killed itself, and what it leaves loses its life line. One that has no
// order yet has nothing to end.
void RemoteCrew::kill() {
  if (is_over() || is_killed_) return;
  start_by_.reset();
  const bool owes_an_answer = asked_at_ && Clock::now() - *asked_at_ >= kTimeToSayHere;
  if (has_order_ && (is_silent_ || owes_an_answer)) return give_up_agent();
  is_killed_ = true;
  if (!has_order_) return agent_->send(SIGKILL);
  say_signal(ToAgent::kEnd, SIGKILL);
  leave_by_ = Clock::now() + kLeaveTime;
}

void RemoteCrew::pass_to_listeners(int signal) {
  if (has_order_) say_signal(ToAgent::kPass, signal);
}

void RemoteCrew::say_signal(ToAgent what, int signal) {
  if (is_over()) return;
  say(to_agent_, what, net::Writer().put(static_cast<std::int32_t>(signal)));
  to_agent_.write_some();
}

void RemoteCrew::say_words(const std::string& sentence) {
  if (!is_killed_) owner_.on_words("host " + where_.host + ": " + sentence);
}

void RemoteCrew::cannot_run(int code, const std::string& why) {
  state_ = State::kCannotRun;
  start_by_.reset();
  throw CannotRun(code, "host " + where_.host + ": " + why);
}

std::string RemoteCrew::command() const {
  std::string words;
  for (const std::string& word : where_.agent) words += (words.empty() ? "" : " ") + word;
  return "'" + words + "'";
}

}  // namespace chime::run
