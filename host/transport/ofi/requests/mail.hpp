// The memory of letters: those on their way out, and places where letters arrive.
//
// A letter is answered out of a new one, and the place where it arrived is free at once: so no PE's
// answers wait for another's, however many ask it. What answers take grows with that, up to what
// all peers may have asked at once.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "host/transport/ofi/requests/letter.hpp"
#include "host/transport/ofi/requests/posted.hpp"

namespace chime::host::ofi {

struct Letter : Posted {
  Letter() : Posted(Kind::kLetter) {}
  int to = -1;        // PE
  unsigned puts = 0;  // in it, that atomics may have to follow (Order)
  LetterText text;

  std::span<std::byte> bytes_for(std::uint64_t pass) { return text.finish(pass); }
};

struct Arrival : Posted {
  Arrival() : Posted(Kind::kReceive) {}
  static constexpr std::size_t kBytes = kLetterBytes;

  std::byte* data() { return memory_.data(); }

 private:
  alignas(8) LetterMemory memory_;
};

class Mail {
 public:
  static constexpr std::size_t kArrivals = 64;

  Letter& take() {
    if (free_.empty()) grow();
    Letter& letter = *free_.back();
    free_.pop_back();
    return letter;
  }
  void free(Letter& letter) { free_.push_back(&letter); }

  std::span<Arrival> arrivals() { return *arrivals_; }

 private:
  using Sheet = std::array<Letter, 8>;

  void grow() {
    for (Letter& letter : *sheets_.emplace_back(std::make_unique<Sheet>()))
      free_.push_back(&letter);
  }

  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<Letter*> free_;
  const std::unique_ptr<std::array<Arrival, kArrivals>> arrivals_ =
      std::make_unique<std::array<Arrival, kArrivals>>();
};

}  // namespace chime::host::ofi
