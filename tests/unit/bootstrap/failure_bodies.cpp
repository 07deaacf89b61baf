// A PE whose set-up has failed, and how the PEs that wait for its keys learn of that.
#include <future>

#include "body_parts.hpp"
#include "support/meet.hpp"

namespace chime::bootstrap::test {
namespace {

// The error of a lookup of a key that is never published, during set-up, before the deadline.
std::string failure_by(const Bootstrap& job, int pe, int* code) {
  const Bootstrap::SettingUp setting_up(job);
  std::string error;
  const auto took =
      time_of([&] { error = error_of([&] { job.lookup(pe, "never", soon()); }, code); });
  check(took < 20s, "heard of the failure too late");
  return error;
}

// Each PE waits for the one below it, so all but one learn of the failure through others.
void a_failure_ends_the_set_up_of_all(const Join& join) {
  auto job = join();
  meet(*job);
  if (job->rank() == 0) {
    job->tell_failure(CHIMEX_ERR_OUT_OF_MEMORY, "no room");
    job->tell_failure(CHIMEX_ERR_INVALID, "twice");
  } else {
    int code = CHIMEX_OK;
    const std::string error = failure_by(*job, job->rank() - 1, &code);
    check(error == "PE 0 could not set up: no room", "'" + error + "' is not what PE 0 has told");
    check(code == CHIMEX_ERR_OUT_OF_MEMORY, "the code is not that of the failure");
    job->tell_failure(CHIMEX_ERR_SYSTEM, "of its own");
  }
  meet(*job);
}

void a_failure_is_heard_by_a_question(const Join& join) {
  auto job = join();
  std::promise<SetupFailure> told;
  const Question question =
      job->ask_for_failure(0, [&](const auto& failure) { told.set_value(failure); });
  meet(*job);
  auto failure = told.get_future();
  check(failure.wait_for(0s) != std::future_status::ready, "a failure that no PE has reported");
  meet(*job);
  if (job->size() == 1) return;  // no other PE to notify
  if (job->rank() == 0) job->tell_failure(CHIMEX_ERR_INVALID, "a wrong number");
  check(failure.wait_for(30s) == std::future_status::ready, "not reported");
  check_mentions(failure.get().why, "PE 0 could not set up: a wrong number");
  meet(*job);
}

// Endpoint infos that are there, or arrive, are found; a PE that does not set up waits on.
void a_failure_ends_no_other_lookup(const Join& join) {
  auto job = join();
  const int next = (job->rank() + 1) % job->size();
  job->publish("there", bytes_of(endpoint_info_of(job->rank())));
  job->tell_failure(CHIMEX_ERR_INVALID, "a wrong number");
  meet(*job);
  {
    const Bootstrap::SettingUp setting_up(*job);
    check(job->lookup(next, "there", soon()) == bytes_of(endpoint_info_of(next)),
          "wrong endpoint info");
  }
  int code = CHIMEX_OK;
  error_of([&] { job->lookup(next, "never", Clock::now() + kFailurePatience + 1s); }, &code);
  check(code == CHIMEX_ERR_TIMEOUT, "the wait has not ended by its time");
  meet(*job);
}

// The last PE reports and leaves: its report takes precedence over its leaving.
void a_failure_is_heard_of_a_pe_that_has_left(const Join& join) {
  auto job = join();
  const int last = job->size() - 1;
  meet(*job);
  if (job->rank() == last) {
    job->tell_failure(CHIMEX_ERR_INVALID, "a wrong number");
  } else {
    int code = CHIMEX_OK;
    const std::string error = failure_by(*job, last, &code);
    check_mentions(error, "PE " + std::to_string(last) + " could not set up: a wrong number");
    check(code == CHIMEX_ERR_INVALID, "the code is not that of the failure");
  }
  job.reset();
  meet(*join());  // PE 0 may hold the hub: it must not end before the others have left
}

}  // namespace

std::vector<Body> failure_bodies() {
  return {CHIME_BODY(a_failure_ends_the_set_up_of_all),
          CHIME_BODY(a_failure_is_heard_by_a_question), CHIME_BODY(a_failure_ends_no_other_lookup),
          CHIME_BODY(a_failure_is_heard_of_a_pe_that_has_left)};
}

}  // namespace chime::bootstrap::test
