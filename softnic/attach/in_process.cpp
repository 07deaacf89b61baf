// softnic.h: the softnic inside a program that was started without it.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "imports.hpp"
#include "nic.hpp"
#include "own_tree.hpp"
#include "shim.hpp"
#include "softnic/observe/faults.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/softnic.h"

namespace softnic {
namespace {

struct Refusal : std::runtime_error {
  Refusal(softnic_result r, const std::string& what) : std::runtime_error(what), result(r) {}
  softnic_result result;
};

thread_local char last_error[512] = "";

std::mutex& lock() {
  static auto& it = *new std::mutex;
  return it;
}

// ---- options ----

// A member that this program's struct does not have yet, or that is null, is absent.
#define SOFTNIC_HAS(options, member) \
  ((options)->size >= offsetof(softnic_options, member) + sizeof((options)->member))

Settings settings_of(const softnic_options* o) try {
  Settings s = settings_of_environment();
  if (!o) return s;
  if (SOFTNIC_HAS(o, fabric) && o->fabric) s.fabric = o->fabric;
  if (SOFTNIC_HAS(o, link_layer) && o->link_layer) s.ethernet = is_ethernet(o->link_layer);
  if (SOFTNIC_HAS(o, faults) && o->faults) s.faults = o->faults;
  if (SOFTNIC_HAS(o, trace) && o->trace) s.trace = o->trace;
  if (SOFTNIC_HAS(o, strict) && o->strict != SOFTNIC_UNSET) s.strict = o->strict != 0;
  if (SOFTNIC_HAS(o, log) && o->log != SOFTNIC_UNSET) s.log = o->log;
  Faults{s.faults};  // throws here, because the NIC's error comes later and reaches no caller
  return s;
} catch (const std::exception& error) {
  throw Refusal(SOFTNIC_BAD_OPTION, error.what());
}
#undef SOFTNIC_HAS

// ---- the RDMA libraries ----

void* load(const char* library) {
  if (void* loaded = ::dlopen(library, RTLD_NOW | RTLD_LOCAL)) return loaded;
  const char* why = ::dlerror();
  throw Refusal(SOFTNIC_NO_RDMA_CORE,
                std::string("softnic: cannot load ") + library + ": " + (why ? why : "no reason") +
                    " (Debian: apt-get install libibverbs1 ibverbs-providers)");
}

// Kept loaded: a library with changed tables must not be unloaded and come back unchanged.
struct RdmaCore {
  void* verbs = load("libibverbs.so.1");
  void* provider = load("libmlx5.so.1");
};

// The path from which libibverbs reads devices. It reads the environment once. After this call the
// answer is fixed, so a wrong one shows that libibverbs was used before.
std::string tree_of_libibverbs(const RdmaCore& core) {
  auto* const path = reinterpret_cast<const char* (*)()>(::dlsym(core.verbs, "ibv_get_sysfs_path"));
  const char* found = path ? path() : nullptr;
  if (!found) throw Refusal(SOFTNIC_FAILED, "softnic: libibverbs does not say its sysfs path");
  return found;
}

void show_tree(const RdmaCore& core, const std::string& tree) {
  ::setenv("SYSFS_PATH", tree.c_str(), 1);
  const std::string used = tree_of_libibverbs(core);
  if (used == tree) return;
  if (::getuid() != ::geteuid())
    throw Refusal(SOFTNIC_FAILED, "softnic: libibverbs ignores SYSFS_PATH in a set-uid program");
  throw Refusal(SOFTNIC_TOO_LATE, "softnic: libibverbs has looked for devices in " + used +
                                      " already; activate before the first verbs call");
}

// A tree that the environment names is kept: it may be another topology that contains our device.
std::string tree_to_use(const Settings& settings) {
  const char* named = std::getenv("SYSFS_PATH");
  if (!named || !*named) return own_tree(settings.ethernet);
  const auto device = std::filesystem::path(named) / "class/infiniband_verbs/uverbs0";
  std::error_code ignored;
  if (!std::filesystem::exists(device, ignored))
    throw Refusal(SOFTNIC_BAD_OPTION, std::string("softnic: SYSFS_PATH is '") + named +
                                          "', and there is no " + device.string());
  return named;
}

// ---- what is active ----

class Activation {
 public:
  explicit Activation(const softnic_options* options) {
    if (Nic::existing())
      throw Refusal(SOFTNIC_TOO_LATE, "softnic: the device was opened before softnic_activate()");
    warn_of_unknown_variables();
    const Settings settings = settings_of(options);
    const RdmaCore core;
    const char* named = std::getenv("SYSFS_PATH");
    if (named) sysfs_path_before_ = named;
    try {
      show_tree(core, tree_to_use(settings));
      attach_to_rdma_libraries();
    } catch (...) {
      restore_environment();
      throw;
    }
    use_settings(settings);
  }
  ~Activation() {
    detach_from_rdma_libraries();
    restore_environment();
  }
  Activation(const Activation&) = delete;

 private:
  void restore_environment() {
    if (sysfs_path_before_)
      ::setenv("SYSFS_PATH", sysfs_path_before_->c_str(), 1);
    else
      ::unsetenv("SYSFS_PATH");
  }

  std::optional<std::string> sysfs_path_before_;
};

// Left as it is at exit: the program's own destructors may still use the device.
Activation* active = nullptr;

template <class Body>
int answer(const Body& body) {
  const std::lock_guard guard(lock());
  const auto say = [](softnic_result result, const char* what) {
    std::snprintf(last_error, sizeof last_error, "%s", what);
    return result;
  };
  try {
    body();
    return say(SOFTNIC_OK, "");
  } catch (const Refusal& refusal) {
    return say(refusal.result, refusal.what());
  } catch (const std::exception& error) {
    return say(SOFTNIC_FAILED, error.what());
  }
}

void activate(const softnic_options* options) {
  if (active) throw Refusal(SOFTNIC_ALREADY_ACTIVE, "softnic: it is active already");
  active = new Activation(options);
}

void deactivate() {
  if (!active) throw Refusal(SOFTNIC_NOT_ACTIVE, "softnic: it is not active");
  if (const int files = softnic_open_files(); files != 0)
    throw Refusal(SOFTNIC_BUSY, "softnic: the device is open " + std::to_string(files) + " times");
  Nic::end();
  delete active;
  active = nullptr;
}

}  // namespace
}  // namespace softnic

extern "C" int softnic_activate(const softnic_options* options) {
  return softnic::answer([&] { softnic::activate(options); });
}

extern "C" int softnic_deactivate(void) {
  return softnic::answer([] { softnic::deactivate(); });
}

extern "C" const char* softnic_error(void) { return softnic::last_error; }
