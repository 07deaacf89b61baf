#include "host/report/dump_on_signal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bootstrap/process_stat.hpp"
#include "chime/abi/start_thread.h"
#include "host/errors/error.hpp"
#include "host/pe/pe.hpp"
#include "host/report/activity.hpp"
#include "net/socket/descriptor.hpp"
#include "net/socket/fork.hpp"

namespace chime::host {
namespace {

constexpr pid_t kEnd = -1;  // no process has it

// Handlers write which process asks, the thread reads. It is never closed: a handler may be about
// to write.
struct Questions {
  net::Descriptor read, write;
  pid_t owner = 0;
};

Questions make_questions() {
  int ends[2] = {-1, -1};
  Questions made;
  made.read =
      net::opened_for_this_process([&] { return pipe2(ends, O_CLOEXEC) == 0 ? ends[0] : -1; });
  if (!made.read) throw system_error("SIGUSR1", "no pipe");
  made.write = net::opened_for_this_process([&] { return ends[1]; });
  fcntl(ends[1], F_SETFL, O_NONBLOCK);  // a process that asks too often is not heard
  made.owner = getpid();
  return made;
}

std::atomic<const Questions*> questions{nullptr};

bool ask(pid_t asker) {
  const int to = questions.load(std::memory_order_acquire)->write.get();
  return write(to, &asker, sizeof asker) == sizeof asker;
}

// In a handler nothing is allowed but to pass it on. A child of fork() is no PE: it ends, as it
// would have without Chime.
void on_signal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  if (questions.load(std::memory_order_acquire)->owner == getpid()) {
    ask(info->si_pid);
  } else {
    std::signal(signal, SIG_DFL);
    raise(signal);
  }
  errno = saved;
}

// chime-run passes the signal to all processes that take it, and asks its PEs by their connection:
// those PEs have answered. chime-run is the parent of the group that its PE's processes are in.
bool is_asked_otherwise(const Runtime& runtime, pid_t asker) {
  const auto first = bootstrap::stat_of_process(getpgrp());
  return runtime.bootstrap->asks_for_activity() && first && first->parent == asker;
}

void answer(pid_t asker) {
  std::vector<int> pes;
  for_each_pe([&](PeSlot& slot) {
    if (!is_asked_otherwise(*slot.runtime, asker)) pes.push_back(slot.pe);
  });
  for (const int pe : pes) say_activity(pe);
}

void answer_questions() {
  pid_t asker = kEnd;
  const int from = questions.load(std::memory_order_relaxed)->read.get();
  while (read(from, &asker, sizeof asker) == sizeof asker && asker != kEnd) answer(asker);
}

bool is_the_systems() {
  struct sigaction now;
  return sigaction(SIGUSR1, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == SIG_DFL;
}

bool is_ours() {
  struct sigaction now;
  return sigaction(SIGUSR1, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
         now.sa_sigaction == on_signal;
}

// While the process has PEs.
class Answers {
 public:
  Answers() : thread_(abi::start_thread(answer_questions)) {
    struct sigaction ours {};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGUSR1, &ours, nullptr);
  }
  ~Answers() {
    if (is_ours()) std::signal(SIGUSR1, SIG_DFL);
    while (!ask(kEnd)) std::this_thread::yield();  // it reads what is before
    thread_.join();
  }

 private:
  std::thread thread_;
};

struct All {
  std::mutex mutex;
  int pes = 0;
  std::optional<Answers> answers;
};

// Never destroyed: PEs may be there while the process ends.
All& all() {
  static auto* const the_only = new All;
  return *the_only;
}

}  // namespace

DumpOnSignal::DumpOnSignal() {
  const std::lock_guard lock(all().mutex);
  if (++all().pes != 1 || !is_the_systems()) return;
  // A child of a process that has left has its pipe's numbers, and not its pipe.
  const Questions* const made = questions.load(std::memory_order_relaxed);
  if (!made || made->owner != getpid())
    questions.store(new Questions(make_questions()), std::memory_order_release);
  all().answers.emplace();
}

DumpOnSignal::~DumpOnSignal() {
  const std::lock_guard lock(all().mutex);
  if (--all().pes == 0) all().answers.reset();
}

}  // namespace chime::host
