// A few bytes in registers, as a request carries them: `Data` has an array `word` for them. No
// array is indexed by a variable, which would put it into memory.
#ifndef CHIME_DEVICE_PATH_SMALL_DATA_CUH_
#define CHIME_DEVICE_PATH_SMALL_DATA_CUH_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "chime/device/exec/exec.cuh"

namespace chime {

template <class Data, class T>
CHIME_DEVICE Data small_data_of(const T& value) {
  static_assert(sizeof(T) <= sizeof(Data));
  Data data = {};
  memcpy(data.word, &value, sizeof(T));
  return data;
}

namespace detail {

// The word at `from`, of which the low `rest` bytes count.
template <std::size_t kLeast>
CHIME_DEVICE std::uint32_t load_word(const std::byte* from, std::uint32_t rest) {
  if constexpr (kLeast >= 4) {
    std::uint32_t word;
    memcpy(&word, __builtin_assume_aligned(from, 4), 4);
    return word;
  } else {
    std::uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i) {
      if (i < rest) word |= static_cast<std::uint32_t>(from[i]) << (8 * i);
    }
    return word;
  }
}

// Written out, so that the words stay in registers.
template <class Data, std::size_t kLeast, std::size_t... kWord>
CHIME_DEVICE Data load_words(const std::byte* from, std::uint32_t bytes,
                             std::index_sequence<kWord...>) {
  return {{(4 * kWord < bytes ? load_word<kLeast>(from + 4 * kWord, bytes - 4 * kWord) : 0u)...}};
}

}  // namespace detail

// kLeast: an alignment that `from` and `bytes` are known to have.
template <class Data, std::size_t kLeast>
CHIME_DEVICE Data load_small_data(const std::byte* from, std::uint32_t bytes) {
  return detail::load_words<Data, kLeast>(from, bytes,
                                          std::make_index_sequence<sizeof(Data) / 4>{});
}

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_SMALL_DATA_CUH_
