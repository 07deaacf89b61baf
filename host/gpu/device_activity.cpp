#include "host/gpu/device_activity.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#define CHIME_HOST_ONLY
#include "chime/abi/launched_kernel.h"
#include "chime/chime.h"
#include "chime/device/simt/launch/running_kernels.hpp"

namespace chime::host::device_activity {
namespace {

std::atomic<bool> is_checked{false};
thread_local int harmless = 0;

// A kernel on a GPU, as the program's own CUDA runtime knows it.
struct Launched {
  chime_launched_kernel kernel;
  int pe;
};
struct Launches {
  std::mutex mutex;
  std::vector<Launched> all;
};
Launches& launches() {
  static auto* const the_launches = new Launches;  // kernels may outlive static objects
  return *the_launches;
}

bool concerns(int pe_of_kernel) {
  const int pe = chimex_host_my_pe();
  return pe < 0 || pe_of_kernel < 0 || pe_of_kernel == pe;
}

// REQUIRES: all.mutex.
void forget_ended(Launches& all) {
  std::erase_if(all.all, [](const Launched& launched) {
    if (!launched.kernel.has_ended(launched.kernel.event)) return false;
    launched.kernel.forget(launched.kernel.event);
    return true;
  });
}

std::string running_on_gpu() {
  Launches& all = launches();
  const std::lock_guard lock(all.mutex);
  forget_ended(all);
  for (const Launched& launched : all.all)
    if (concerns(launched.pe)) return launched.kernel.name;
  return {};
}

}  // namespace

void check() { is_checked.store(true, std::memory_order_relaxed); }

std::string running_kernel() {
  for (const simt::RunningKernel& kernel : simt::running_kernels())
    if (concerns(kernel.pe)) return kernel.name;
  return running_on_gpu();
}

void allocates(const char* call) {
  if (!is_checked.load(std::memory_order_relaxed) || harmless > 0) return;
  const std::string kernel = running_kernel();
  if (kernel.empty()) return;
  std::fprintf(stderr,
               "chime: %s is called while the kernel %s runs: the driver may let it wait for that "
               "kernel (found by CHIME_CHECK=1; a defect of Chime: please report it)\n",
               call, kernel.c_str());
  std::abort();
}

Harmless::Harmless() { ++harmless; }
Harmless::~Harmless() { --harmless; }

}  // namespace chime::host::device_activity

extern "C" {

int chime_launches_are_watched(void) {
  return chime::host::device_activity::is_checked.load(std::memory_order_relaxed);
}

void chime_kernel_is_launched(chime_launched_kernel kernel) {
  auto& all = chime::host::device_activity::launches();
  const std::lock_guard lock(all.mutex);
  chime::host::device_activity::forget_ended(all);
  all.all.push_back({kernel, chimex_host_my_pe()});
}

}  // extern "C"
