#include "host/pe/device_state_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/tu_state.h"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"

namespace chime::host::device_state_registry {
namespace {

// A PE of this process, and what units are to hold on its GPU.
struct Speaker {
  Context context;
  Gpu* gpu;
  std::string device;

  int pe() const { return context.pe.my_pe; }
};

// A unit that was registered after a PE's init, and is not filled for it yet: its variables may not
// be known then (clang's), nor when another thread launches before it is loaded.
struct LateUnit {
  const chime_tu* unit;
  Gpu* gpu;
  bool is_reported = false;  // why not
};

// A module's copy of the state (device/state_cuda.cuh), and what was last written there.
struct ModuleState {
  ProgramModule module;
  Gpu* gpu;
  std::byte* address;
  Context held;

  bool is_of(const ProgramModule& other, const Gpu* where) const {
    return gpu == where && module.kind == other.kind && module.handle == other.handle;
  }
};

// Never destroyed: units unregister while the process ends, in any order.
struct Registry {
  std::mutex mutex;
  chime_tu* first = nullptr;
  std::vector<Speaker> speakers;
  std::vector<LateUnit> late;
  std::vector<ModuleState> modules;
  std::atomic<bool> has_late{false};
  std::atomic<bool> has_units{false};

  auto speaker_on(const Gpu* gpu) {
    return std::find_if(speakers.begin(), speakers.end(),
                        [gpu](const Speaker& speaker) { return speaker.gpu == gpu; });
  }
  // The Context that units hold on a device: that of its only PE, and nobody's where it has several
  // PEs or none.
  Context held_on(const std::string& device) const {
    const Speaker* only = nullptr;
    for (const Speaker& speaker : speakers) {
      if (speaker.device != device) continue;
      if (only != nullptr) return unfilled_context();
      only = &speaker;
    }
    return only == nullptr ? unfilled_context() : only->context;
  }
};

Registry& registry() {
  static Registry* the_registry = new Registry;
  return *the_registry;
}

// Why `unit` cannot take this library's Context; empty if it can.
std::string misfit(const chime_tu& unit) {
  if (unit.abi_version == kAbiVersion && unit.context_bytes == sizeof(Context)) return {};
  return fmt::format(
      "{} was compiled with headers of another Chime: state version {}, {} bytes; this libchime "
      "has "
      "version {}, {} bytes. Compile it again with this library's headers",
      unit.file, unit.abi_version, unit.context_bytes, kAbiVersion, sizeof(Context));
}

// Why the unit could not be filled on `gpu`; empty if it was.
std::string fill(const chime_tu& unit, const Context& context, Gpu& gpu) {
  if (std::string why = misfit(unit); !why.empty()) return why;
  std::string words;
  try {
    gpu.with_device([&] {
      if (const char* const why = unit.fill(&context, sizeof(Context))) words = why;
    });
  } catch (const Error& error) {  // the GPU is lost: leaving goes on
    words = error.what();
  }
  if (words.empty()) return {};
  return fmt::format("the state of the kernels in {} cannot be filled: {}", unit.file, words);
}

// ---- Kernels that the driver would load only at their first launch

// Once: the next unit's words would be the same. A kernel that is loaded late runs all the same.
void warn_of_late_kernels(int pe, const std::string& whose, const std::string& why) {
  static std::once_flag is_reported;
  std::call_once(is_reported, [&] {
    log_line(LogLevel::kWarn, pe,
             fmt::format("the kernels of {} cannot be loaded at init: {}. The driver loads each "
                         "when it is first launched, and may wait for kernels that run then: one "
                         "that waits for the new one hangs. Set CUDA_MODULE_LOADING=EAGER",
                         whose, why));
  });
}

void load_kernels(const chime_tu& unit, const Speaker& speaker) {
  std::string why;
  void* kernel = nullptr;
  try {
    speaker.gpu->with_device([&] {
      if (const char* const words = unit.kernel(&kernel)) why = words;
    });
    if (why.empty()) return speaker.gpu->load_kernels_beside(kernel);
  } catch (const Error& error) {
    why = error.what();
  }
  warn_of_late_kernels(speaker.pe(), unit.file, why);
}

void load_kernels(const ProgramModule& module, Gpu& gpu, int pe) {
  try {
    gpu.load_kernels(module);
  } catch (const Error& error) {
    warn_of_late_kernels(pe, "the module", error.what());
  }
}

// ---- Modules

constexpr char kModuleState[] = "chime_kernel_state";

constexpr char kHowToCompile[] =
    "Compile it with Chime's headers (nvshmem.h, or chime/chime.h) and -std=c++20: by clang with "
    "--cuda-device-only, by chime-cc with --ptx, by NVRTC with -rdc=true, by nvcc with -rdc=true "
    "-DCHIME_MODULE and -ptx or -cubin";

std::byte* find_state(const ProgramModule& module, Gpu& gpu) {
  const std::optional<ModuleVariable> found = gpu.find_variable(module, kModuleState);
  if (!found)
    throw Error("", CHIMEX_ERR_INVALID,
                fmt::format("the module has no variable {} that can be seen, so its kernels cannot "
                            "learn which PE they run for. {}",
                            kModuleState, kHowToCompile));
  Context there;
  gpu.copy(&there, found->address, std::min(found->bytes, sizeof(there)));
  const std::uint32_t version = there.abi_version != 0 ? there.abi_version : there.size;
  if (found->bytes != sizeof(there) || version != kAbiVersion)
    throw Error("", CHIMEX_ERR_MISMATCH,
                fmt::format("the module was compiled with headers of another Chime: its state has "
                            "version {}, {} bytes; this libchime has version {}, {} bytes. Compile "
                            "it again with this library's headers",
                            version, found->bytes, kAbiVersion, sizeof(there)));
  return found->address;
}

void fill(ModuleState& state, const Context& context) {
  state.held = context;
  state.gpu->copy(state.address, &state.held, sizeof(state.held));
}

// A program may have unloaded the module and said nothing: then other things may lie there.
bool is_there(const ModuleState& state) {
  if (!state.gpu->kernels_reach(state.address)) return false;
  Context there;
  state.gpu->copy(&there, state.address, sizeof(there));
  return std::memcmp(&there, &state.held, sizeof(there)) == 0;
}

// Fills the modules of `device` again; modules on `leaving` are cleared and forgotten.
void refill_modules(Registry& all, const std::string& device, const Gpu* leaving) {
  const Context held = all.held_on(device);
  std::erase_if(all.modules, [&](ModuleState& state) {
    const bool leaves = state.gpu == leaving;
    if (!leaves && state.gpu->pci_address() != device) return false;
    try {
      if (!is_there(state)) return true;
      fill(state, leaves ? unfilled_context() : held);
    } catch (const Error&) {  // the GPU is lost: leaving goes on
      return true;
    }
    return leaves;
  });
}

}  // namespace

// The caller launches a kernel, or chooses a device. It does so after the static constructors that
// registered its units, in its own thread or in one that has opened the library for it. No order is
// needed.
bool empty() { return !registry().has_units.load(std::memory_order_relaxed); }

void fill_all(const Context& context, Gpu& gpu) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const std::string device = gpu.pci_address();
  all.speakers.push_back({context, &gpu, device});  // also of some units alone: clear() knows of it
  const Context held = all.held_on(device);
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) {
    if (std::string why = fill(*unit, held, gpu); !why.empty())
      throw Error("kernel state", misfit(*unit).empty() ? CHIMEX_ERR_SYSTEM : CHIMEX_ERR_MISMATCH,
                  why);
    load_kernels(*unit, all.speakers.back());
  }
  refill_modules(all, device, nullptr);
}

