#include "job.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "crews/crews.hpp"
#include "host/trace/clock.hpp"
#include "processes/child_process.hpp"
#include "processes/guardian.hpp"
#include "processes/processes.hpp"
#include "processes/waiting.hpp"

namespace chime::run {
namespace {

constexpr std::chrono::seconds kAnswerTime{2};

std::string number(double s) {
  auto text = std::to_string(s);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// "process 12 on host b".
std::string process_of(const PeEnd& end) {
  const std::string where = end.host.empty() ? "" : "on host " + end.host;
  if (end.is_lost) return where;
  return "process " + std::to_string(end.pid) + (where.empty() ? "" : " ") + where;
}

std::string how_of(const PeEnd& end) {
  return end.is_lost ? "was lost with its host" : describe_end(end.status);
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      hub_({.n_pes = options.n_pes,
            .interface = options.hosts.empty() ? std::nullopt : std::optional(options.interface),
            .aborted =
                [this](int pe, int code, std::string why) {
                  hub_events_.add({pe, code, std::move(why)});
                },
            .log =
                [](const std::string& line) {
                  std::fprintf(stderr, "chime-run: %s\n", line.c_str());
                }}),
      out_(STDOUT_FILENO),
      err_(STDERR_FILENO) {
  for (int pe = 0; options.has_prefix && pe < options.n_pes; pe++) {
    const auto prefix = "[" + std::to_string(pe) + "] ";
    lines_.push_back({Lines(prefix, out_), Lines(prefix, err_, filter_of(pe))});
  }
}

int Job::run() {
  adopt_orphans();
  if (options_.time_limit_s > 0) limit_ = Clock::now() + in_seconds(options_.time_limit_s);
  start();
  while (!std::all_of(crews_.begin(), crews_.end(), [](auto& crew) { return crew->is_over(); }) ||
         ends_.has_waiting()) {
    wait_for_work();
    signals_.take_all([this](int signal) { take_signal(signal); });
    take_ends();
    check_clock();
    check_answers();
    check_output();
  }
  kill_all_descendants();
  finish_output();
  return exit_code_.value_or(0);
}

void Job::start() {
  CrewOwner& owner = *this;
  crews_ = make_crews(options_, owner, out_, err_);
  const auto orders = orders_for(options_, [this](int pe) { return hub_.environment_of(pe); });
  for (std::size_t i = 0; i < crews_.size() && !exit_code_; i++)
    let(*crews_[i], [&](Crew& crew) { crew.start(orders[i]); });
}

void Job::let(Crew& crew, const std::function<void(Crew&)>& act) try {
  act(crew);
} catch (const CannotRun& error) {
  if (!kill_at_) say(error.what());
  decide(error.code());
  kill_pes();
}

// A job that keeps going leaves out no line: the reader needs to see which PE said what.
Lines::Filter Job::filter_of(int pe) {
  if (options_.keeps_going) return nullptr;
  return [this, pe](std::string_view line) { return repeated_.is_left_out(pe, line); };
}

void Job::wait_for_work() {
  std::vector<pollfd> polled = {{signals_.fd(), POLLIN, 0}, {hub_events_.fd(), POLLIN, 0}};
  for (Sink* sink : {&out_, &err_})
    if (sink->has_waiting()) polled.push_back({sink->fd(), POLLOUT, 0});
  for (const auto& crew : crews_) crew->add_to(polled);
  wait_for(polled, next_event());

  hub_events_.note_seen();
  for (const auto& crew : crews_) let(*crew, [](Crew& c) { c.serve(); });
  out_.write_some();
  err_.write_some();
}

void Job::take_signal(int signal) {
  if (signal == SIGCHLD) return;  // take_ends looks in every round
  if (signal == guardian_died_signal()) return end_without_guardian();
  if (signal == SIGUSR1) report();
  if (signal != SIGUSR1 && signal != SIGUSR2) return end_by_signal(signal);
  for (const auto& crew : crews_) crew->pass_to_listeners(signal);
}

// Whoever asks again does not want to wait, and after a hang-up nobody reads.
void Job::end_by_signal(int signal) {
  decide(kExitSignalBase + signal);
  if (signal == SIGHUP || answer_by_ || kill_at_) return end_pes(signal);
  say(name_of_signal(signal) + " came: asking the PEs what they are doing, then ending the job");
  ask_and_end(signal);
}

void Job::report() {
  say("SIGUSR1 came: asking the PEs what they are doing");
  hub_events_.ask_activity(hub_);
}

// Nobody is left to pass this process's exit code on, but somebody may still read its words.
void Job::end_without_guardian() {
  say("its first process was killed; ending the job");
  decide(kExitSignalBase + SIGKILL);
  kill_pes();
}

void Job::take_ends() {
  ends_.add(hub_events_.take_aborts());
  ChildProcess::reap_ended();
  for (const auto& crew : crews_) let(*crew, [this](Crew& c) { add(c.take_ends()); });
  const auto batch = ends_.take(crews_);
  if (!batch) return;
  if (!batch->aborts.empty())  // the output of these PEs before that comes first
    for (const auto& crew : crews_) let(*crew, [](Crew& c) { c.serve(); });
  for (const PeEnd& end : batch->killed) note_end(end);
  for (const Abort& abort : batch->aborts) note_abort(abort);
  for (const PeEnd& end : batch->others) note_end(end);
}

void Job::add(std::vector<PeEnd> ends) {
  for (const PeEnd& end : ends) ends_of_pes_.try_emplace(end.pe, trace::now_ns());
  ends_.add(std::move(ends));
}

void Job::note_abort(const Abort& abort) {
  const bool was_said = repeated_.was_said(abort.why);
  if (was_said && exit_code_) return;  // the job ends already, and the user knows why
  say("PE " + std::to_string(abort.pe) + " ends the job with code " + std::to_string(abort.code) +
      (was_said ? "" : ": " + abort.why));
  decide(abort.code & 0xff);
  end_pes(SIGTERM);
}

void Job::note_end(const PeEnd& end) {
  hub_.tell_ended(end.pe, "its " + process_of(end) + " " + how_of(end));
  const int code = exit_code_of(end.status);
  if (code == 0 || kill_at_) return;
  const bool ends_others = !options_.keeps_going && is_any(&Crew::has_running_pes);
  say("PE " + std::to_string(end.pe) + " (" + process_of(end) + ") " + how_of(end) +
      (ends_others ? "; ending the others" : ""));
  decide(code);
  if (ends_others) end_pes(SIGTERM);
}

void Job::check_clock() {
  const auto now = Clock::now();
  if (limit_ && now >= *limit_) {
    limit_.reset();
    say("time limit of " + number(options_.time_limit_s) + " s reached; ending the job");
    decide(kExitTimeLimit);
    ask_and_end(SIGTERM);
  }
  if (kill_at_ && now >= *kill_at_) kill_pes();
}

// So that one that hangs says where. A PE may be unable to answer: it is not waited for long.
void Job::ask_and_end(int signal) {
  if (kill_at_) return;
  answer_by_ = Clock::now() + kAnswerTime;
  ending_signal_ = signal;
  hub_events_.ask_activity(hub_);
}

void Job::check_answers() {
  if (!answer_by_) return;
  if (!hub_events_.has_all_said() && Clock::now() < *answer_by_) return;
  end_pes(ending_signal_);
}

// Nobody reads what the job writes (chime-run ... | head): what a pipe does to a program, this does
// to the job. Other errors (a full disk) are said.
void Job::check_output() {
  if (!out_.is_closed() || kill_at_) return;
  if (out_.error() != EPIPE) {
    say(std::string("cannot write the job's output: ") + std::strerror(out_.error()) +
        "; ending the job");
    decide(kExitCannotWrite);
  }
  decide(kExitSignalBase + SIGPIPE);
  end_pes(SIGTERM);
}

void Job::decide(int exit_code) {
  if (!exit_code_) exit_code_ = exit_code;
}

void Job::end_pes(int signal) {
  answer_by_.reset();
  for (const auto& crew : crews_) crew->end(signal);
  if (!kill_at_) kill_at_ = Clock::now() + in_seconds(options_.grace_s);
}

void Job::kill_pes() {
  for (const auto& crew : crews_) crew->kill();
  kill_at_ = Clock::now() +
             in_seconds(0.1);  // once more, should one have escaped between fork and its group
}

void Job::on_output(int pe, Stream stream, std::string_view text) {
  if (lines_.empty()) return (stream == Stream::kOut ? out_ : err_).add(text);
  Lines& lines = stream == Stream::kOut ? lines_[pe].out : lines_[pe].err;
  text.empty() ? lines.finish() : lines.add(text);
}

void Job::finish_output() {
  for (const auto& crew : crews_) let(*crew, [](Crew& c) { c.read_rest(); });
  if (const int lines = repeated_.count(); lines > 0)
    say("left out " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
        " in which other PEs said the same (--no-prefix shows all)");
  out_.flush();
  check_output();
  err_.flush();
}

void Job::say(const std::string& text) { err_.add("chime-run: " + text + "\n"); }

bool Job::is_any(bool (Crew::*so)() const) const {
  return std::any_of(crews_.begin(), crews_.end(), [so](const auto& c) { return (*c.*so)(); });
}

std::optional<Clock::time_point> Job::next_event() const {
  auto next = earliest({limit_, answer_by_, kill_at_, ends_.next()});
  for (const auto& crew : crews_) next = earliest({next, crew->next()});
  return next;
}

}  // namespace chime::run
