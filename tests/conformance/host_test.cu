// Operations of the host: they take any memory of their PE and any size, and are complete, or
// locally complete, as in a kernel.
#include <thread>

#include "conformance/host_operands.hpp"
#include "support/image.hpp"

namespace chime::tests {
namespace {

// More than a GPU's PE moves at once to and from an unmapped PE (host/ops/gpu/by_kernel.hpp).
constexpr std::size_t kLong = (std::size_t{1} << 20) + (std::size_t{300} << 10);

std::vector<Shape> all_shapes() {
  std::vector<Shape> all = shapes();
  all.push_back({kLong + 13, 3, 5});
  all.push_back({kLong / 2, 0, 0});
  return all;
}

template <class Move>
void move_all(const Picture& picture, std::byte* target, const std::byte* source, Move move) {
  for (const Piece& piece : picture.pieces())
    move(target + piece.target, source + piece.source, piece.count);
}

template <class Memory, class Move>
void expect_puts_are_exact(Pe& pe, const Picture& picture, Move move) {
  Symmetric<std::byte> target(picture.bytes());
  Memory source(picture.bytes());
  source.write(picture.source(pe.rank()));
  target.fill(int(kGuard));
  pe.barrier();
  move_all(picture, target, source.data(), move);
  pe.barrier();
  EXPECT_TRUE(picture.same(picture.target(pe.previous()), target.read()));
  pe.barrier();
}

IN_EVERY_WORLD(Host, PutsMoveExactlyTheNamedBytesFromAnyMemory) {
  world.spawn(1, [](Pe& pe) {
    const Picture picture(all_shapes(), 1);
    for_each_operand([&]<class M>(MemoryTag<M>) {
      expect_puts_are_exact<M>(pe, picture,
                               [&](std::byte* to, const std::byte* from, std::size_t n) {
                                 chime_putmem(to, from, n, pe.next());
                               });
      expect_puts_are_exact<M>(pe, picture,
                               [&](std::byte* to, const std::byte* from, std::size_t n) {
                                 chime_putmem_nbi(to, from, n, pe.next());
                                 chime_quiet();
                               });
    });
  });
}

template <class Memory, class Move>
void expect_gets_are_exact(Pe& pe, const Picture& picture, Move move) {
  Symmetric<std::byte> source(picture.bytes());
  source.write(picture.source(pe.rank()));
  Memory target(picture.bytes());
  target.write(std::vector<std::byte>(picture.bytes(), kGuard));
  pe.barrier();
  move_all(picture, target.data(), source, move);
  EXPECT_TRUE(picture.same(picture.target(pe.next()), target.read()));
  pe.barrier();
}

IN_EVERY_WORLD(Host, GetsMoveExactlyTheNamedBytesToAnyMemory) {
  world.spawn(1, [](Pe& pe) {
    const Picture picture(all_shapes(), 1);
    for_each_operand([&]<class M>(MemoryTag<M>) {
      expect_gets_are_exact<M>(pe, picture,
                               [&](std::byte* to, const std::byte* from, std::size_t n) {
                                 chime_getmem(to, from, n, pe.next());
                               });
      expect_gets_are_exact<M>(pe, picture,
                               [&](std::byte* to, const std::byte* from, std::size_t n) {
                                 chime_getmem_nbi(to, from, n, pe.next());
                                 chime_quiet();
                               });
    });
  });
}

// The source may be reused as soon as the put returns.
IN_EVERY_WORLD(Host, TheSourceOfAPutIsFreeWhenItReturns) {
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kBytes = 5000;
    for_each_operand([&]<class M>(MemoryTag<M>) {
      const std::vector<std::byte> first(kBytes, std::byte(pe.rank() + 1)),
          spoilt(kBytes, std::byte{0xee});
      Symmetric<std::byte> target(kBytes);
      M source(kBytes);
      source.write(first);
      pe.barrier();
      chime_putmem(target, source.data(), kBytes, pe.next());
      source.write(spoilt);
      pe.barrier();
      EXPECT_EQ(std::vector<std::byte>(kBytes, std::byte(pe.previous() + 1)), target.read());
      pe.barrier();
    });
  });
}

// ---- Signals ------------------------------------------------------------------------------------