void fill_late_units() {
  Registry& all = registry();
  if (!all.has_late.load(std::memory_order_acquire)) return;
  std::lock_guard lock(all.mutex);
  std::erase_if(all.late, [&](LateUnit& late) {
    const Speaker& speaker = *all.speaker_on(late.gpu);
    const std::string why = fill(*late.unit, all.held_on(speaker.device), *late.gpu);
    if (why.empty()) return true;
    if (!std::exchange(late.is_reported, true))
      log_line(LogLevel::kError, speaker.pe(), why + "; it is tried again at the next launch");
    return false;
  });
  all.has_late.store(!all.late.empty(), std::memory_order_release);
}

void clear(Gpu& gpu) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto speaker = all.speaker_on(&gpu);
  if (speaker == all.speakers.end()) return;
  const std::string device = speaker->device;
  all.speakers.erase(speaker);
  std::erase_if(all.late, [&gpu](const LateUnit& late) { return late.gpu == &gpu; });
  all.has_late.store(!all.late.empty(), std::memory_order_release);
  const Context held = all.held_on(device);
  // A unit that cannot be cleared was never filled, or its GPU is lost: nothing is left to protect.
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) fill(*unit, held, gpu);
  refill_modules(all, device, &gpu);
}

void init_module(const ProgramModule& module, Gpu& gpu) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::byte* const address = find_state(module, gpu);
  std::erase_if(all.modules, [&](const auto& state) { return state.is_of(module, &gpu); });
  fill(all.modules.emplace_back(ModuleState{module, &gpu, address, {}}),
       all.held_on(gpu.pci_address()));
  load_kernels(module, gpu, all.speaker_on(&gpu)->pe());
}

void finalize_module(const ProgramModule& module, Gpu& gpu) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto found = std::find_if(all.modules.begin(), all.modules.end(),
                                  [&](const auto& state) { return state.is_of(module, &gpu); });
  if (found == all.modules.end())
    throw Error("", CHIMEX_ERR_INVALID,
                "the module was not initialised since this PE's init, or is finalized already");
  if (is_there(*found)) fill(*found, unfilled_context());
  all.modules.erase(found);
}

}  // namespace chime::host::device_state_registry

using chime::host::device_state_registry::Registry;
using chime::host::device_state_registry::registry;

// A unit that registers after init (a library opened late) is filled at once, or else at the next
// launch. No caller could catch an exception: a unit that can never be filled is reported here, and
// its kernels trap.
extern "C" void chime_register_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  unit->next = all.first;
  all.first = unit;
  all.has_units.store(true, std::memory_order_relaxed);
  if (all.speakers.empty()) return;
  if (const std::string why = chime::host::device_state_registry::misfit(*unit); !why.empty())
    return chime::host::log_line(chime::host::LogLevel::kError, all.speakers.front().pe(), why);
  for (const auto& speaker : all.speakers)
    if (!chime::host::device_state_registry::fill(*unit, all.held_on(speaker.device), *speaker.gpu)
             .empty())
      all.late.push_back({unit, speaker.gpu});
  all.has_late.store(!all.late.empty(), std::memory_order_release);
}

extern "C" void chime_unregister_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.late, [unit](const auto& late) { return late.unit == unit; });
  for (chime_tu** link = &all.first; *link != nullptr; link = &(*link)->next) {
    if (*link == unit) {
      *link = unit->next;
      break;
    }
  }
  all.has_units.store(all.first != nullptr, std::memory_order_relaxed);
}
