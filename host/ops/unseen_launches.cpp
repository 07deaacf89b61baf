// Failed launches whose status the program has thrown away (chime/abi/launch_status.h).
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "chime/abi/launch_status.h"
#include "host/errors/log.hpp"
#include "host/pe/pe.hpp"

namespace chime::exec::detail {
namespace {

struct Failure {
  std::thread::id thread;
  int pe;
  std::string why;

  bool operator==(const Failure&) const = default;
};

// Never destroyed: a program may ask for it late, while it ends.
struct Unseen {
  std::mutex mutex;
  std::vector<Failure> failures;  // not reported yet; none twice
  std::atomic<bool> has_some{false};
};

Unseen& unseen() {
  static auto* const the_unseen = new Unseen;
  return *the_unseen;
}

}  // namespace

void launch_failed_unseen(const char* why) {
  const Failure failure{std::this_thread::get_id(), host::pe_for_messages(), why};
  Unseen& all = unseen();
  const std::lock_guard lock(all.mutex);
  for (const Failure& known : all.failures)
    if (known == failure) return;
  all.failures.push_back(failure);
  all.has_some.store(true, std::memory_order_relaxed);
}

void launch_errors_are_asked_for() {
  Unseen& all = unseen();
  if (!all.has_some.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.failures, [](const Failure& failure) {
    return failure.thread == std::this_thread::get_id();
  });
  all.has_some.store(!all.failures.empty(), std::memory_order_relaxed);
}

void tell_unseen_launch_errors() {
  Unseen& all = unseen();
  if (!all.has_some.load(std::memory_order_relaxed)) return;
  std::vector<Failure> failures;
  {
    const std::lock_guard lock(all.mutex);
    failures.swap(all.failures);
    all.has_some.store(false, std::memory_order_relaxed);
  }
  for (const Failure& failure : failures)
    host::log(host::LogLevel::kError, failure.pe,
              "a kernel launch failed, and the program did not look at what it returned: {}",
              failure.why);
}

}  // namespace chime::exec::detail
