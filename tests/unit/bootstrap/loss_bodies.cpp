// PEs that die or leave early, and how the others learn of that.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <mutex>
#include <thread>

#include "body_parts.hpp"
#include "bootstrap/peer_watch.hpp"
#include "support/meet.hpp"

namespace chime::bootstrap::test {
namespace {

void a_killed_pe_ends_a_lookup(const Join& join) {
  auto job = join();
  meet(*job);
  if (job->rank() == job->size() - 1) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  std::string error;
  int code = CHIMEX_OK;
  const auto took = time_of(
      [&] { error = error_of([&] { job->lookup(job->size() - 1, "never", soon()); }, &code); });
  check(took < 30s, "noticed too late");
  check(code == CHIMEX_ERR_PEER_DEAD, "the code is not that of a dead peer");
  check_mentions(error, "gone");
  // Programs may have other names for its calls.
  check(error.find("chime_") == std::string::npos, "'" + error + "' names a call of Chime's");
}

// Under PMIx later joinings meet in another way than the first.
std::unique_ptr<Bootstrap> join_again(const Join& join) {
  meet(*join());
  return join();
}

void a_killed_pe_of_a_second_joining_ends_a_lookup(const Join& join) {
  a_killed_pe_ends_a_lookup([&] { return join_again(join); });
}

// It may hold the hub by which the others meet.
void a_killed_pe_0_of_a_second_joining_is_named(const Join& join) {
  const auto job = join_again(join);
  meet(*job);
  if (job->rank() == 0) {
    for (int other = 1; other < job->size(); other++) job->lookup(other, "met", soon());
    raise(SIGKILL);
  }
  std::string error;
  int code = CHIMEX_OK;
  const auto publish_and_look = [&] {  // the answer to the first call may go with PE 0
    job->publish("met", {});
    job->lookup(0, "never", soon());
  };
  const auto took = time_of([&] { error = error_of(publish_and_look, &code); });
  check(took < 30s, "noticed too late");
  check(code == CHIMEX_ERR_PEER_DEAD, "the code is not that of a dead peer");
  check_mentions(error, "PE 0");
  check_mentions(error, "gone");
  for (const auto end = soon(); job->why_lost(0).empty(); std::this_thread::sleep_for(10ms))
    check(Clock::now() < end, "no report that PE 0 is gone");
}

// A launcher knows it; a hub that starts afterwards does not.
void a_killed_pe_is_told_in_the_next_joining(const Join& join) {
  std::promise<void> told;
  auto job = join();
  meet(*job);
  const int victim = job->size() - 1;
  if (job->rank() == victim) raise(SIGKILL);
  if (std::getenv("PMIX_RANK") == nullptr) return;
  for (const auto end = soon(); job->why_lost(victim).empty(); std::this_thread::sleep_for(10ms))
    check(Clock::now() < end, "not told that a PE is gone");
  job.reset();
  job = join();
  job->on_peer_lost([&](int pe, const std::string&) {
    if (pe == victim) told.set_value();
  });
  check(told.get_future().wait_for(30s) == std::future_status::ready, "no second report");
  check(!job->why_lost(victim).empty(), "the news is lost");
  // PE 0 holds the hub, and leaves last.
  if (job->rank() != 0) job->publish("told", {});
  for (int other = 1; other < victim && job->rank() == 0; other++)
    job->lookup(other, "told", soon());
  job->on_peer_lost(nullptr);
}

void a_killed_pe_is_seen_by_the_process_watch(const Join& join) {
  auto job = join();
  std::promise<std::pair<int, std::string>> promise;
  std::once_flag once;
  PeerWatch watch(*job, {}, [&](int pe, std::string how) {
    std::call_once(once, [&] { promise.set_value({pe, std::move(how)}); });
  });
  meet(*job);
  if (job->rank() == job->size() - 1) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  auto lost = promise.get_future();
  check(lost.wait_for(60s) == std::future_status::ready, "noticed too late");
  const auto [pe, how] = lost.get();
  check(pe == job->size() - 1, "the wrong PE was blamed");
  check_mentions(how, "process watch");
  // No PE ends before all have noticed: a watch that sees two ends at once may report either first.
  job->publish("noticed", {});
  for (int other = 0; other < job->size() - 1; other++) job->lookup(other, "noticed", soon());
}

// The last PE joins and dies; PE 0 is there, and the PEs between come after both.
void a_killed_pe_is_told_to_those_that_join_later(const Join& join) {
  const char* me = std::getenv("CHIME_RUN_PE");
  if (me != nullptr && std::atoi(me) == 1) std::this_thread::sleep_for(1s);
  auto job = join();
  if (job->rank() == 0) job->publish("is there", {});
  const int victim = job->size() - 1;
  if (job->rank() == victim) {
    job->lookup(0, "is there", soon());
    raise(SIGKILL);
  }
  std::string why;
  for (const auto end = soon(); why.empty() && Clock::now() < end;) {
    why = job->why_lost(victim);
    std::this_thread::sleep_for(10ms);
  }
  check(!why.empty(), "not told that a PE is gone");
}

// The child that it leaves behind, made by fork() without exec as in Python's multiprocessing, has
// copies of its sockets.
void a_killed_pe_is_told_though_its_child_lives(const Join& join) {
  auto job = join();
  const int victim = job->size() - 1;
  if (job->rank() == victim) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      pause();
      _exit(0);
    }
    job->publish("child", std::as_bytes(std::span(&child, 1)));
    meet(*job);
    raise(SIGKILL);
  }
  const auto published = job->lookup(victim, "child", soon());
  pid_t child;
  std::memcpy(&child, published.data(), sizeof child);
  meet(*job);
  const std::string error = error_of([&] { job->lookup(victim, "never", soon()); });
  const bool child_lives = kill(child, 0) == 0;
  if (job->rank() == 0) kill(child, SIGKILL);
  check(error.find("PE " + std::to_string(victim) + " is gone") != std::string::npos, error);
  check(job->rank() != 0 || child_lives, "the child has ended: nothing was tried");
}

