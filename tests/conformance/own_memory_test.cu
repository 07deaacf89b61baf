// Operations of a PE on itself take any address of its device, whether or not it is symmetric.
#include "chime/device/amo.cuh"
#include "chime/device/rma.cuh"
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/schedule.hpp"
#include "support/typed.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

using Number = std::uint64_t;
constexpr unsigned kThreads = 64;  // two warps, which do the same: an element has one value
constexpr unsigned kCount = 96;

std::vector<Number> numbers(Number first) {
  std::vector<Number> all(kCount);
  for (unsigned i = 0; i < kCount; ++i) all[i] = first + i * 3;
  return all;
}

// Awaits the signal, and copies the data that came with it for all threads of the block.
CHIME_DEVICE void copy_behind(const Context& context, const Number* signal, Number value,
                              const Number* from, Number* seen) {
  signal_wait_until(context, Block{}, signal, Cmp::kEq, value);
  for (unsigned i = exec::thread_rank(); i < kCount; i += kThreads) seen[i] = from[i];
  Block{}.sync();
}

template <class Group>
CHIME_KERNEL void move(CHIME_GRID_CONSTANT const Context context, Number* to, Number* back,
                       const Number* from) {
  const int me = my_pe(context);
  put(context, Group{}, to, from, kCount, me);
  Block{}.sync();
  get(context, Group{}, back, to, kCount, me);
}

template <class Group>
CHIME_KERNEL void move_nbi(CHIME_GRID_CONSTANT const Context context, Number* to, Number* back,
                           const Number* from) {
  const int me = my_pe(context);
  put_nbi(context, Group{}, to, from, kCount, me);
  quiet(context);
  Block{}.sync();
  get_nbi(context, Group{}, back, to, kCount, me);
  quiet(context);
}

template <class Group>
CHIME_KERNEL void move_with_strides(CHIME_GRID_CONSTANT const Context context, Number* to,
                                    Number* back, const Number* from) {
  const int me = my_pe(context);
  iput(context, Group{}, to, from, 2, 2, kCount / 2, me);
  iput(context, Group{}, to + 1, from + 1, 2, 2, kCount / 2, me);
  Block{}.sync();
  iget(context, Group{}, back, to, 3, 3, kCount / 3, me);
  iget(context, Group{}, back + 1, to + 1, 3, 3, kCount / 3, me);
  iget(context, Group{}, back + 2, to + 2, 3, 3, kCount / 3, me);
}

CHIME_KERNEL void move_elements(CHIME_GRID_CONSTANT const Context context, Number* to, Number* back,
                                const Number* from) {
  const int me = my_pe(context);
  for (unsigned i = exec::thread_rank(); i < kCount; i += kThreads) {
    p(context, to + i, from[i], me);
    back[i] = g(context, to + i, me);
  }
}

void expect_moved(Pe& pe, void (*kernel)(Context, Number*, Number*, const Number*), bool to_heap) {
  const std::vector<Number> values = numbers(Number(pe.rank()) * 1000 + 1);
  const Private<Number> from{std::span<const Number>(values)};
  Private<Number> to(kCount), back(kCount);
  Symmetric<Number> heap(kCount);
  pe.run(1, kThreads, kernel, pe.context(), to_heap ? heap.data() : to.data(), back.data(),
         static_cast<const Number*>(from.data()));
  EXPECT_EQ(values, to_heap ? heap.read() : to.read());
  EXPECT_EQ(values, back.read());
}

IN_EVERY_WORLD(OwnMemory, IsPutToAndGotFromByEveryGroup) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      for (const bool to_heap : {false, true}) {
        expect_moved(pe, move<Group>, to_heap);
        expect_moved(pe, move_nbi<Group>, to_heap);
        expect_moved(pe, move_with_strides<Group>, to_heap);
      }
    });
    for (const bool to_heap : {false, true}) expect_moved(pe, move_elements, to_heap);
  });
}

template <class Group>
CHIME_KERNEL void put_and_signal(CHIME_GRID_CONSTANT const Context context, Number* to,
                                 const Number* from, Number* signal, Number* seen, SignalOp op) {
  const bool calls = exec::thread_rank() < Group{}.size();
  if (calls) {
    put_signal(context, Group{}, to, from, kCount, SignalUpdate{signal, 5, op}, my_pe(context));
  }
  copy_behind(context, signal, 5, to, seen);
}

