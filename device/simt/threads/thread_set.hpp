// A set of a block's threads by rank, as bits: barriers release their waiters with a few ORs.
#pragma once

#include <bit>
#include <cstdint>

namespace chime::simt {

inline constexpr unsigned kMaxBlockThreads = 1024;

class ThreadSet {
 public:
  static constexpr unsigned kNone = ~0u;

  void clear() { *this = ThreadSet(); }
  void add(unsigned rank) { words_[rank / 64] |= std::uint64_t{1} << rank % 64; }
  void remove(unsigned rank) { words_[rank / 64] &= ~(std::uint64_t{1} << rank % 64); }
  bool contains(unsigned rank) const { return words_[rank / 64] >> rank % 64 & 1; }

  void add_first(unsigned count) {
    for (unsigned rank = 0; rank < count; ++rank) add(rank);
  }

  // Moves the members of `other`, a set of threads below `threads`, into this one.
  void take(ThreadSet& other, unsigned threads) {
    for (unsigned i = 0; i < words(threads); ++i) {
      words_[i] |= other.words_[i];
      other.words_[i] = 0;
    }
  }

  // Adds the lanes in `lanes` of warp `warp`.
  void add_lanes(unsigned warp, unsigned lanes) {
    words_[warp / 2] |= std::uint64_t{lanes} << warp % 2 * 32;
  }
  unsigned lanes_of(unsigned warp) const {
    return static_cast<unsigned>(words_[warp / 2] >> warp % 2 * 32);
  }

  // How many of `threads` are in it.
  unsigned count(unsigned threads) const {
    unsigned members = 0;
    for (unsigned i = 0; i < words(threads); ++i) {
      members += static_cast<unsigned>(std::popcount(words_[i]));
    }
    return members;
  }

  // The first member at or after `rank`, cyclically among `threads`; kNone if the set is empty.
  unsigned next_from(unsigned rank, unsigned threads) const {
    const unsigned count = words(threads), first = rank / 64;
    if (first < count) {
      const std::uint64_t rest = words_[first] >> rank % 64;
      if (rest) return rank + static_cast<unsigned>(std::countr_zero(rest));
    }
    for (unsigned i = first + 1; i < count; ++i) {
      if (words_[i]) return i * 64 + static_cast<unsigned>(std::countr_zero(words_[i]));
    }
    for (unsigned i = 0; i <= first && i < count; ++i) {
      if (words_[i]) return i * 64 + static_cast<unsigned>(std::countr_zero(words_[i]));
    }
    return kNone;
  }

 private:
  static unsigned words(unsigned threads) { return (threads + 63) / 64; }
  std::uint64_t words_[kMaxBlockThreads / 64] = {};
};

}  // namespace chime::simt
