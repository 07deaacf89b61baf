#include "host/trace/merge/arrows.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/trace/merge/groups.hpp"

namespace chime::trace {
namespace {

// A word of a PE: its offset in the heap.
using Word = std::pair<int, std::uint64_t>;

struct Updated {
  std::size_t span;
  std::uint64_t begin_ns;
  // The word's value, as far as the updates say, in the order of their beginnings.
  std::uint64_t sum;
};

// The low bits that a wait of `bytes` sees.
std::uint64_t mask_of(std::uint64_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes * 8) - 1;
}

// The updates of one word, by time.
class Updates {
 public:
  void add(std::size_t span, std::uint64_t begin_ns, const Event& event) {
    const std::uint64_t before = all_.empty() ? 0 : all_.back().sum;
    const bool adds = update_of(event) == Update::kAdd;
    all_.push_back({span, begin_ns, adds ? before + event.value : event.value});
  }

  // The last of those that began until `wait` ended, and among them the last after which the word
  // had the value that it saw.
  const Updated* cause_of(const Span& wait) {
    const auto after = std::upper_bound(
        all_.begin(), all_.end(), wait.end_ns,
        [](std::uint64_t end, const Updated& update) { return end < update.begin_ns; });
    if (after == all_.begin()) return nullptr;
    const auto before = static_cast<std::size_t>(after - all_.begin());
    if (wait.event->has_seen)
      if (const Updated* const found = last_with(*wait.event, before)) return found;
    return &all_[before - 1];
  }

 private:
  using Places = std::vector<std::size_t>;
  using ByValue = std::unordered_map<std::uint64_t, Places>;

  const Updated* last_with(const Event& wait, std::size_t before) {
    const ByValue& by_value = by_value_of(wait.bytes);
    const auto places = by_value.find(wait.seen & mask_of(wait.bytes));
    if (places == by_value.end()) return nullptr;
    const auto after = std::lower_bound(places->second.begin(), places->second.end(), before);
    return after == places->second.begin() ? nullptr : &all_[*std::prev(after)];
  }

  // Made when all updates are there. Waits may be many, and each would go through them all.
  const ByValue& by_value_of(std::uint64_t bytes) {
    const auto [made, is_new] = by_value_.try_emplace(bytes);
    for (std::size_t i = 0; is_new && i < all_.size(); ++i)
      made->second[all_[i].sum & mask_of(bytes)].push_back(i);
    return made->second;
  }

  std::vector<Updated> all_;
  std::map<std::uint64_t, ByValue> by_value_;  // by the bytes of a wait
};
using UpdatesOfWords = std::map<Word, Updates>;

UpdatesOfWords collect_updates(const std::vector<Span>& spans) {
  UpdatesOfWords updates;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Event& event = *spans[i].event;
    if (update_of(event) == Update::kNone || event.pe < 0) continue;
    updates[{event.pe, event.address}].add(i, spans[i].begin_ns, event);
  }
  return updates;
}

// It takes time until a wait sees an update. So with one that began as the wait ended, the clock is
// too coarse, and no arrow could be drawn.
bool began_within(const Updated& update, const Span& wait) { return update.begin_ns < wait.end_ns; }

// Waits for one word say what they saw if they got it. Waits for several got it if they ended.
bool has_its_event(const Span& span) {
  const Event& event = *span.event;
  if (span.is_open || group_of(event) != Group::kWait || is_wait_in_meeting(event)) return false;
  return event.address != kNotInHeap && (event.has_seen || is_wait_for_some(event));
}

const Updated* find_update(UpdatesOfWords& updates, const Span& wait) {
  const Event& event = *wait.event;
  const Updated* last = nullptr;
  const std::uint64_t bytes = std::max<std::uint64_t>(event.bytes, 1);
  for (auto word = updates.lower_bound({event.my_pe, event.address});
       word != updates.end() && word->first < Word{event.my_pe, event.address + bytes}; ++word) {
    const Updated* const found = word->second.cause_of(wait);
    if (found && (!last || found->begin_ns > last->begin_ns)) last = found;
  }
  return last;
}

}  // namespace

std::vector<Arrow> find_arrows(const std::vector<Span>& spans) {
  UpdatesOfWords updates = collect_updates(spans);
  std::vector<Arrow> arrows;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!has_its_event(spans[i])) continue;
    const Updated* const update = find_update(updates, spans[i]);
    if (update && began_within(*update, spans[i])) arrows.push_back({update->span, i});
  }
  return arrows;
}

}  // namespace chime::trace