template <class Put>
void expect_signal_comes_behind_data(Pe& pe, std::size_t bytes, int op, Put put) {
  Symmetric<std::byte> target(bytes);
  Symmetric<std::uint64_t> signal(1);
  Pageable source(bytes);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    source.write(std::vector<std::byte>(bytes, std::byte(10 * pe.rank() + int(round))));
    pe.barrier();
    put(target.data(), source.data(), signal.data(), op == CHIME_SIGNAL_ADD ? 2 : 2 * round);
    EXPECT_EQ(2 * round, chime_signal_wait_until(signal, CHIME_CMP_EQ, 2 * round));
    EXPECT_EQ(std::vector<std::byte>(bytes, std::byte(10 * pe.previous() + int(round))),
              target.read());
    EXPECT_EQ(2 * round, chime_signal_fetch(signal));
  }
  pe.barrier();
}

IN_EVERY_WORLD(Host, WhoSeesTheSignalSeesTheData) {
  world.spawn(1, [](Pe& pe) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{4096}, kLong})
      for (const int op : {CHIME_SIGNAL_SET, CHIME_SIGNAL_ADD}) {
        expect_signal_comes_behind_data(
            pe, bytes, op,
            [&](std::byte* to, std::byte* from, std::uint64_t* signal, std::uint64_t v) {
              chime_putmem_signal(to, from, bytes, signal, v, op, pe.next());
            });
        expect_signal_comes_behind_data(
            pe, bytes, op,
            [&](std::byte* to, std::byte* from, std::uint64_t* signal, std::uint64_t v) {
              chime_putmem_signal_nbi(to, from, bytes, signal, v, op, pe.next());
            });
        expect_signal_comes_behind_data(
            pe, bytes, op,
            [&](std::byte* to, std::byte* from, std::uint64_t* signal, std::uint64_t v) {
              chime_putmem(to, from, bytes, pe.next());
              chime_fence();
              chimex_signal_op(signal, v, op, pe.next());
            });
      }
  });
}

// ---- Words with many updaters -------------------------------------------------------------------

constexpr std::uint64_t kRounds = 40;

CHIME_KERNEL inline void add_from_kernel(std::uint64_t* word, int pes) {
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const int pe = static_cast<int>(round % static_cast<std::uint64_t>(pes));
    chime_uint64_atomic_add(word, 1, pe);
    chimex_signal_op(word, 1, CHIME_SIGNAL_ADD, pe);
  }
}

// Atomics and signals of the host, of streams and of kernels, on words of this PE and of others.
IN_EVERY_WORLD(Host, NoAddIsLostWhateverMakesIt) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> words(1);
    exec::Stream stream = {};
    ASSERT_EQ(CHIMEX_OK, exec::stream_create(&stream));
    pe.barrier();
    exec::LaunchConfig config;
    config.stream = stream;
    ASSERT_EQ(CHIMEX_OK, exec::launch(config, add_from_kernel, words.data(), pe.size()));
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const int to = static_cast<int>(round) % pe.size();
      chime_uint64_atomic_inc(words, to);
      chimex_signal_op(words, 1, CHIME_SIGNAL_ADD, to);
      chimex_signal_op_on_stream(words, 1, CHIME_SIGNAL_ADD, to, stream);
    }
    chimex_quiet_on_stream(stream);
    EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream));
    pe.barrier();
    std::uint64_t sum = 0;
    for (int of = 0; of < pe.size(); ++of) sum += chime_uint64_atomic_fetch(words, of);
    EXPECT_EQ(5 * kRounds * static_cast<std::uint64_t>(pe.size()), sum);
    pe.barrier();
    exec::stream_destroy(stream);
  });
}

// Threads of one PE call at once: each gets its own results.
IN_EVERY_WORLD(Host, ThreadsOfAPeCallAtOnce) {
  if (world.kind() == WorldPes::kThreads) GTEST_SKIP() << "its threads are PEs";
  world.spawn(1, [](Pe& pe) {
    constexpr std::size_t kThreads = 3, kWords = 300;
    Symmetric<std::uint64_t> target(kThreads * kWords), count(1);
    pe.barrier();
    const auto work = [&](std::size_t mine) {
      std::vector<std::uint64_t> source(kWords), back(kWords);
      for (std::uint64_t round = 1; round <= 10; ++round) {
        for (std::size_t i = 0; i < kWords; ++i) source[i] = mine << 32 | round << 16 | i;
        chime_putmem(target + mine * kWords, source.data(), kWords * 8, pe.next());
        chime_getmem(back.data(), target + mine * kWords, kWords * 8, pe.next());
        EXPECT_EQ(source, back);
        chime_uint64_atomic_inc(count, pe.next());
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
    for (std::thread& thread : threads) thread.join();
    pe.barrier();
    EXPECT_EQ(10 * kThreads, count.read(0));
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
