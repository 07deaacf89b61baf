#include "bodies.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>
#include <mutex>
#include <numeric>
#include <thread>

#include "bootstrap/peer_watch.hpp"

namespace chime::bootstrap::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Deadline soon() { return Clock::now() + 30s; }

void check(bool good, const std::string& what) {
  if (!good) throw Failure(what);
}

Bytes bytes_of(const std::string& text) {
  auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

std::string card_of(int pe) { return "card of PE " + std::to_string(pe); }

// What `call` throws, and its code; fails if it throws nothing.
template <class Call>
std::string error_of(Call call, int* code = nullptr) {
  try {
    call();
  } catch (const BootstrapError& e) {
    if (code) *code = e.code();
    return e.what();
  }
  throw Failure("no error where one is due");
}

void check_mentions(const std::string& text, const std::string& word) {
  check(text.find(word) != std::string::npos, "'" + text + "' does not mention '" + word + "'");
}

template <class Call>
Clock::duration time_of(Call call) {
  const auto begin = Clock::now();
  call();
  return Clock::now() - begin;
}

void lookup_finds_what_was_published(const Join& join) {
  auto job = join();
  job->publish("card", bytes_of(card_of(job->rank())));
  job->barrier(soon());
  for (int pe = 0; pe < job->size(); pe++)
    check(job->lookup(pe, "card", soon()) == bytes_of(card_of(pe)),
          "wrong card of PE " + std::to_string(pe));
  job->barrier(soon());
}

void lookup_waits_for_a_late_publish(const Join& join) {
  auto job = join();
  job->publish("first", bytes_of("x"));  // having published anything must not end the wait
  const int next = (job->rank() + 1) % job->size();
  auto found = std::async(std::launch::async, [&] { return job->lookup(next, "late", soon()); });
  std::this_thread::sleep_for(200ms + 50ms * job->rank());
  job->publish("late", bytes_of(card_of(job->rank())));
  check(found.get() == bytes_of(card_of(next)), "wrong late card");
  job->barrier(soon());
}

void lookup_waits_for_a_late_pe(const Join& join) {
  if (const char* pe = getenv("PMIX_RANK") ? getenv("PMIX_RANK") : getenv("CHIME_RUN_PE");
      pe && *pe != '0')
    std::this_thread::sleep_for(300ms);
  auto job = join();
  job->publish("card", bytes_of(card_of(job->rank())));
  for (int pe = 0; pe < job->size(); pe++)
    check(job->lookup(pe, "card", soon()) == bytes_of(card_of(pe)),
          "wrong card of PE " + std::to_string(pe));
  job->barrier(soon());
}

void lookup_ends_at_its_deadline_and_names_what_it_waited_for(const Join& join) {
  auto job = join();
  const int next = (job->rank() + 1) % job->size();
  std::string error;
  const auto took =
      time_of([&] { error = error_of([&] { job->lookup(next, "never", Clock::now() + 400ms); }); });
  check_mentions(error, "'never'");
  check_mentions(error, "PE " + std::to_string(next));
  check(took > 350ms || job->size() == 1, "gave up too early");
  check(took < 5s, "gave up too late");
  job->barrier(soon());
}

void lookup_without_waiting_answers_at_once(const Join& join) {
  auto job = join();
  job->publish("there", bytes_of("x"));
  job->barrier(soon());
  const int next = (job->rank() + 1) % job->size();
  check(job->lookup(next, "there", Clock::now()) == bytes_of("x"), "not found");
  const auto took =
      time_of([&] { error_of([&] { job->lookup(next, "not there", Clock::now()); }); });
  check(took < 900ms, "waited");
  job->barrier(soon());
}

void lookup_of_no_pe_is_an_error(const Join& join) {
  auto job = join();
  check_mentions(error_of([&] { job->lookup(job->size(), "card", soon()); }), "PEs 0 to");
  check_mentions(error_of([&] { job->lookup(-1, "card", soon()); }), "PEs 0 to");
  job->barrier(soon());
}

void barrier_holds_until_the_last_has_entered(const Join& join) {
  auto job = join();
  job->barrier(soon());
  const int late = job->size() - 1;
  for (int round = 0; round < 3; round++) {
    if (job->rank() == late) std::this_thread::sleep_for(150ms);
    const auto took = time_of([&] { job->barrier(soon()); });
    check(job->rank() == late || took > 100ms, "left the barrier before the last PE entered");
  }
}

void all_values_survive(const Join& join) {
  auto job = join();
  const auto me = static_cast<std::byte>(job->rank());
  const std::size_t sizes[] = {0, 1, 255, 4096, 65536, 300'000};
  for (auto size : sizes) {
    Bytes value(size);
    for (std::size_t i = 0; i < size; i++) value[i] = static_cast<std::byte>(i * 7) ^ me;
    job->publish("size/" + std::to_string(size), value);
  }
  for (int pe = 0; pe < job->size(); pe++) {
    for (auto size : sizes) {
      const auto value = job->lookup(pe, "size/" + std::to_string(size), soon());
      bool is_same = value.size() == size;
      for (std::size_t i = 0; is_same && i < size; i++)
        is_same = value[i] == (static_cast<std::byte>(i * 7) ^ static_cast<std::byte>(pe));
      check(is_same, "the value of " + std::to_string(size) + " bytes has changed on the way");
    }
  }
  if (job->size() > 1)
    check_mentions(error_of([&] { job->publish("huge", Bytes(kMaxValueBytes + 1)); }), "at most");
  job->barrier(soon());
}

void the_secret_is_shared_and_not_trivial(const Join& join) {
  auto job = join();
  const auto secret = job->job_secret();
  check(secret.size() >= 16, "too short");
  check(secret != Bytes(secret.size()), "all zero");
  check(job->job_secret() == secret, "changes");
  job->publish("secret", secret);  // only a test does that
  job->publish("id", bytes_of(job->job_id()));
  for (int pe = 0; pe < job->size(); pe++) {
    check(job->lookup(pe, "secret", soon()) == secret, "secrets differ");
    check(job->lookup(pe, "id", soon()) == bytes_of(job->job_id()), "job ids differ");
  }
  check(!job->job_id().empty() && !job->describe().empty(), "nameless");
  job->barrier(soon());
}

void node_peers_are_all_pes_of_this_machine(const Join& join) {
  auto job = join();
  std::vector<int> all(static_cast<std::size_t>(job->size()));
  std::iota(all.begin(), all.end(), 0);
  check(job->node_peers() == all, "not all PEs of the machine");
  job->barrier(soon());
}

void many_threads_may_call(const Join& join) {
  auto job = join();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      const auto key = "thread " + std::to_string(t);
      try {
        job->publish(key, bytes_of(card_of(job->rank()) + key));
        for (int pe = 0; pe < job->size(); pe++)
          wrong += job->lookup(pe, key, soon()) != bytes_of(card_of(pe) + key);
      } catch (const BootstrapError&) {
        wrong++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  check(wrong == 0, "wrong or missing cards");
  job->barrier(soon());
}

void a_second_joining_does_not_see_the_first(const Join& join) {
  {
    auto first = join();
    first->publish("old", bytes_of("old"));
    first->barrier(soon());
  }
  auto second = join();
  const int next = (second->rank() + 1) % second->size();
  error_of([&] { second->lookup(next, "old", Clock::now() + 50ms); });
  second->publish("new", bytes_of("new"));
  check(second->lookup(next, "new", soon()) == bytes_of("new"), "not found");
  second->barrier(soon());
}

void a_goodbye_is_not_a_death(const Join& join) {
  auto job = join();
  std::atomic<int> told{0};
  {
    PeerWatch watch(*job, {}, [&](int, const std::string&) { told++; });
    job->barrier(soon());
    watch.say_goodbye();
    job->barrier(soon());
  }
  job.reset();
  check(told == 0, "a PE that left cleanly was reported lost");
}

void a_barrier_ends_at_its_deadline(const Join& join) {
  auto job = join();
  job->barrier(soon());
  if (job->rank() == 0) {
    for (int pe = 1; pe < job->size(); pe++) job->lookup(pe, "gave up", soon());
    // It comes too late, and is told so at once: nobody waits there any more.
    std::string too_late;
    const auto waited = time_of([&] { too_late = error_of([&] { job->barrier(soon()); }); });
    check(waited < 5s, "the late PE waited");
    check_mentions(too_late, "gave up");
    return;
  }
  std::string error;
  const auto took = time_of([&] { error = error_of([&] { job->barrier(Clock::now() + 1s); }); });
  check(took > 900ms && took < 10s, "did not keep to the deadline");
  check_mentions(error, "barrier");
  check_mentions(error_of([&] { job->barrier(soon()); }), "earlier barrier");
  job->publish("gave up", {});
}

void a_killed_pe_breaks_the_barrier(const Join& join) {
  auto job = join();
  job->barrier(soon());
  if (job->rank() == job->size() - 1) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  std::string error;
  int code = CHIMEX_OK;
  const auto took = time_of([&] { error = error_of([&] { job->barrier(soon()); }, &code); });
  check(took < 10s, "noticed too late");
  check(code == CHIMEX_ERR_PEER_DEAD, "the code is not that of a dead peer");
  check_mentions(error, "gone");
  check_mentions(error, "PE " + std::to_string(job->size() - 1));
}

void a_killed_pe_ends_a_lookup(const Join& join) {
  auto job = join();
  job->barrier(soon());
  if (job->rank() == job->size() - 1) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  std::string error;
  int code = CHIMEX_OK;
  const auto took = time_of(
      [&] { error = error_of([&] { job->lookup(job->size() - 1, "never", soon()); }, &code); });
  check(took < 10s, "noticed too late");
  check(code == CHIMEX_ERR_PEER_DEAD, "the code is not that of a dead peer");
  check_mentions(error, "gone");
}

void a_killed_pe_is_seen_by_the_process_watch(const Join& join) {
  auto job = join();
  std::promise<std::pair<int, std::string>> promise;
  std::once_flag once;
  PeerWatch watch(*job, {}, [&](int pe, std::string how) {
    std::call_once(once, [&] { promise.set_value({pe, std::move(how)}); });
  });
  job->barrier(soon());
  if (job->rank() == job->size() - 1) {
    std::this_thread::sleep_for(200ms);
    raise(SIGKILL);
  }
  auto lost = promise.get_future();
  check(lost.wait_for(10s) == std::future_status::ready, "noticed too late");
  const auto [pe, how] = lost.get();
  check(pe == job->size() - 1, "the wrong PE was blamed");
  check_mentions(how, "process watch");
  // Nobody ends before all have noticed: a watch that sees two ends at once may tell either first.
  job->publish("noticed", {});
  for (int other = 0; other < job->size() - 1; other++) job->lookup(other, "noticed", soon());
}

// The last PE joins and dies; PE 0 is there, and the PEs between come when it is all over.
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

// The child that it leaves behind, of fork() without exec as Python's multiprocessing makes, has
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
    job->barrier(soon());
    raise(SIGKILL);
  }
  const auto published = job->lookup(victim, "child", soon());
  pid_t child;
  std::memcpy(&child, published.data(), sizeof child);
  job->barrier(soon());
  const std::string error = error_of([&] { job->barrier(soon()); });
  const bool child_lives = kill(child, 0) == 0;
  if (job->rank() == 0) kill(child, SIGKILL);
  check(error.find("PE " + std::to_string(victim) + " is gone") != std::string::npos, error);
  check(job->rank() != 0 || child_lives, "the child has ended: nothing was tried");
}

void an_early_leaver_is_not_reported(const Join& join) {
  auto job = join();
  std::atomic<int> told{0};
  auto watch = std::make_unique<PeerWatch>(*job, std::vector<KnownMate>{},
                                           [&](int, const std::string&) { told++; });
  job->barrier(soon());
  watch->say_goodbye();
  job->barrier(soon());
  if (job->rank() == job->size() - 1) return;  // its process ends now; the others are slow to leave
  std::this_thread::sleep_for(1500ms);
  check(told == 0, "a PE that left cleanly was reported lost");
}

}  // namespace

