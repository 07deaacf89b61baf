// A PE whose process makes children, in the way named on its command line, that call Chime or end.
// forked_child_test.py starts jobs of these and reads the output.
#define CHIME_HOST_ONLY
#include <chime/abi/context.h>
#include <chime/chime.h>
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" char** environ;

namespace {

using Clock = std::chrono::steady_clock;

// `pe`: the PE of the process that prints this, or of its parent.
void say(int pe, const std::string& text) {
  const std::string line = "PE " + std::to_string(pe) + " says " + text + "\n";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, line.data(), line.size());
}

std::string place(const void* memory) {
  if (!memory) return "nothing";
  const auto* at = static_cast<const std::byte*>(memory);
  return "heap + " + std::to_string(at - chime::context().pe.heap);
}

struct Job {
  int me, n;
  int* words;
};

// Makes every kind of call, and prints the result of each.
void make_all_calls(const Job& job, const std::string& who) {
  const int peer = (job.me + 1) % job.n;
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"malloc", [] { chime_malloc(64); }},
      {"calloc", [] { chime_calloc(1, 64); }},
      {"align", [] { chime_align(64, 64); }},
      {"free", [&] { chime_free(job.words); }},
      {"barrier_all", [] { chime_barrier_all(); }},
      {"sync_all", [] { chime_sync_all(); }},
      {"p", [&] { chime_int_p(job.words, 99, peer); }},
      {"g", [&] { chime_int_g(job.words, peer); }},
      {"put_nbi", [&] { chime_int_put_nbi(job.words, job.words, 1, peer); }},
      {"atomic_add", [&] { chime_int_atomic_add(job.words, 99, peer); }},
      {"wait_until", [&] { chime_int_wait_until(job.words, CHIME_CMP_EQ, 99); }},
      {"quiet", [] { chime_quiet(); }},
      {"fence", [] { chime_fence(); }},
      {"init", [] { chime_init(); }},
      {"init_attr", [] { chimex_init_attr(CHIMEX_INIT_WITH_LAUNCHER, nullptr); }},
      {"init_device", [] { chimex_init_device(); }},
      {"pe_bind", [&] { chimex_pe_bind(job.me); }},
      {"pe_status", [&] { chimex_host_pe_status(peer); }},
      {"register", [&] { chimex_buffer_register(const_cast<Job*>(&job), 8); }},
      {"finalize", [] { chime_finalize(); }},
      {"global_exit", [] { chime_global_exit(3); }},
  };
  for (const auto& [name, call] : calls) {
    chimex_clear_last_error();
    call();
    say(job.me, who + " " + name + ": " + chimex_last_error());
  }
  int major = 0, minor = 0;
  chime_info_get_version(&major, &minor);
  say(job.me, who + " is PE " + std::to_string(chime_my_pe()) + " of " +
                  std::to_string(chime_n_pes()) + ", status " +
                  std::to_string(chimex_init_status()) + ", version " +
                  (major == CHIME_SPEC_MAJOR ? "known" : "not known"));
}

pid_t fork_by_system_call() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

// Returns the exit status of a child that calls `act`.
int child_of(const std::function<pid_t()>& make, const std::function<void()>& act) {
  const pid_t child = make();
  if (child == 0) {
    act();
    exit(0);  // with its exit handlers and destructors
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Job join() {
  chime_init();
  Job job{chime_my_pe(), chime_n_pes(), nullptr};
  job.words = static_cast<int*>(chime_calloc(16, sizeof(int)));
  return job;
}

// The last PE comes late, so that a PE that does not wait for it shows; then all is as before.
void meet(const Job& job, const std::string& when) {
  chime_barrier_all();
  const auto begin = Clock::now();
  if (job.me == job.n - 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  void* const memory = chime_malloc(64);
  const bool waited = Clock::now() - begin > std::chrono::milliseconds(250);
  *job.words = -1;
  chime_barrier_all();
  chime_int_p(job.words, job.me, (job.me + 1) % job.n);
  chime_barrier_all();
  const bool came = *job.words == (job.me + job.n - 1) % job.n;
  say(job.me, when + " has " + place(memory) + (waited ? "" : ", met too soon") +
                  (came ? "" : ", got another's word"));
}

void leave(const Job& job) {
  chime_finalize();
  say(job.me, std::string("left: ") + chimex_last_error());
}

// The second child like the first: with all that the first left behind.
void forks_twice() {
  const Job job = join();
  for (const char* who : {"first", "second"}) {
    child_of(fork, [&] { make_all_calls(job, who); });
    meet(job, who);
  }
  leave(job);
}

void forks_a_child_that_forks() {
  const Job job = join();
  child_of(fork, [&] { child_of(fork, [&] { make_all_calls(job, "grandchild"); }); });
  meet(job, "then");
  leave(job);
}

void clones() {
  const Job job = join();
  child_of(fork_by_system_call, [&] {
    make_all_calls(job, "clone");
    _exit(0);  // fork()'s handlers have not run: its C library may hold locks
  });
  meet(job, "then");
  leave(job);
}

// As in most programs: with CHIME_ON_ERROR=exit.
void forks_a_child_that_allocates() {
  const Job job = join();
  const int code = child_of(fork, [] { chime_malloc(64); });
  say(job.me, "child ended with " + std::to_string(code));
  meet(job, "then");
  leave(job);
}

void starts_programs() {
  const Job job = join();
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  pid_t spawned = 0;
  posix_spawn(&spawned, name, nullptr, nullptr, arguments, environ);
  int status = -1;
  waitpid(spawned, &status, 0);
  say(job.me, "spawned ended with " + std::to_string(status));
  meet(job, "spawned");
  const pid_t child = vfork();
  if (child == 0) {
    execv(name, arguments);
    _exit(127);
  }
  waitpid(child, &status, 0);
  say(job.me, "vforked ended with " + std::to_string(status));
  meet(job, "vforked");
  leave(job);
}

// A process that is no longer a PE may have children that are PEs.
void forks_after_it_has_left() {
  const Job job = join();
  leave(job);
  child_of(fork, [] {
    const Job of_child = join();
    say(of_child.me, "child is PE " + std::to_string(of_child.me));
    leave(of_child);
  });
}

const std::map<std::string, void (*)()> kActs = {
    {"forks_twice", forks_twice},
    {"forks_a_child_that_forks", forks_a_child_that_forks},
    {"clones", clones},
    {"forks_a_child_that_allocates", forks_a_child_that_allocates},
    {"starts_programs", starts_programs},
    {"forks_after_it_has_left", forks_after_it_has_left},
};

}  // namespace

int main(int argc, char** argv) {
  const auto act = argc == 2 ? kActs.find(argv[1]) : kActs.end();
  if (act == kActs.end()) return 2;
  act->second();
}
