#include "host/ops/tu_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/tu_state.h"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"

namespace chime::host::tu_registry {
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
  bool is_told = false;  // why not
};

// Never destroyed: units unregister while the process ends, in any order.
struct Registry {
  std::mutex mutex;
  chime_tu* first = nullptr;
  std::vector<Speaker> speakers;
  std::vector<LateUnit> late;
  std::atomic<bool> has_late{false};
  std::atomic<bool> has_units{false};

  auto speaker_on(const Gpu* gpu) {
    return std::find_if(speakers.begin(), speakers.end(),
                        [gpu](const Speaker& speaker) { return speaker.gpu == gpu; });
  }
  // What units hold on a device: the Context of its only PE, and nobody's where it has several or
  // none.
  Context held_on(const std::string& device) const {
    const Speaker* only = nullptr;
    for (const Speaker& speaker : speakers) {
      if (speaker.device != device) continue;
      if (only != nullptr) return {};
      only = &speaker;
    }
    return only == nullptr ? Context{} : only->context;
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

}  // namespace

// Who asks launches, or chooses a device: after the static constructors that registered its units,
// in its own thread or in one that has opened the library for it. No order is needed.
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
  }
}

void fill_late_units() {
  Registry& all = registry();
  if (!all.has_late.load(std::memory_order_acquire)) return;
  std::lock_guard lock(all.mutex);
  std::erase_if(all.late, [&](LateUnit& late) {
    const Speaker& speaker = *all.speaker_on(late.gpu);
    const std::string why = fill(*late.unit, all.held_on(speaker.device), *late.gpu);
    if (why.empty()) return true;
    if (!std::exchange(late.is_told, true))
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
}

}  // namespace chime::host::tu_registry

using chime::host::tu_registry::Registry;
using chime::host::tu_registry::registry;

// A unit that registers after init (a library opened late) is filled at once, or else at the next
// launch. There is nobody to throw to: one that can never be is told of here, and its kernels trap.
extern "C" void chime_register_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  unit->next = all.first;
  all.first = unit;
  all.has_units.store(true, std::memory_order_relaxed);
  if (all.speakers.empty()) return;
  if (const std::string why = chime::host::tu_registry::misfit(*unit); !why.empty())
    return chime::host::log_line(chime::host::LogLevel::kError, all.speakers.front().pe(), why);
  for (const auto& speaker : all.speakers)
    if (!chime::host::tu_registry::fill(*unit, all.held_on(speaker.device), *speaker.gpu).empty())
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
