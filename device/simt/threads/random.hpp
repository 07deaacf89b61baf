// A small seeded generator (splitmix64): schedules must be the same with every standard library.
#pragma once

#include <cstdint>

namespace chime::simt {

constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  // Uniform in [0, n), near enough for n below 2^32.
  unsigned below(unsigned n) { return static_cast<unsigned>((next() >> 32) * n >> 32); }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace chime::simt
