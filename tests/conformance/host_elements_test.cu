// Elements that the host moves: one by value, and many that lie apart, of every size.
#include <cstring>

#include "chime/host_ops.h"
#include "conformance/host_operands.hpp"

namespace chime::tests {
namespace {

constexpr std::size_t kSizes[] = {1, 2, 4, 8, 16};
constexpr std::byte kBetween{0xA5};

std::vector<std::byte> numbered(std::size_t bytes, int pe) {
  std::vector<std::byte> all(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    all[i] = std::byte(static_cast<unsigned char>(i * 7 + std::size_t(pe) * 31 + 1));
  return all;
}

// The neighbours of an element reveal a move that is too wide.
IN_EVERY_WORLD(HostElements, PAndGMoveOneElement) {
  world.spawn(1, [](Pe& pe) {
    for (const std::size_t size : kSizes) {
      SCOPED_TRACE(size);
      Symmetric<std::byte> target(3 * size);
      target.fill(int(kBetween));
      pe.barrier();
      const std::vector<std::byte> value = numbered(size, pe.rank());
      chime_host_p(target + size, value.data(), size, pe.next());
      pe.barrier();
      std::vector<std::byte> expected(3 * size, kBetween);
      const std::vector<std::byte> theirs = numbered(size, pe.previous());
      std::copy(theirs.begin(), theirs.end(), expected.begin() + std::ptrdiff_t(size));
      EXPECT_EQ(expected, target.read());
      std::vector<std::byte> seen(3 * size, kBetween);
      chime_host_g(seen.data() + size, target + size, size, pe.next());
      std::copy(value.begin(), value.end(), expected.begin() + std::ptrdiff_t(size));
      EXPECT_EQ(expected, seen);
      pe.barrier();
    }
  });
}

struct Strides {
  std::ptrdiff_t dst, src;
  std::size_t count;
};

// Counts around one element and a warp, and a span longer than a GPU's PE moves at once.
std::vector<Strides> strides_of(std::size_t size) {
  const auto far = static_cast<std::ptrdiff_t>(std::size_t{20000} / size + 1);
  return {{1, 1, 0}, {3, 2, 1}, {1, 1, 37}, {1, 3, 33}, {2, 1, 35}, {2, far, 40}, {far, 1, 3}};
}

std::size_t span(std::ptrdiff_t stride, const Strides& strides, std::size_t size) {
  return strides.count == 0 ? size : ((strides.count - 1) * std::size_t(stride) + 1) * size;
}

std::vector<std::byte> moved(const Strides& strides, std::size_t size,
                             const std::vector<std::byte>& source) {
  std::vector<std::byte> target(span(strides.dst, strides, size), kBetween);
  for (std::size_t i = 0; i < strides.count; ++i)
    std::memcpy(&target[i * std::size_t(strides.dst) * size],
                &source[i * std::size_t(strides.src) * size], size);
  return target;
}

template <class Memory>
void expect_iput_is_exact(Pe& pe, const Strides& strides, std::size_t size) {
  const std::size_t source_bytes = span(strides.src, strides, size);
  Symmetric<std::byte> target(span(strides.dst, strides, size));
  Memory source(source_bytes);
  source.write(numbered(source_bytes, pe.rank()));
  target.fill(int(kBetween));
  pe.barrier();
  chime_host_iput(target, source.data(), strides.dst, strides.src, strides.count, size, pe.next());
  pe.barrier();
  EXPECT_EQ(moved(strides, size, numbered(source_bytes, pe.previous())), target.read());
  pe.barrier();
}

template <class Memory>
void expect_iget_is_exact(Pe& pe, const Strides& strides, std::size_t size) {
  const std::size_t source_bytes = span(strides.src, strides, size);
  Symmetric<std::byte> source(source_bytes);
  source.write(numbered(source_bytes, pe.rank()));
  Memory target(span(strides.dst, strides, size));
  target.write(std::vector<std::byte>(span(strides.dst, strides, size), kBetween));
  pe.barrier();
  chime_host_iget(target.data(), source, strides.dst, strides.src, strides.count, size, pe.next());
  EXPECT_EQ(moved(strides, size, numbered(source_bytes, pe.next())), target.read());
  pe.barrier();
}

IN_EVERY_WORLD(HostElements, StridedOnesComeWhereTheyBelong) {
  world.spawn(1, [](Pe& pe) {
    for_each_operand([&]<class M>(MemoryTag<M>) {
      for (const std::size_t size : kSizes)
        for (const Strides& strides : strides_of(size)) {
          SCOPED_TRACE(testing::Message() << strides.count << " of " << size << " bytes, strides "
                                          << strides.dst << " and " << strides.src);
          expect_iput_is_exact<M>(pe, strides, size);
          expect_iget_is_exact<M>(pe, strides, size);
        }
    });
  });
}

}  // namespace
}  // namespace chime::tests
