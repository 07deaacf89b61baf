// A byte-exact picture of a piece of memory: the expected value of every byte after a transfer,
// including guard bytes around and between the pieces.
//
// A list of Pieces lays out one source and one target region. Every piece has a separate window in
// both, fenced by guard bytes. One kernel moves all pieces, and one comparison checks them; it
// names the piece and the distance of the first wrong byte from its ends.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chime::tests {

inline constexpr std::byte kGuard{0xA5};

// `count` elements that start `source_skip` / `target_skip` elements after a 64-byte boundary.
struct Shape {
  std::size_t count;
  unsigned source_skip, target_skip;
};

// Zero-length, around the widths of stores (4, 8, 16 bytes), around a warp and a block of those,
// with every misalignment of the two sides.
inline std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (std::size_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 129, 517, 1031})
    all.push_back({count, 0, 0});
  for (unsigned skip = 1; skip < 16; skip += 2) {
    all.push_back({37, skip, skip});
    all.push_back({75, 0, skip});
    all.push_back({66, skip, 0});
    all.push_back({131, skip, 16 - skip});
  }
  all.push_back({0, 3, 5});
  all.push_back({1, 3, 5});
  return all;
}

// One transfer, in bytes from the starts of the source and target regions.
struct Piece {
  std::uint64_t source, target, count, element_bytes;
};

class Picture {
 public:
  Picture(const std::vector<Shape>& shapes, std::size_t element_bytes) {
    for (const Shape& shape : shapes) {
      const std::uint64_t payload = shape.count * element_bytes;
      pieces_.push_back({bytes_ + kMargin + shape.source_skip * element_bytes,
                         bytes_ + kMargin + shape.target_skip * element_bytes, shape.count,
                         element_bytes});
      bytes_ += 2 * kMargin + (payload + 16 * element_bytes + 63) / 64 * 64;
    }
  }

  std::size_t bytes() const { return bytes_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  // The source region of PE `pe`: every byte differs from its neighbours and from the guard.
  std::vector<std::byte> source(int pe) const {
    std::vector<std::byte> image(bytes_);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = pattern(pe, i);
    return image;
  }

  // The target region after PE `pe`'s source was moved into it.
  std::vector<std::byte> target(int pe) const {
    std::vector<std::byte> image(bytes_, kGuard);
    for (const Piece& piece : pieces_)
      for (std::size_t i = 0; i < piece.count * piece.element_bytes; ++i)
        image[piece.target + i] = pattern(pe, piece.source + i);
    return image;
  }

  testing::AssertionResult same(const std::vector<std::byte>& expected,
                                const std::vector<std::byte>& seen) const {
    auto [wanted, wrong] = std::mismatch(expected.begin(), expected.end(), seen.begin());
    if (wrong == seen.end()) return testing::AssertionSuccess();
    const std::size_t at = static_cast<std::size_t>(wrong - seen.begin());
    return testing::AssertionFailure()
           << "byte " << where(at) << " is " << int(*wrong) << " and must be " << int(*wanted)
           << (*wanted == kGuard ? " (guard byte)" : "");
  }

 private:
  static constexpr std::uint64_t kMargin = 64;

  static std::byte pattern(int pe, std::size_t i) {
    const std::uint64_t mixed =
        (i + 1) * 0x9E3779B97F4A7C15ull + std::uint64_t(pe) * 0xD1B54A32D192ED03ull;
    const std::byte value{static_cast<unsigned char>(mixed >> 56)};
    return value == kGuard ? std::byte{0x5A} : value;
  }

  std::string where(std::size_t at) const {
    std::size_t piece = 0;
    while (piece + 1 < pieces_.size() && pieces_[piece + 1].target - kMargin <= at) ++piece;
    const Piece& p = pieces_[piece];
    return std::to_string(static_cast<std::int64_t>(at) - static_cast<std::int64_t>(p.target)) +
           " of a piece of " + std::to_string(p.count) + " elements of " +
           std::to_string(p.element_bytes) + " bytes (source " + std::to_string(p.source % 64) +
           ", target " + std::to_string(p.target % 64) + " past 64-byte alignment)";
  }

  std::vector<Piece> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace chime::tests
