// Numbers for the objects of one kind. None comes back before all others were given, so that a
// program's stale one is noticed for as long as can be.
#pragma once

#include <cstdint>
#include <optional>

namespace softnic {

class Numbers {
 public:
  // From `first` to `last`; the first one given is `start`.
  constexpr Numbers(std::uint32_t first, std::uint32_t last, std::uint32_t start)
      : first_(first), last_(last), next_(start) {}
  constexpr Numbers(std::uint32_t first, std::uint32_t last) : Numbers(first, last, first) {}

  // The next one for which `is_used(number)` is false; nothing when all are used.
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
