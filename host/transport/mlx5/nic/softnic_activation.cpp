#include "host/transport/mlx5/nic/softnic_activation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "host/errors/error.hpp"
#include "host/trace/recorder.hpp"
#include "softnic/softnic.h"

namespace chime::host::mlx5 {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& why) {
  throw Error("CHIME_NIC=soft", CHIMEX_ERR_UNSUPPORTED, why);
}

// The file that this function is in: libchime.so, or a program that holds its objects. The loader
// knows a program by the name that it was called by, which is no path where PATH led to it.
std::optional<fs::path> own_file() {
  Dl_info here{};
  link_map* loaded = nullptr;
  ::dladdr1(reinterpret_cast<void*>(&activate_softnic), &here, reinterpret_cast<void**>(&loaded),
            RTLD_DL_LINKMAP);
  const bool is_library = loaded && loaded->l_name && *loaded->l_name;
  std::error_code error;
  const fs::path file = fs::canonical(is_library ? loaded->l_name : "/proc/self/exe", error);
  return error ? std::nullopt : std::optional(file);
}

fs::path find_library(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  const std::optional<fs::path> file = own_file();
  if (!file) refuse("this program's own file cannot be found; set CHIME_SOFTNIC_LIBRARY");
  const fs::path here = file->parent_path();
  // Seen from libchime.so in an install prefix and in the build tree; from tools, which carry its
  // objects, in both.
  for (const char* place : {"libsoftnic.so", "../softnic/libsoftnic.so", "../lib/libsoftnic.so",
                            "../../softnic/libsoftnic.so"})
    if (fs::exists(here / place)) return fs::canonical(here / place);
  refuse(
      fmt::format("libsoftnic.so is not beside {} ({}); build the target softnic, or set "
                  "CHIME_SOFTNIC_LIBRARY to where it is",
                  file->filename().string(), here.string()));
}

// The library's functions. It is loaded when it is asked for, and never unloaded.
struct Softnic {
  decltype(&::softnic_activate) activate;
  decltype(&::softnic_deactivate) deactivate;
  decltype(&::softnic_error) error;
  decltype(&::softnic_observe) observe;
};

template <class Function>
void find(void* library, const fs::path& file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) refuse(fmt::format("{} has no {}: it is too old", file.string(), name));
}

Softnic load(const fs::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(fmt::format("the softnic cannot be loaded: {}", ::dlerror()));
  Softnic softnic{};
  find(library, file, "softnic_activate", softnic.activate);
  find(library, file, "softnic_deactivate", softnic.deactivate);
  find(library, file, "softnic_error", softnic.error);
  find(library, file, "softnic_observe", softnic.observe);
  return softnic;
}

// ---- The timeline ----

void* begin_request(const softnic_request* request) {
  return trace::begin_event(trace::EventKind::kNicRequest, [=](trace::Event& event) {
    event.name = trace::number_of(request->opcode);
    event.bytes = request->bytes;
    event.value = request->queue_pair;
  });
}

void end_request(void* begun, int has_failed) {
  auto* const event = static_cast<trace::Event*>(begun);
  event->has_failed = has_failed != 0;
  trace::end_event(event);
}

constexpr softnic_observer kObserver = {begin_request, end_request};

// Jobs of one machine do not meet.
std::string fabric_of(const std::string& job) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("chime-{:016x}", hash);
}

// The activation of this process, while a PE uses it.
struct Shared {
  std::mutex mutex;
  std::weak_ptr<void> active;
};
Shared& shared() {
  static auto& the_one = *new Shared;  // never destroyed: PEs may end after static destructors
  return the_one;
}

}  // namespace

ActiveSoftnic activate_softnic(const std::string& job, const std::string& library) {
  const std::lock_guard lock(shared().mutex);
  if (ActiveSoftnic active = shared().active.lock()) return active;
  const Softnic softnic = load(find_library(library));
  const std::string fabric = fabric_of(job);
  softnic_options options = SOFTNIC_OPTIONS_INIT;
  options.fabric = fabric.c_str();
  const int result = softnic.activate(&options);
  if (trace::is_recording()) softnic.observe(&kObserver);
  if (result != SOFTNIC_OK && result != SOFTNIC_ALREADY_ACTIVE) refuse(softnic.error());
  // Somebody else's is not ended. The handle itself is nothing but its deleter.
  const auto end = result == SOFTNIC_OK ? softnic.deactivate : nullptr;
  ActiveSoftnic active(&shared(), [end](void*) {
    if (end) end();
  });
  shared().active = active;
  return active;
}

void observe_preloaded_softnic() {
  if (!trace::is_recording()) return;
  const auto observe =
      reinterpret_cast<decltype(&::softnic_observe)>(::dlsym(RTLD_DEFAULT, "softnic_observe"));
  if (observe != nullptr) observe(&kObserver);
}

}  // namespace chime::host::mlx5
