#include "host/trace/merge/arrows.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "host/trace/merge/groups.hpp"

namespace chime::trace {
namespace {

// A word of a PE: its offset in the heap.
using Word = std::pair<int, std::uint64_t>;

struct Updated {
  std::size_t span;
  std::uint64_t begin_ns;
  Update how;
  std::uint64_t value;  // after a set: the word's; of an addition: what is added
  std::uint64_t sum;    // of the word, as far as the updates say, in the order of their beginnings
};
using Updates = std::map<Word, std::vector<Updated>>;  // by time

Updates collect_updates(const std::vector<Span>& spans) {
  Updates updates;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Event& event = *spans[i].event;
    const Update how = update_of(event);
    if (how == Update::kNone || event.pe < 0) continue;
    auto& of_word = updates[{event.pe, event.address}];
    const std::uint64_t before = of_word.empty() ? 0 : of_word.back().sum;
    const std::uint64_t sum = how == Update::kAdd ? before + event.value : event.value;
    of_word.push_back({i, spans[i].begin_ns, how, event.value, sum});
  }
  return updates;
}

// The low bits that a wait of `bytes` sees.
bool are_equal(std::uint64_t a, std::uint64_t b, std::uint64_t bytes) {
  const std::uint64_t mask = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes * 8) - 1;
  return ((a ^ b) & mask) == 0;
}

// The last of those that began until `end_ns`, and among them the last after which the word had the
// value that the wait saw.
const Updated* find_in_word(const std::vector<Updated>& updates, const Span& wait) {
  const auto after = std::upper_bound(
      updates.begin(), updates.end(), wait.end_ns,
      [](std::uint64_t end, const Updated& update) { return end < update.begin_ns; });
  if (after == updates.begin()) return nullptr;
  if (wait.event->has_seen) {
    for (auto update = after; update != updates.begin();)
      if (are_equal((--update)->sum, wait.event->seen, wait.event->bytes)) return &*update;
  }
  return &*std::prev(after);
}

// Waits for one word say what they saw if they got it. Waits for several got it if they ended.
bool has_its_event(const Span& span) {
  const Event& event = *span.event;
  if (span.is_open || group_of(event) != Group::kWait || is_wait_in_meeting(event)) return false;
  return event.address != kNotInHeap && (event.has_seen || is_wait_for_some(event));
}

const Updated* find_update(const Updates& updates, const Span& wait) {
  const Event& event = *wait.event;
  const Updated* last = nullptr;
  const std::uint64_t bytes = std::max<std::uint64_t>(event.bytes, 1);
  for (auto word = updates.lower_bound({event.my_pe, event.address});
       word != updates.end() && word->first < Word{event.my_pe, event.address + bytes}; ++word) {
    const Updated* const found = find_in_word(word->second, wait);
    if (found && (!last || found->begin_ns > last->begin_ns)) last = found;
  }
  return last;
}

}  // namespace

std::vector<Arrow> find_arrows(const std::vector<Span>& spans) {
  const Updates updates = collect_updates(spans);
  std::vector<Arrow> arrows;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!has_its_event(spans[i])) continue;
    if (const Updated* const update = find_update(updates, spans[i]))
      arrows.push_back({update->span, i});
  }
  return arrows;
}

}  // namespace chime::trace
