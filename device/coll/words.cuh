// Words: 4 bytes of data and the number of their turn in one store of 64 bits, so that who sees the
// number has the data. Small messages between PEs whose memory is mapped go as words: they need no
// fence, and no second store. A CPU copies more than a few bytes faster.
//
// A turn's number has 32 bits here, and 0 and 1 are never sent: in a team's first turn, and in two
// of 2^32, no message goes as words, and the receiver clears its own. So none is met again.
#ifndef CHIME_DEVICE_COLL_WORDS_CUH_
#define CHIME_DEVICE_COLL_WORDS_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chime/device/coll/lane.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/order.cuh"

namespace chime::detail {

inline constexpr std::size_t kDataOfWord = 4;

CHIME_DEVICE std::uint32_t number_in_words(std::uint64_t turn) {
  return static_cast<std::uint32_t>(turn);
}
// A team's first turn is 1 above a multiple of 2^40.
CHIME_DEVICE bool clears_words(std::uint64_t turn) { return number_in_words(turn) <= 1; }

// The most bytes of a message that goes as words. On every device these are at least kFewBytes.
inline constexpr std::size_t kFewBytes = 16;
CHIME_DEVICE std::size_t bytes_of_words(const abi::Team& team) {
  if (!exec::stores_are_cheap()) return kFewBytes;
  return team.words_bytes / sizeof(std::uint64_t) * kDataOfWord;
}
// Words of a message in this turn; 0: it does not go as words.
CHIME_DEVICE unsigned words_for(const Context& ctx, Meeting meeting, std::size_t bytes) {
  if (bytes > bytes_of_words(team_of(ctx, meeting.handle))) return 0;
  if (clears_words(meeting.area(ctx).turn)) return 0;
  return static_cast<unsigned>((bytes + kDataOfWord - 1) / kDataOfWord);
}

CHIME_DEVICE bool is_whole_word(const std::byte* data, std::size_t rest) {
  return rest >= kDataOfWord && reinterpret_cast<std::uintptr_t>(data) % kDataOfWord == 0;
}
CHIME_DEVICE std::uint32_t load_data_of_word(const std::byte* src, std::size_t rest) {
  std::uint32_t data = 0;
  if (is_whole_word(src, rest)) {
    memcpy(&data, __builtin_assume_aligned(src, kDataOfWord), kDataOfWord);
    return data;
  }
  for (unsigned i = 0; i < kDataOfWord && i < rest; ++i) {
    data |= static_cast<std::uint32_t>(src[i]) << 8 * i;
  }
  return data;
}
CHIME_DEVICE void store_data_of_word(std::byte* dst, std::size_t rest, std::uint32_t data) {
  if (is_whole_word(dst, rest)) {
    memcpy(__builtin_assume_aligned(dst, kDataOfWord), &data, kDataOfWord);
    return;
  }
  for (unsigned i = 0; i < kDataOfWord && i < rest; ++i) {
    dst[i] = static_cast<std::byte>(data >> 8 * i);
  }
}

CHIME_DEVICE std::uint32_t number_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

// To `words`, which stores reach. By all members of the group.
template <class Group>
CHIME_DEVICE void store_words(Group g, std::uint64_t* words, const std::byte* src,
                              std::size_t bytes, std::uint32_t number) {
  for (std::size_t i = g.rank(); i * kDataOfWord < bytes; i += g.size()) {
    const std::size_t at = i * kDataOfWord;
    order::store_data(words + i,
                      std::uint64_t{number} << 32 | load_data_of_word(src + at, bytes - at));
  }
}

// Whether all of the words from `seen` on have come. The load is all that a reader needs: data and
// number are one word. `seen` goes on to the first that has not.
CHIME_DEVICE bool have_come(const std::uint64_t* words, unsigned count, std::uint32_t number,
                            unsigned& seen) {
  while (seen < count && number_of(order::load_data(words + seen)) == number) ++seen;
  return seen == count;
}

// Puts a message's data to `dst`, from words, or from `slot` if it did not come as words. By all
// members of the group, of which one saw it come before they met. Each word's number is compared
// again: what a member stores after that comes after its loads of words.
template <class Group>
CHIME_DEVICE void unpack(Group g, std::byte* dst, const std::uint64_t* words, const std::byte* slot,
                         std::size_t bytes, std::uint32_t number) {
  for (std::size_t i = g.rank(); i * kDataOfWord < bytes; i += g.size()) {
    const std::size_t at = i * kDataOfWord;
    const std::uint64_t word = order::load_data(words + i);
    const bool came_as_word = number_of(word) == number;
    store_data_of_word(
        dst + at, bytes - at,
        came_as_word ? static_cast<std::uint32_t>(word) : load_data_of_word(slot + at, bytes - at));
  }
}

// This PE's words of both halves, before its first message of a turn that clears them: others send
// words in the next one, when they have heard from this PE. By all members of the group.
template <class Group>
CHIME_DEVICE void clear_words(const Context& ctx, Group g, Meeting meeting) {
  const abi::Team& team = team_of(ctx, meeting.handle);
  const std::size_t count =
      std::size_t{static_cast<unsigned>(team.size)} * team.words_bytes / sizeof(std::uint64_t);
  const std::ptrdiff_t half = ctx.teams.scratch_bytes / 2 / sizeof(std::uint64_t);
  std::uint64_t* const here = words_of(ctx, meeting, 0);
  std::uint64_t* const other = (meeting.area(ctx).turn & 1) != 0 ? here - half : here + half;
  for (std::size_t i = g.rank(); i < count; i += g.size()) {
    order::store_data(here + i, std::uint64_t{0});
    order::store_data(other + i, std::uint64_t{0});
  }
}

}  // namespace chime::detail

#endif  // CHIME_DEVICE_COLL_WORDS_CUH_