// The heap holds neither data nor signal, one of them, the other, or both.
IN_EVERY_WORLD(OwnMemory, HasTheDataOfAPutSignalBeforeItsSignal) {
  world.spawn(1, [](Pe& pe) {
    const std::vector<Number> values = numbers(Number(pe.rank()) * 1000 + 1);
    const Private<Number> from{std::span<const Number>(values)};
    Private<Number> to(kCount), signal(1), seen(kCount);
    Symmetric<Number> heap_to(kCount), heap_signal(1);
    for_each_memory_mode(pe, [&] {
      for_each_group([&]<class Group>(GroupTag<Group>) {
        for (const SignalOp op : {SignalOp::kSet, SignalOp::kAdd}) {
          for (unsigned where = 0; where < 4; ++where) {
            if (where == 2 && op == SignalOp::kAdd) continue;  // NICs or proxies do not add there
            SCOPED_TRACE("heap has " + std::to_string(where) + " (1: data, 2: signal)");
            const std::vector<Number> nothing(kCount);
            to.write(std::span<const Number>(nothing));
            signal.write(std::span<const Number>(nothing).first(1));
            seen.write(std::span<const Number>(nothing));
            heap_to.fill(0);
            heap_signal.fill(0);
            pe.run(1, kThreads, put_and_signal<Group>, pe.context(),
                   where & 1 ? heap_to.data() : to.data(), static_cast<const Number*>(from.data()),
                   where & 2 ? heap_signal.data() : signal.data(), seen.data(), op);
            EXPECT_EQ(values, seen.read());
          }
        }
      });
    });
  });
}

CHIME_KERNEL void update(CHIME_GRID_CONSTANT const Context context, Number* words,
                         Number* results) {
  const int me = my_pe(context);
  atomic_add(context, words, 1, me);
  atomic_fetch_add(context, words + 1, 2, me);
  if (exec::thread_rank() != 0) return;
  atomic_set(context, words + 2, 7, me);
  results[0] = atomic_swap(context, words + 3, 9, me);
  results[1] = atomic_compare_swap(context, words + 4, 0, 11, me);
  results[2] = atomic_fetch(context, words + 2, me);
  atomic_xor(context, words + 5, 3, me);
  signal_op(context, SignalUpdate{words + 6, 4, SignalOp::kSet}, me);
  signal_op(context, SignalUpdate{words + 7, 4, SignalOp::kAdd}, me);
}

IN_EVERY_WORLD(OwnMemory, HasWordsOfAtomicsAndSignals) {
  world.spawn(1, [](Pe& pe) {
    Private<Number> words(8), results(3);
    pe.run(2, kThreads, update, pe.context(), words.data(), results.data());
    const std::vector<Number> is = words.read();
    EXPECT_EQ(is[0], 2 * kThreads);
    EXPECT_EQ(is[1], 4 * kThreads);
    EXPECT_EQ(is[2], 7u);
    EXPECT_EQ(is[3], 9u);
    EXPECT_EQ(is[4], 11u);
    EXPECT_EQ(is[5], 0u) << "two blocks";
    EXPECT_EQ(is[6], 4u);
    EXPECT_EQ(is[7], 8u);
  });
}

// Also the host's own variables.
IN_EVERY_WORLD(OwnMemory, IsTakenFromTheHost) {
  world.spawn(1, [](Pe& pe) {
    const int me = pe.rank();
    const std::vector<Number> values = numbers(Number(me) * 1000 + 1);
    Private<Number> device(kCount);
    std::vector<Number> host(kCount);
    chime_putmem(device.data(), values.data(), kCount * sizeof(Number), me);
    EXPECT_EQ(values, device.read());
    chime_getmem(host.data(), device.data(), kCount * sizeof(Number), me);
    EXPECT_EQ(values, host);
    Number word = 0, signal = 0;
    chime_uint64_p(&word, 3, me);
    EXPECT_EQ(chime_uint64_atomic_fetch_add(&word, 4, me), 3u);
    EXPECT_EQ(chime_uint64_g(&word, me), 7u);
    chime_putmem_signal(device.data(), host.data(), sizeof(Number), &signal, 2, CHIME_SIGNAL_ADD,
                        me);
    chimex_signal_op(&signal, 3, CHIME_SIGNAL_ADD, me);
    EXPECT_EQ(signal, 5u);
    chime_uint64_iput(host.data(), values.data() + 1, 2, 1, 3, me);
    EXPECT_EQ(host[2], values[2]);
  });
}

// It is as little symmetric as before.
IN_EVERY_WORLD(OwnMemory, HasNoSymmetricAddress) {
  world.spawn(1, [](Pe& pe) {
    Private<Number> word(1);
    EXPECT_EQ(chime_ptr(word.data(), pe.rank()), nullptr);
    EXPECT_EQ(chime_addr_accessible(word.data(), pe.rank()), 0);
  });
}

}  // namespace
}  // namespace chime::tests
