// Keys that PEs publish and find: endpoint infos, secrets, node peers, goodbyes.
#include <atomic>
#include <cstdlib>
#include <future>
#include <numeric>
#include <thread>

#include "body_parts.hpp"
#include "bootstrap/peer_watch.hpp"
#include "support/meet.hpp"

namespace chime::bootstrap::test {
namespace {

void lookup_finds_what_was_published(const Join& join) {
  auto job = join();
  job->publish("endpoint_info", bytes_of(endpoint_info_of(job->rank())));
  meet(*job);
  for (int pe = 0; pe < job->size(); pe++)
    check(job->lookup(pe, "endpoint_info", soon()) == bytes_of(endpoint_info_of(pe)),
          "wrong endpoint info of PE " + std::to_string(pe));
  meet(*job);
}

void lookup_waits_for_a_late_publish(const Join& join) {
  auto job = join();
  job->publish("first", bytes_of("x"));  // another published key must not end the wait
  const int next = (job->rank() + 1) % job->size();
  auto found = std::async(std::launch::async, [&] { return job->lookup(next, "late", soon()); });
  std::this_thread::sleep_for(200ms + 50ms * job->rank());
  job->publish("late", bytes_of(endpoint_info_of(job->rank())));
  check(found.get() == bytes_of(endpoint_info_of(next)), "wrong late endpoint info");
  meet(*job);
}

void lookup_waits_for_a_late_pe(const Join& join) {
  if (const char* pe = getenv("PMIX_RANK") ? getenv("PMIX_RANK") : getenv("CHIME_RUN_PE");
      pe && *pe != '0')
    std::this_thread::sleep_for(300ms);
  auto job = join();
  job->publish("endpoint_info", bytes_of(endpoint_info_of(job->rank())));
  for (int pe = 0; pe < job->size(); pe++)
    check(job->lookup(pe, "endpoint_info", soon()) == bytes_of(endpoint_info_of(pe)),
          "wrong endpoint info of PE " + std::to_string(pe));
  meet(*job);
}

// So long that a launcher might be queried whether the missing PE is gone.
void lookup_waits_for_seconds(const Join& join) {
  auto job = join();
  job->node();
  if (job->rank() == 0) std::this_thread::sleep_for(3s);
  if (job->rank() == 0) job->publish("late", bytes_of("x"));
  check(job->lookup(0, "late", soon()) == bytes_of("x"), "wrong late endpoint info");
  meet(*job);
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
  check(took < 30s, "gave up too late");
  meet(*job);
}

void lookup_without_waiting_answers_at_once(const Join& join) {
  auto job = join();
  job->publish("there", bytes_of("x"));
  meet(*job);
  const int next = (job->rank() + 1) % job->size();
  check(job->lookup(next, "there", Clock::now()) == bytes_of("x"), "not found");
  const auto waits = [&] {
    return time_of([&] { error_of([&] { job->lookup(next, "not there", Clock::now()); }); }) >
           900ms;
  };
  // A busy machine is slow once or twice; a PE that waits is slow each time.
  int waited = 0;
  while (waited < 10 && waits()) ++waited;
  check(waited < 10, "waited");
  meet(*job);
}

void lookup_of_no_pe_is_an_error(const Join& join) {
  auto job = join();
  check_mentions(error_of([&] { job->lookup(job->size(), "endpoint_info", soon()); }), "PEs 0 to");
  check_mentions(error_of([&] { job->lookup(-1, "endpoint_info", soon()); }), "PEs 0 to");
  meet(*job);
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
      check(is_same, "the value of " + std::to_string(size) + " bytes has changed in transit");
    }
  }
  if (job->size() > 1)
    check_mentions(error_of([&] { job->publish("huge", Bytes(kMaxValueBytes + 1)); }), "at most");
  meet(*job);
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
  meet(*job);
}

void the_node_has_all_pes_of_this_machine(const Join& join) {
  auto job = join();
  std::vector<int> all(static_cast<std::size_t>(job->size()));
  std::iota(all.begin(), all.end(), 0);
  const NodeInfo& node = job->node();
  check(node.pes == all, "not all PEs of the machine");
  check(node.my_pe == job->rank() && node.n_pes == job->size(), "this PE's place is wrong");
  check(&job->node() == &node, "asked a second time");
  meet(*job);
}

void many_threads_may_call(const Join& join) {
  auto job = join();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      const auto key = "thread " + std::to_string(t);
      try {
        job->publish(key, bytes_of(endpoint_info_of(job->rank()) + key));
        for (int pe = 0; pe < job->size(); pe++)
          wrong += job->lookup(pe, key, soon()) != bytes_of(endpoint_info_of(pe) + key);
      } catch (const BootstrapError&) {
        wrong++;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  check(wrong == 0, "wrong or missing endpoint infos");
  meet(*job);
}

void a_second_joining_does_not_see_the_first(const Join& join) {
  {
    auto first = join();
    first->publish("old", bytes_of("old"));
    meet(*first);
  }
  auto second = join();
  const int next = (second->rank() + 1) % second->size();
  error_of([&] { second->lookup(next, "old", Clock::now() + 50ms); });
  second->publish("new", bytes_of("new"));
  check(second->lookup(next, "new", soon()) == bytes_of("new"), "not found");
  meet(*second);
}

void a_goodbye_is_not_a_death(const Join& join) {
  auto job = join();
  std::atomic<int> told{0};
  {
    PeerWatch watch(*job, {}, [&](int, const std::string&) { told++; });
    meet(*job);
    watch.say_goodbye();
    meet(*job);
  }
  job.reset();
  check(told == 0, "a PE that left cleanly was reported lost");
}

}  // namespace

std::vector<Body> endpoint_info_bodies() {
  return {CHIME_BODY(lookup_finds_what_was_published),
          CHIME_BODY(lookup_waits_for_a_late_publish),
          CHIME_BODY(lookup_waits_for_a_late_pe),
          CHIME_BODY(lookup_waits_for_seconds),
          CHIME_BODY(lookup_ends_at_its_deadline_and_names_what_it_waited_for),
          CHIME_BODY(lookup_without_waiting_answers_at_once),
          CHIME_BODY(lookup_of_no_pe_is_an_error),
          CHIME_BODY(all_values_survive),
          CHIME_BODY(the_secret_is_shared_and_not_trivial),
          CHIME_BODY(the_node_has_all_pes_of_this_machine),
          CHIME_BODY(many_threads_may_call),
          CHIME_BODY(a_second_joining_does_not_see_the_first),
          CHIME_BODY(a_goodbye_is_not_a_death)};
}

}  // namespace chime::bootstrap::test
