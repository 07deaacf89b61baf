// Numbers for the objects of one kind. None is used again before all others were, so that a
// program's stale number is noticed for as long as possible.
#pragma once

#include <cstdint>
#include <optional>

namespace softnic {

class Numbers {
 public:
  // From `first` to `last`; the first number is `start`.
  constexpr Numbers(std::uint32_t first, std::uint32_t last, std::uint32_t start)
      : first_(first), last_(last), next_(start) {}
  constexpr Numbers(std::uint32_t first, std::uint32_t last) : Numbers(first, last, first) {}

  // The next number for which `is_used(number)` is false; nothing if all are used.
  template <class IsUsed>
  std::optional<std::uint32_t> take(const IsUsed& is_used) {
    for (std::uint64_t tries = 0; tries <= last_ - first_; ++tries) {
      const std::uint32_t number = next_;
      next_ = number == last_ ? first_ : number + 1;
      if (!is_used(number)) return number;
    }
    return std::nullopt;
  }

 private:
  std::uint32_t first_, last_, next_;
};

}  // namespace softnic
