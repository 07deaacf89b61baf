#include "job.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "guardian.hpp"
#include "processes.hpp"

namespace chime::run {
namespace {

constexpr std::chrono::seconds kAnswerTime{2};

// All that the guardian passes on, its death, and the ends of children. Blocked by the guardian
// before the fork.
net::Descriptor open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal :
       {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, guardian_died_signal()})
    sigaddset(&set, signal);
  return net::Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(s));
}

std::string number(double s) {
  auto text = std::to_string(s);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Which limit to raise, for the errors that a job's size brings.
std::string advice_for(const std::error_code& error) {
  if (error == std::errc::too_many_files_open)
    return " (chime-run needs some descriptors for each PE; raise the limit: ulimit -n)";
  if (error == std::errc::resource_unavailable_try_again)
    return " (raise the limit on processes: ulimit -u)";
  return "";
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      signals_(open_signals()),
      abort_wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      hub_(
          options.n_pes,
          [this](int pe, int code, std::string why) {
            std::lock_guard lock(abort_mutex_);
            aborts_.push_back({pe, code, std::move(why)});
            eventfd_write(abort_wake_.get(), 1);
          },
          [](const std::string& line) { std::fprintf(stderr, "chime-run: %s\n", line.c_str()); }),
      out_(STDOUT_FILENO),
      err_(STDERR_FILENO) {}

int Job::run() {
  adopt_orphans();
  if (options_.time_limit_s > 0) limit_ = Clock::now() + seconds(options_.time_limit_s);
  if (start()) {
    while (is_anyone_running()) {
      wait_for_work();
      take_signals();
      take_ends();
      check_clock();
      check_answers();
      check_output();
    }
  }
  kill_all_descendants();
  for (Source& source : sources_) source.read_rest();
  if (const int lines = repeated_.count(); lines > 0)
    say("left out " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
        " in which other PEs said the same (--no-prefix shows all)");
  out_.flush();
  check_output();
  err_.flush();
  return exit_code_.value_or(0);
}

// Returns false, with nobody running, if not all PEs could be started.
bool Job::start() {
  if (start_pes() && all_could_run()) return true;
  kill_pes();
  return false;
}

bool Job::start_pes() {
  const net::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<cpu_set_t> places = this->places();
  try {
    for (int pe = 0; pe < options_.n_pes; pe++) {
      const auto environment = hub_.environment_of(pe);
      const int input = pe == 0 ? input_of_pe_0() : nothing.get();
      pes_.emplace_back(
          Start{options_.command, environment, input, options_.has_prefix,
                places.empty() ? nullptr : &places[static_cast<std::size_t>(pe) % places.size()]});
      if (!options_.has_prefix) continue;
      const auto prefix = "[" + std::to_string(pe) + "] ";
      sources_.emplace_back(pes_.back().output().get(), prefix, out_);
      sources_.emplace_back(pes_.back().errors().get(), prefix, err_, filter_of(pe));
    }
    return true;
  } catch (const std::system_error& e) {
    say("cannot start PE " + std::to_string(pes_.size()) + ": " + e.what() + advice_for(e.code()));
    decide(kExitCannotRun);
    return false;
  }
}

// Those that keep going are told apart by who said what.
Source::Filter Job::filter_of(int pe) {
  if (options_.keeps_going) return nullptr;
  return [this, pe](std::string_view line) { return repeated_.is_left_out(pe, line); };
}

bool Job::all_could_run() {
  for (PeProcess& pe : pes_) {
    const int error = pe.exec_error();
    if (!error) continue;
    say("cannot run '" + options_.command[0] + "': " + std::strerror(error));
    decide(error == ENOENT ? kExitNotFound : kExitCannotRun);
    return false;
  }
  return true;
}

// Of those that this process may use itself.
std::vector<cpu_set_t> Job::places() const {
  cpu_set_t allowed;
  if (!options_.binding || sched_getaffinity(0, sizeof allowed, &allowed)) return {};
  return topology::cpu_places(*options_.binding, allowed);
}

void Job::wait_for_work() {
  std::vector<pollfd> polled = {{signals_.get(), POLLIN, 0}, {abort_wake_.get(), POLLIN, 0}};
  for (Sink* sink : {&out_, &err_})
    if (sink->has_waiting()) polled.push_back({sink->fd(), POLLOUT, 0});
  for (const Source& source : sources_)
    if (!source.has_ended() && !source.sink().is_full()) polled.push_back({source.fd(), POLLIN, 0});

  int wait_ms = -1;
  if (const auto next = next_event()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    wait_ms = static_cast<int>(std::clamp<long long>(left, 0, 60'000));
  }
  poll(polled.data(), polled.size(), wait_ms);

  for (Source& source : sources_) source.read_some();
  out_.write_some();
  err_.write_some();
}

void Job::take_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info)
    take_signal(static_cast<int>(info.ssi_signo));
}

void Job::take_signal(int signal) {
  if (signal == SIGCHLD) return;  // reap_pes looks in every round
  if (signal == guardian_died_signal()) return end_without_guardian();
  if (signal == SIGUSR1) report();
  if (signal == SIGUSR1 || signal == SIGUSR2) return pass_to_listeners(signal);
  end_by_signal(signal);
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
  ask_what_pes_do();
}

// Others would end by it.
void Job::pass_to_listeners(int signal) {
  for (const PeProcess& pe : pes_)
    if (pe.is_running() && listens_to(pe.pid(), signal)) pe.send(signal);
}

// Nobody is left to pass this process's exit code on, but somebody may still read its words.
void Job::end_without_guardian() {
  say("its first process was killed; ending the job");
  decide(kExitSignalBase + SIGKILL);
  kill_pes();
}

// A PE that was killed makes others end, and end the job, within a millisecond, and the system does
// not tell in which order: of what is seen together, the killed are named first. Aborts are taken
// before the look at the processes, so that whoever was killed before one was sent is seen with it.
void Job::take_ends() {
  const std::vector<Abort> aborts = take_aborts();
  std::vector<int> ended = reap_pes();
  const auto others = std::stable_partition(
      ended.begin(), ended.end(), [this](int pe) { return WIFSIGNALED(*pes_[pe].status()); });
  if (!aborts.empty())  // what they said before comes first
    for (Source& source : sources_) source.read_some();
  std::for_each(ended.begin(), others, [this](int pe) { note_end(pe); });
  for (const Abort& abort : aborts) note_abort(abort);
  std::for_each(others, ended.end(), [this](int pe) { note_end(pe); });
}

std::vector<Job::Abort> Job::take_aborts() {
  eventfd_t count;
  eventfd_read(abort_wake_.get(), &count);
  std::lock_guard lock(abort_mutex_);
  return std::exchange(aborts_, {});
}

void Job::note_abort(const Abort& abort) {
  const bool was_said = repeated_.was_said(abort.why);
  if (was_said && exit_code_) return;  // the job ends already, and the user knows why
  say("PE " + std::to_string(abort.pe) + " ends the job with code " + std::to_string(abort.code) +
      (was_said ? "" : ": " + abort.why));
  decide(abort.code & 0xff);
  end_pes(SIGTERM);
}

// Whoever ended before one of a round has ended when the next round looks.
std::vector<int> Job::reap_pes() {
  std::vector<int> ended;
  for (auto round = reap_round(); !round.empty(); round = reap_round())
    ended.insert(ended.end(), round.begin(), round.end());
  return ended;
}

std::vector<int> Job::reap_round() {
  std::vector<int> ended;
  for (int pe = 0; pe < static_cast<int>(pes_.size()); pe++)
    if (pes_[pe].has_just_ended()) ended.push_back(pe);
  return ended;
}

void Job::note_end(int pe) {
  const int status = *pes_[pe].status();
  hub_.tell_ended(pe, "its process " + describe_end(status));
  const int code = exit_code_of(status);
  if (code == 0 || kill_at_) return;
  const bool ends_others = !options_.keeps_going && is_anyone_running();
  say("PE " + std::to_string(pe) + " (process " + std::to_string(pes_[pe].pid()) + ") " +
      describe_end(status) + (ends_others ? "; ending the others" : ""));
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
  ask_what_pes_do();
}

void Job::ask_what_pes_do() {
  {
    std::lock_guard lock(abort_mutex_);
    all_have_said_ = false;
  }
  hub_.ask_activity([this] {
    std::lock_guard lock(abort_mutex_);
    all_have_said_ = true;
    eventfd_write(abort_wake_.get(), 1);
  });
}

void Job::check_answers() {
  if (!answer_by_) return;
  {
    std::lock_guard lock(abort_mutex_);
    if (!all_have_said_ && Clock::now() < *answer_by_) return;
  }
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
  for (const PeProcess& pe : pes_)
    pe.send(signal), pe.send(SIGCONT);  // a stopped process must see it, too
  if (!kill_at_) kill_at_ = Clock::now() + seconds(options_.grace_s);
}

void Job::kill_pes() {
  for (const PeProcess& pe : pes_) pe.send(SIGKILL);
  kill_at_ =
      Clock::now() + seconds(0.1);  // once more, should one have escaped between fork and its group
}

void Job::say(const std::string& text) { err_.add("chime-run: " + text + "\n"); }

bool Job::is_anyone_running() const {
  return std::any_of(pes_.begin(), pes_.end(), [](const PeProcess& pe) { return pe.is_running(); });
}

std::optional<Job::Clock::time_point> Job::next_event() const {
  std::optional<Clock::time_point> next;
  for (const auto& event : {limit_, answer_by_, kill_at_})
    if (event && (!next || *event < *next)) next = event;
  return next;
}

}  // namespace chime::run
