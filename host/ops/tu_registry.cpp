#include "host/ops/tu_registry.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "chime/abi/tu_state.h"
#include "host/errors/error.hpp"
#include "host/errors/log.hpp"

namespace chime::host::tu_registry {
namespace {

// A unit that was registered after init, and is not filled yet: its variables may not be known then
// (clang's), nor when another thread launches before it is loaded.
struct LateUnit {
  const chime_tu* unit;
  bool is_told = false;  // why not
};

// Never destroyed: units unregister while the process ends, in any order.
struct Registry {
  std::mutex mutex;
  chime_tu* first = nullptr;
  std::optional<Context> filled_with;
  std::vector<LateUnit> late;
  std::atomic<bool> has_late{false};
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

void fill_all(const Context& context) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  all.filled_with = context;  // also of some alone: clear() knows of it
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) {
    if (std::string why = fill(*unit, context); !why.empty())
      throw Error("kernel state", misfit(*unit).empty() ? CHIMEX_ERR_SYSTEM : CHIMEX_ERR_MISMATCH,
                  why);
  }
}

void fill_late_units() {
  Registry& all = registry();
  if (!all.has_late.load(std::memory_order_acquire)) return;
  std::lock_guard lock(all.mutex);
  std::erase_if(all.late, [&](LateUnit& late) {
    const std::string why = fill(*late.unit, *all.filled_with);
    if (why.empty()) return true;
    if (!std::exchange(late.is_told, true))
      log_line(LogLevel::kError, all.filled_with->pe.my_pe,
               why + "; it is tried again at the next launch");
    return false;
  });
  all.has_late.store(!all.late.empty(), std::memory_order_release);
}

void clear(int pe) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.filled_with || all.filled_with->pe.my_pe != pe) return;
  all.filled_with.reset();
  all.late.clear();
  all.has_late.store(false, std::memory_order_release);
  const Context nobody;
  // A unit that cannot be cleared was never filled, or its GPU is lost: nothing is left to protect.
  for (const chime_tu* unit = all.first; unit != nullptr; unit = unit->next) fill(*unit, nobody);
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
  if (!all.filled_with) return;
  if (const std::string why = chime::host::tu_registry::misfit(*unit); !why.empty())
    return chime::host::log_line(chime::host::LogLevel::kError, all.filled_with->pe.my_pe, why);
  if (chime::host::tu_registry::fill(*unit, *all.filled_with).empty()) return;
  all.late.push_back({unit});
  all.has_late.store(true, std::memory_order_release);
}

extern "C" void chime_unregister_tu(chime_tu* unit) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  std::erase_if(all.late, [unit](const auto& late) { return late.unit == unit; });
  for (chime_tu** link = &all.first; *link != nullptr; link = &(*link)->next) {
    if (*link == unit) {
      *link = unit->next;
      return;
    }
  }
}