void an_early_leaver_is_not_reported(const Join& join) {
  auto job = join();
  std::atomic<int> told{0};
  auto watch = std::make_unique<PeerWatch>(*job, std::vector<KnownLocalPeer>{},
                                           [&](int, const std::string&) { told++; });
  meet(*job);
  watch->say_goodbye();
  meet(*job);
  if (job->rank() == job->size() - 1) return;  // its process ends now; the others leave later
  std::this_thread::sleep_for(1500ms);
  check(told == 0, "a PE that left cleanly was reported lost");
}

// PMIx launchers are queried for lost PEs: the answer is awaited, but not for ever.
void a_stopped_launcher_keeps_nobody_who_asks_for_losses(const Join& join) {
  auto job = join();
  meet(*job);
  if (std::getenv("PMIX_RANK") != nullptr && job->rank() == 0) {
    const pid_t launcher = getppid();
    std::promise<void> have_asked;
    std::thread helper([launcher, done = have_asked.get_future()] {
      done.wait_for(30s);
      kill(launcher, SIGCONT);
    });
    kill(launcher, SIGSTOP);
    const auto took = time_of([&] {
      for (int i = 0; i < 20; ++i) job->why_lost(1);
    });
    have_asked.set_value();
    helper.join();
    check(took < 30s, "waited for a launcher that is stopped");
  }
  meet(*job);
  check(job->why_lost(1).empty(), "a PE that lives is reported lost");
  meet(*job);
}

// A child that prints whether this process ends while its launcher is stopped, and then continues
// the launcher.
void watch_my_end(pid_t launcher) {
  const pid_t me = getpid();
  if (fork() != 0) return;
  const auto limit = Clock::now() + 90s;  // longer than the body may wait, and then end
  while (getppid() == me && Clock::now() < limit) std::this_thread::sleep_for(10ms);
  std::fprintf(stderr, getppid() == me ? "FAILED: a PE waits for its launcher to end\n"
                                       : "the PE has ended without its launcher\n");
  kill(launcher, SIGCONT);
  _exit(0);
}

// Also its threads on other processors, which handle the signal a little later.
void stop_all_of(pid_t process) {
  namespace fs = std::filesystem;
  const auto stands = [](const fs::directory_entry& thread) {
    std::ifstream stat(thread.path() / "stat");
    const std::string text((std::istreambuf_iterator<char>(stat)), {});
    return text.find(") T ") != std::string::npos;
  };
  kill(process, SIGSTOP);
  const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
  while (!std::all_of(fs::directory_iterator(threads), {}, stands))
    std::this_thread::sleep_for(1ms);
}

// In its first joining: later keys bypass the launcher.
void a_stopped_launcher_keeps_nobody_who_publishes_or_ends(const Join&) {
  if (std::getenv("PMIX_RANK") == nullptr) return;
  const auto hasty = make_bootstrap({.timeout = 8s});
  meet(*hasty);
  if (hasty->rank() != 0) return;
  watch_my_end(getppid());
  stop_all_of(getppid());
  int code = CHIMEX_OK;
  const auto took = time_of([&] {
    check_mentions(error_of([&] { hasty->publish("endpoint_info", {}); }, &code),
                   "has not answered");
  });
  check(code == CHIMEX_ERR_TIMEOUT, "the code is not that of a time that is over");
  check(took >= 8s && took < 60s, "the time that it waited is not the one that was set");
}

}  // namespace

std::vector<Body> loss_bodies() {
  return {CHIME_BODY(a_killed_pe_ends_a_lookup),
          CHIME_BODY(a_killed_pe_of_a_second_joining_ends_a_lookup),
          CHIME_BODY(a_killed_pe_0_of_a_second_joining_is_named),
          CHIME_BODY(a_killed_pe_is_told_in_the_next_joining),
          CHIME_BODY(a_killed_pe_is_seen_by_the_process_watch),
          CHIME_BODY(a_killed_pe_is_told_to_those_that_join_later),
          CHIME_BODY(a_killed_pe_is_told_though_its_child_lives),
          CHIME_BODY(an_early_leaver_is_not_reported),
          CHIME_BODY(a_stopped_launcher_keeps_nobody_who_asks_for_losses),
          CHIME_BODY(a_stopped_launcher_keeps_nobody_who_publishes_or_ends)};
}

}  // namespace chime::bootstrap::test
