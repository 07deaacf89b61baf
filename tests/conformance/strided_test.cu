// iput and iget: elements at their strides, and nothing between them.
#include "chime/device/rma.cuh"
#include "support/image.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

struct StridedPiece {
  std::uint64_t target, source;  // in elements from the starts of the regions
  std::int64_t target_stride, source_stride;
  std::uint64_t count;
};

// Pieces of many strides and counts one after the other, one guard element between them.
std::vector<StridedPiece> strided_pieces() {
  std::vector<StridedPiece> pieces;
  std::uint64_t at = 1;
  for (auto [target_stride, source_stride] : {std::pair{1, 1}, {1, 2}, {3, 1}, {2, 5}, {7, 3}})
    for (std::uint64_t count : {0, 1, 2, 31, 71}) {
      pieces.push_back({at, at, target_stride, source_stride, count});
      at += count * std::uint64_t(std::max(target_stride, source_stride)) + 1;
    }
  return pieces;
}

std::uint64_t elements_of(const std::vector<StridedPiece>& pieces) {
  const StridedPiece& last = pieces.back();
  return last.target +
         last.count * std::uint64_t(std::max(last.target_stride, last.source_stride)) + 1;
}

std::vector<std::byte> strided_source(std::size_t bytes, int pe) {
  std::vector<std::byte> image(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    image[i] = std::byte(static_cast<unsigned char>((i * 0x9E3779B1u) >> 13) ^ unsigned(pe * 29));
  return image;
}

std::vector<std::byte> strided_target(std::size_t bytes, std::size_t element, int pe) {
  const std::vector<std::byte> source = strided_source(bytes, pe);
  std::vector<std::byte> image(bytes, kGuard);
  for (const StridedPiece& piece : strided_pieces())
    for (std::uint64_t i = 0; i < piece.count; ++i)
      std::copy_n(
          source.begin() +
              std::ptrdiff_t((piece.source + i * std::uint64_t(piece.source_stride)) * element),
          element,
          image.begin() +
              std::ptrdiff_t((piece.target + i * std::uint64_t(piece.target_stride)) * element));
  return image;
}

struct IPut {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                const StridedPiece& piece, int pe) {
    iput(context, group, target, source, piece.target_stride, piece.source_stride, piece.count, pe);
  }
};

struct IGet {
  template <class Group, class T>
  CHIME_DEVICE static void move(const Context& context, Group group, T* target, const T* source,
                                const StridedPiece& piece, int pe) {
    iget(context, group, target, source, piece.target_stride, piece.source_stride, piece.count, pe);
  }
};

template <class Op, class T, class Group>
CHIME_KERNEL void move_strided(CHIME_GRID_CONSTANT const Context context, T* target,
                               const T* source, const StridedPiece* pieces, unsigned count,
                               int pe) {
  for (unsigned i = Crowd<Group>::index(); i < count; i += Crowd<Group>::kGroups)
    Op::move(context, Group{}, target + pieces[i].target, source + pieces[i].source, pieces[i], pe);
}

template <class Op, class T, class Group>
void run_strided(Pe& pe, std::byte* target, std::byte* source) {
  const std::vector<StridedPiece> list = strided_pieces();
  const Private<StridedPiece> pieces(list);
  pe.run(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, move_strided<Op, T, Group>, pe.context(),
         reinterpret_cast<T*>(target), reinterpret_cast<const T*>(source), pieces.data(),
         unsigned(list.size()), pe.next());
}

IN_EVERY_WORLD(IPut, WritesItsElementsAndNothingBetween) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      const std::size_t bytes = elements_of(strided_pieces()) * sizeof(T);
      Symmetric<std::byte> target(bytes);
      const Private<std::byte> source(strided_source(bytes, pe.rank()));
      for_each_group([&]<class Group>(GroupTag<Group>) {
        target.fill(int(kGuard));
        pe.barrier();
        run_strided<IPut, T, Group>(pe, target, source);
        pe.barrier();
        EXPECT_EQ(strided_target(bytes, sizeof(T), pe.previous()), target.read());
        pe.barrier();
      });
    });
  });
}

IN_EVERY_WORLD(IGet, ReadsItsElementsAndWritesNothingBetween) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      const std::size_t bytes = elements_of(strided_pieces()) * sizeof(T);
      Symmetric<std::byte> source(bytes);
      Private<std::byte> target(bytes);
      source.write(strided_source(bytes, pe.rank()));
      pe.barrier();
      for_each_group([&]<class Group>(GroupTag<Group>) {
        target.write(std::vector<std::byte>(bytes, kGuard));
        run_strided<IGet, T, Group>(pe, target, source);
        EXPECT_EQ(strided_target(bytes, sizeof(T), pe.next()), target.read());
      });
      pe.barrier();
    });
  });
}

}  // namespace
}  // namespace chime::tests
