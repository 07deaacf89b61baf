// Transfers of many MiB, and addresses and counts beyond 4 GiB, in a heap larger than the memory it
// occupies: only touched pages exist.
//
// CTest gives this program CHIME_SYMMETRIC_SIZE=10G.
#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

constexpr std::size_t kGiB = std::size_t(1) << 30;

std::uint32_t value_at(std::size_t i, int pe) {
  return std::uint32_t(i * 2654435761u) ^ std::uint32_t(pe) * 0x01010101u;
}

template <class Group>
CHIME_KERNEL void put_whole(CHIME_GRID_CONSTANT const Context context, std::uint32_t* target,
                            const std::uint32_t* source, std::size_t n, int pe) {
  put(context, Group{}, target, source, n, pe);
}

template <class Group>
CHIME_KERNEL void get_whole(CHIME_GRID_CONSTANT const Context context, std::uint32_t* target,
                            const std::uint32_t* source, std::size_t n, int pe) {
  get(context, Group{}, target, source, n, pe);
}

// 3 MiB and a few elements: many turns of every loop, and a tail.
constexpr std::size_t kElements = 3 * 262144 + 13;

std::vector<std::uint32_t> values(int pe) {
  std::vector<std::uint32_t> list(kElements);
  for (std::size_t i = 0; i < kElements; ++i) list[i] = value_at(i, pe);
  return list;
}

template <class Group>
void expect_large_transfers(Pe& pe, unsigned threads) {
  Symmetric<std::uint32_t> region(kElements + 2);
  const Private<std::uint32_t> source(values(pe.rank()));
  Private<std::uint32_t> back(kElements);
  pe.barrier();
  pe.run(1, threads, put_whole<Group>, pe.context(), region.data() + 1,
         static_cast<const std::uint32_t*>(source.data()), kElements, pe.next());
  pe.barrier();
  std::vector<std::uint32_t> expected = values(pe.previous());
  expected.insert(expected.begin(), 0);
  expected.push_back(0);
  EXPECT_TRUE(expected == region.read()) << "put";
  pe.run(1, threads, get_whole<Group>, pe.context(), back.data(),
         static_cast<const std::uint32_t*>(region.data() + 1), kElements, pe.next());
  EXPECT_TRUE(values(pe.rank()) == back.read()) << "get";
  pe.barrier();
}

IN_EVERY_WORLD(Huge, MegabytesArriveWhole) {
  world.spawn(1, [](Pe& pe) {
    expect_large_transfers<Thread>(pe, 1);
    expect_large_transfers<Warp>(pe, 32);
    expect_large_transfers<Block>(pe, 100);
  });
}

// A symmetric allocation of which most pages stay untouched.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes) : data_(static_cast<std::byte*>(chime_malloc(bytes))) {
    if (!data_) throw PeStopped(std::string("chime_malloc: ") + chimex_last_error());
  }
  ~Sparse() { chime_free(data_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(data_ + offset);
  }

 private:
  std::byte* data_;
};

IN_EVERY_WORLD(Huge, OffsetsBeyond4GiBReachTheirPlace) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kFar = 4 * kGiB + 4096, kCount = 300;
    Sparse heap(kFar + 65536);
    std::vector<std::uint32_t> mine(kCount), nothing(kCount), theirs(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      mine[i] = value_at(i, pe.rank());
      theirs[i] = value_at(i, pe.previous());
    }
    // The address that a 32-bit offset would give, and the right one.
    for (std::size_t offset : {std::size_t(4096), kFar})
      exec::copy(heap.at<std::uint32_t>(offset), nothing.data(), kCount * 4);
    const Private<std::uint32_t> source(mine);
    pe.barrier();
    pe.run(1, 32, put_whole<Warp>, pe.context(), heap.at<std::uint32_t>(kFar),
           static_cast<const std::uint32_t*>(source.data()), kCount, pe.next());
    pe.barrier();
    std::vector<std::uint32_t> near(kCount), far(kCount);
    exec::copy(near.data(), heap.at<std::uint32_t>(4096), kCount * 4);
    exec::copy(far.data(), heap.at<std::uint32_t>(kFar), kCount * 4);
    EXPECT_EQ(nothing, near);
    EXPECT_EQ(theirs, far);
    pe.barrier();
  });
}

// Words that a 32-bit offset would confuse with words at the start of the region.
struct FarWords {
  std::uint64_t signal, counter, data, pad;
};

CHIME_KERNEL inline void work_on_words(CHIME_GRID_CONSTANT const Context context, FarWords* words,
                                       const std::uint64_t* source, std::uint64_t* seen, int pe) {
  atomic_add(context, &words->counter, std::uint64_t(5), pe);
  seen[0] = atomic_fetch_add(context, &words->counter, std::uint64_t(7), pe);
  put_signal(context, Thread{}, &words->data, source, 1, {&words->signal, 9}, pe);
  seen[1] = signal_wait_until(context, &words->signal, Cmp::kEq, 9);
  wait_until(context, &words->counter, Cmp::kEq, std::uint64_t(12));
  seen[2] = g(context, &words->counter, pe);
}

IN_EVERY_WORLD(Huge, AtomicsSignalsAndWaitsBeyond4GiB) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kFar = 4 * kGiB;
    Sparse heap(kFar + 4096);
    const FarWords nothing{};
    for (std::size_t offset : {std::size_t(0), kFar})
      exec::copy(heap.at<FarWords>(offset), &nothing, sizeof nothing);
    const Private<std::uint64_t> source(std::vector<std::uint64_t>{100u + pe.rank()});
    Private<std::uint64_t> seen(3);
    pe.barrier();
    pe.run(1, 1, work_on_words, pe.context(), heap.at<FarWords>(kFar),
           static_cast<const std::uint64_t*>(source.data()), seen.data(), pe.next());
    pe.barrier();
    EXPECT_EQ((std::vector<std::uint64_t>{5, 9, 12}), seen.read());
    FarWords near{}, far{};
    exec::copy(&near, heap.at<FarWords>(0), sizeof near);
    exec::copy(&far, heap.at<FarWords>(kFar), sizeof far);
    EXPECT_TRUE(near.signal == 0 && near.counter == 0 && near.data == 0);
    EXPECT_TRUE(far.signal == 9 && far.counter == 12);
    EXPECT_EQ(100u + pe.previous(), far.data);
    pe.barrier();
  });
}

CHIME_KERNEL inline void put_far_apart(CHIME_GRID_CONSTANT const Context context, double* target,
                                       const double* source, std::ptrdiff_t stride, std::size_t n,
                                       int pe) {
  iput(context, Warp{}, target, source, stride, 1, n, pe);
}

IN_EVERY_WORLD(Huge, StridesSpanMoreThan4GiB) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kStride = 3 * kGiB / sizeof(double), kCount = 3;
    Sparse heap((kStride * (kCount - 1) + 1) * sizeof(double));
    const double base = pe.rank() + 0.5;
    const Private<double> source(std::vector<double>{base, base + 10, base + 20});
    pe.barrier();
    pe.run(1, 32, put_far_apart, pe.context(), heap.at<double>(0),
           static_cast<const double*>(source.data()), std::ptrdiff_t(kStride), kCount, pe.next());
    pe.barrier();
    for (std::size_t i = 0; i < kCount; ++i) {
      double seen = 0;
      exec::copy(&seen, heap.at<double>(0) + i * kStride, sizeof seen);
      EXPECT_EQ(pe.previous() + 0.5 + 10.0 * double(i), seen);
    }
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
