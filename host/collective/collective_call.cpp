#include "host/collective/collective_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "host/errors/error.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {

std::string describe(const CollectiveCall& call) {
  switch (call.kind) {
    case CollectiveCall::Kind::kMalloc:
      return fmt::format("{}({})", spoken("chime_malloc"), call.first);
    case CollectiveCall::Kind::kCalloc:
      return fmt::format("{} of {} bytes", spoken("chime_calloc"), call.first);
    case CollectiveCall::Kind::kAlign:
      return fmt::format("{}({}, {})", spoken("chime_align"), call.second, call.first);
    case CollectiveCall::Kind::kFree:
      if (call.first == CollectiveCall::kOutside)
        return spoken("chime_free") + " of memory outside the heap";
      return fmt::format("{}(heap + {})", spoken("chime_free"), call.first);
    case CollectiveCall::Kind::kRegister:
      return fmt::format("{} of {} bytes with the flags {}",
                         spoken("chimex_buffer_register_symmetric"), call.first, call.second);
    case CollectiveCall::Kind::kUnregister:
      if (call.first == CollectiveCall::kOutside)
        return spoken("chimex_buffer_unregister_symmetric") + " of memory outside the heap";
      return fmt::format("{}(heap + {}, {})", spoken("chimex_buffer_unregister_symmetric"),
                         call.first, call.second);
    case CollectiveCall::Kind::kBarrier:
      return spoken("chime_barrier_all") + " or " + spoken("chime_sync_all");
    case CollectiveCall::Kind::kFinalize:
      return spoken("chime_finalize") + "()";
  }
  return "another version's call";
}

std::int32_t FewPes::known() const { return std::clamp(count_, 0, kMost); }

void FewPes::add(const FewPes& more) {
  std::array<std::int32_t, 2 * kMost> all;
  const auto end = std::merge(lowest_, lowest_ + known(), more.lowest_, more.lowest_ + more.known(),
                              all.begin());
  count_ += more.count_;
  std::copy(all.begin(), std::min(end, all.begin() + kMost), lowest_);
}

std::string FewPes::words() const {
  std::string words = count_ == 1 ? "PE " : "PEs ";
  for (std::int32_t i = 0; i < known();) {
    std::int32_t last = i;
    while (last + 1 < known() && lowest_[last + 1] == lowest_[last] + 1) ++last;
    words += fmt::format("{}{}", i == 0 ? "" : ", ", lowest_[i]);
    if (last > i) words += fmt::format("-{}", lowest_[last]);
    i = last + 1;
  }
  if (count_ > kMost) words += fmt::format(" and {} more", count_ - kMost);
  return words;
}

void CollectiveCalls::add(const CollectiveCalls& more) {
  add(more.call, more.pes);
  if (!more.others.empty()) add(more.others_call, more.others);
}

void CollectiveCalls::add(const CollectiveCall& more_call, const FewPes& more) {
  if (more_call == call) return pes.add(more);
  if (!others.empty() && more_call == others_call) return others.add(more);
  if (!others.empty() && others.first() < more.first()) return;
  others_call = more_call;
  others = more;
}

namespace {

[[noreturn]] void throw_different(chimex_status code, std::string what) {
  throw Error("collective call", code, std::move(what));
}

// All were asked for the same; some have failed, or have it elsewhere.
[[noreturn]] void throw_failure_of_some(const CollectiveCalls& calls) {
  const bool first_fails = calls.call.fails();
  const CollectiveCall& failed = first_fails ? calls.call : calls.others_call;
  const FewPes& pes = first_fails ? calls.pes : calls.others;
  if (!failed.fails())
    throw_different(CHIMEX_ERR_MISMATCH,
                    fmt::format("{} gives heap + {} on {} and heap + {} on {}: their heaps differ, "
                                "and no address is symmetric any more",
                                describe(calls.call), calls.call.place, calls.pes.words(),
                                calls.others_call.place, calls.others.words()));
  const bool has_no_room = failed.place == CollectiveCall::kNoRoom;
  throw_different(has_no_room ? CHIMEX_ERR_OUT_OF_MEMORY : CHIMEX_ERR_INVALID,
                  fmt::format("{} fails on all PEs, because {} {}", describe(failed), pes.words(),
                              has_no_room ? "had no room for it" : "could not do it"));
}

}  // namespace

void check_same(const CollectiveCalls& calls) {
  if (calls.others.empty()) return;
  if (calls.call.asks_for_the_same(calls.others_call)) throw_failure_of_some(calls);
  throw_different(CHIMEX_ERR_MISMATCH,
                  why_different(calls.pes, calls.call, calls.others, describe(calls.others_call)));
}

std::string why_different(const FewPes& in_call, const CollectiveCall& call, const FewPes& others,
                          const std::string& others_call) {
  return fmt::format(
      "{} called {} but {} called {}; all PEs must make the same calls in the same order",
      in_call.words(), describe(call), others.words(), others_call);
}

std::string why_none_succeeds(const std::string& first_failure) {
  return "no collective call succeeds any more, because one has failed: " + first_failure;
}

}  // namespace chime::host
