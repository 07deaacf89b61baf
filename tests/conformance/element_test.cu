// p and g: one element by value.
#include "chime/device/rma.cuh"
#include "chime/device/sync.cuh"
#include "support/image.hpp"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

// Two warps and a part of one.
constexpr unsigned kThreads = 70;
constexpr unsigned kStride = 3;  // elements kStride * i are written, the others guard

template <class T>
CHIME_KERNEL void put_elements(CHIME_GRID_CONSTANT const Context context, T* target,
                               const T* values, unsigned stride, int pe) {
  const unsigned i = exec::thread_rank();
  p(context, target + i * stride, values[i * stride], pe);
}

template <class T>
CHIME_KERNEL void get_elements(CHIME_GRID_CONSTANT const Context context, T* target,
                               const T* source, int pe) {
  const unsigned i = exec::thread_rank();
  target[i * kStride] = g(context, source + i * kStride, pe);
}

// One piece of one element per thread, `stride` apart, with no margin between; guards follow.
class Elements {
 public:
  explicit Elements(std::size_t element_bytes, unsigned stride = kStride)
      : element_bytes_(element_bytes), stride_(stride) {}
  std::size_t bytes() const { return kThreads * kStride * element_bytes_; }
  std::vector<std::byte> source(int pe) const {
    std::vector<std::byte> image(bytes());
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = std::byte(static_cast<unsigned char>(i * 37 + std::size_t(pe) * 11 + 1));
    return image;
  }
  std::vector<std::byte> target(int pe) const {
    std::vector<std::byte> image(bytes(), kGuard), from = source(pe);
    for (std::size_t i = 0; i < kThreads * stride_ * element_bytes_; ++i)
      if (i / element_bytes_ % stride_ == 0) image[i] = from[i];
    return image;
  }

 private:
  std::size_t element_bytes_;
  unsigned stride_;
};

template <class T>
T* typed(std::byte* region) {
  return reinterpret_cast<T*>(region);
}

void expect_elements_put(Pe& pe, unsigned stride) {
  for_each_rma_type([&]<class T>(Row<T>) {
    const Elements elements(sizeof(T), stride);
    Symmetric<std::byte> target(elements.bytes());
    const Private<std::byte> values(elements.source(pe.rank()));
    target.fill(int(kGuard));
    pe.barrier();
    pe.run(1, kThreads, put_elements<T>, pe.context(), typed<T>(target),
           static_cast<const T*>(typed<T>(values)), stride, pe.next());
    pe.barrier();
    EXPECT_EQ(elements.target(pe.previous()), target.read());
  });
}

IN_EVERY_WORLD(P, WritesOneElementAndNoNeighbour) {
  world.spawn(1, [](Pe& pe) { expect_elements_put(pe, kStride); });
}

// Each warp sends its elements in one request where a NIC carries them.
IN_EVERY_WORLD(P, WritesEachLanesElementBesideItsNeighbours) {
  world.spawn(1, [](Pe& pe) { expect_elements_put(pe, 1); });
}

IN_EVERY_WORLD(G, ReadsOneElement) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      const Elements elements(sizeof(T));
      Symmetric<std::byte> source(elements.bytes());
      Private<std::byte> target(std::vector<std::byte>(elements.bytes(), kGuard));
      source.write(elements.source(pe.rank()));
      pe.barrier();
      pe.run(1, kThreads, get_elements<T>, pe.context(), typed<T>(target),
             static_cast<const T*>(typed<T>(source)), pe.next());
      pe.barrier();
      EXPECT_EQ(elements.target(pe.next()), target.read());
    });
  });
}

}  // namespace
}  // namespace chime::tests
