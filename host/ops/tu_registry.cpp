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

// A unit that was registered after a PE's init, and is not filled for it yet: its variables may not
// be known then (clang's), nor when another thread launches before it is loaded, nor does one PE's
// thread reach the copy on another's GPU.
struct LateUnit {
  const chime_tu* unit;
  bool is_told = false;  // why not
};

// A PE of this process, and what its units are to hold on its GPU.
struct Speaker {
  Context context;
  std::string gpu;
  std::vector<LateUnit> late;

  int pe() const { return context.pe.my_pe; }
};

// Never destroyed: units unregister while the process ends, in any order.
struct Registry {
  std::mutex mutex;
  chime_tu* first = nullptr;
  std::vector<Speaker> speakers;
  std::atomic<bool> has_late{false};

  // What units hold on a GPU: the Context of its only PE, and nobody's where it has several or
  // none.
  Context held_on(const std::string& gpu) const {
    const Speaker* only = nullptr;
    for (const Speaker& speaker : speakers) {
      if (speaker.gpu != gpu) continue;
      if (only != nullptr) return {};
      only = &speaker;
    }
    return only == nullptr ? Context{} : only->context;
  }
  void look_for_late() {
    const bool has = std::any_of(speakers.begin(), speakers.end(),
                                 [](const Speaker& speaker) { return !speaker.late.empty(); });
    has_late.store(has, std::memory_order_release);
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

// Why the unit could not be filled; empty if it was.
std::string fill(const chime_tu& unit, const Context& context) {
  if (std::string why = misfit(unit); !why.empty()) return why;
  const char* words = unit.fill(&context, sizeof(Context));
  if (words == nullptr) return {};
  return fmt::format("the state of the kernels in {} cannot be filled: {}", unit.file, words);
}

}  // namespace

bool empty() {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  return all.first == nullptr;
}

void fill_all(const Context& context, const std::string& gpu) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.speakers.push_back({context, gpu, {}});  // also of some units alone: clear() knows of it
  const Context held = all.held_on(gpu);
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) {
    if (std::string why = fill(*unit, held); !why.empty())
      throw Error("kernel state", misfit(*unit).empty() ? CHIMEX_ERR_SYSTEM : CHIMEX_ERR_MISMATCH,
                  why);
  }
}

void fill_late_units(int pe) {
  Registry& all = registry();
  if (!all.has_late.load(std::memory_order_acquire)) return;
  std::lock_guard lock(all.mutex);
  const auto speaker = std::find_if(all.speakers.begin(), all.speakers.end(),
                                    [pe](const Speaker& one) { return one.pe() == pe; });
  if (speaker == all.speakers.end()) return;
  std::erase_if(speaker->late, [&](LateUnit& late) {
    const std::string why = fill(*late.unit, all.held_on(speaker->gpu));
    if (why.empty()) return true;
    if (!std::exchange(late.is_told, true))
      log_line(LogLevel::kError, pe, why + "; it is tried again at the next launch");
    return false;
  });
  all.look_for_late();
}

void clear(int pe) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  const auto speaker = std::find_if(all.speakers.begin(), all.speakers.end(),
                                    [pe](const Speaker& one) { return one.pe() == pe; });
  if (speaker == all.speakers.end()) return;
  const std::string gpu = speaker->gpu;
  all.speakers.erase(speaker);
  all.look_for_late();
  const Context held = all.held_on(gpu);
  // A unit that cannot be cleared was never filled, or its GPU is lost: nothing is left to protect.
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) fill(*unit, held);
}

}  // namespace chime::host::tu_registry

using chime::host::tu_registry::Registry;
using chime::host::tu_registry::registry;

// A unit that registers after init (a library opened late) is filled at once where the process has
// one PE, or else at each PE's next launch. There is nobody to throw to: one that can never be is
// told of here, and its kernels trap.
extern "C" void chime_register_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  unit->next = all.first;
  all.first = unit;
  if (all.speakers.empty()) return;
  if (const std::string why = chime::host::tu_registry::misfit(*unit); !why.empty())
    return chime::host::log_line(chime::host::LogLevel::kError, all.speakers.front().pe(), why);
  if (all.speakers.size() == 1 &&
      chime::host::tu_registry::fill(*unit, all.speakers.front().context).empty())
    return;
  for (auto& speaker : all.speakers) speaker.late.push_back({unit});
  all.look_for_late();
}

extern "C" void chime_unregister_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  for (auto& speaker : all.speakers)
    std::erase_if(speaker.late, [unit](const auto& late) { return late.unit == unit; });
  for (chime_tu** link = &all.first; *link != nullptr; link = &(*link)->next) {
    if (*link == unit) {
      *link = unit->next;
      return;
    }
  }
}