#define BODY(name) \
  { #name, name }

const std::vector<Body>& bodies() {
  static const std::vector<Body> all = {
      BODY(lookup_finds_what_was_published),
      BODY(lookup_waits_for_a_late_publish),
      BODY(lookup_waits_for_a_late_pe),
      BODY(lookup_ends_at_its_deadline_and_names_what_it_waited_for),
      BODY(lookup_without_waiting_answers_at_once),
      BODY(lookup_of_no_pe_is_an_error),
      BODY(barrier_holds_until_the_last_has_entered),
      BODY(all_values_survive),
      BODY(the_secret_is_shared_and_not_trivial),
      BODY(node_peers_are_all_pes_of_this_machine),
      BODY(many_threads_may_call),
      BODY(a_second_joining_does_not_see_the_first),
      BODY(a_goodbye_is_not_a_death),
  };
  return all;
}

const std::vector<Body>& last_bodies() {
  static const std::vector<Body> all = {
      BODY(a_barrier_ends_at_its_deadline),
      BODY(a_killed_pe_breaks_the_barrier),
      BODY(a_killed_pe_ends_a_lookup),
      BODY(a_killed_pe_is_seen_by_the_process_watch),
      BODY(an_early_leaver_is_not_reported),
      BODY(a_killed_pe_is_told_to_those_that_join_later),
      BODY(a_killed_pe_is_told_though_its_child_lives),
  };
  return all;
}

#undef BODY

}  // namespace chime::bootstrap::test
