// Operations on a stream: they run in stream order, and have the same effect as in a kernel.
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "support/image.hpp"
#include "support/schedule.hpp"
#include "support/world.hpp"

namespace chime::tests {
namespace {

class OwnStream {
 public:
  OwnStream() {
    if (exec::stream_create(&stream_) != CHIMEX_OK) throw PeStopped("no stream");
  }
  ~OwnStream() {
    exec::stream_synchronize(stream_);
    exec::stream_destroy(stream_);
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  exec::Stream native() const { return stream_; }
  operator chimex_stream_t() const { return stream_; }
  void synchronize() const { EXPECT_EQ(CHIMEX_OK, exec::stream_synchronize(stream_)); }

 private:
  exec::Stream stream_ = {};
};

constexpr std::size_t kWords = 257;

CHIME_KERNEL inline void fill_words(std::uint64_t* words, std::uint64_t base) {
  for (std::size_t i = exec::thread_rank(); i < kWords; i += exec::block_threads())
    words[i] = base + i;
}

std::vector<std::uint64_t> words_from(std::uint64_t base) {
  std::vector<std::uint64_t> words(kWords);
  for (std::size_t i = 0; i < kWords; ++i) words[i] = base + i;
  return words;
}

void fill_on(const OwnStream& stream, std::uint64_t* words, std::uint64_t base) {
  exec::LaunchConfig config;
  config.block = 64;
  config.stream = stream.native();
  ASSERT_EQ(CHIMEX_OK, exec::launch(config, fill_words, words, base));
}

IN_EVERY_WORLD(OnStream, PutFollowsTheKernelBeforeIt) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> target(kWords + 1);
    Private<std::uint64_t> source(kWords);
    pe.barrier();
    for (std::uint64_t round = 1; round <= 5; ++round) {
      fill_on(stream, source, round * 1000 + unsigned(pe.rank()) * 100000);
      chimex_putmem_on_stream(target, source, kWords * 8, pe.next(), stream);
      chimex_barrier_all_on_stream(stream);
      stream.synchronize();
      std::vector<std::uint64_t> expected =
          words_from(round * 1000 + unsigned(pe.previous()) * 100000);
      expected.push_back(0);
      EXPECT_EQ(expected, target.read());
      pe.barrier();
    }
  });
}

IN_EVERY_WORLD(OnStream, GetFollowsTheBarrierBeforeIt) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> source(kWords);
    Private<std::uint64_t> target(kWords);
    pe.barrier();
    fill_on(stream, source, unsigned(pe.rank()) * 100000);
    chimex_barrier_all_on_stream(stream);
    chimex_getmem_on_stream(target, source, kWords * 8, pe.next(), stream);
    stream.synchronize();
    EXPECT_EQ(words_from(unsigned(pe.next()) * 100000), target.read());
    pe.barrier();
  });
}

IN_EVERY_WORLD(OnStream, PutSignalMakesTheWaitOnAStreamEnd) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> target(kWords), signal(1);
    Private<std::uint64_t> source(kWords), seen(kWords);
    pe.barrier();
    std::uint64_t total = 0;
    for (std::uint64_t round = 1; round <= 4; ++round) {
      const bool add = round % 2 == 0;
      const std::uint64_t value = add ? 5 : round * 10;
      total = add ? total + value : value;
      fill_on(stream, source, round * 1000 + unsigned(pe.rank()) * 100000);
      if (round <= 2) {
        chimex_putmem_signal_on_stream(target, source, kWords * 8, signal, value,
                                       add ? CHIME_SIGNAL_ADD : CHIME_SIGNAL_SET, pe.next(),
                                       stream);
      } else {
        chimex_putmem_signal_nbi_on_stream(target, source, kWords * 8, signal, value,
                                           add ? CHIME_SIGNAL_ADD : CHIME_SIGNAL_SET, pe.next(),
                                           stream);
      }
      chimex_signal_wait_until_on_stream(signal, CHIME_CMP_EQ, total, stream);
      ASSERT_EQ(CHIMEX_OK,
                exec::copy_async(seen.data(), target.data(), kWords * 8, stream.native()));
      chimex_barrier_all_on_stream(stream);
      stream.synchronize();
      EXPECT_EQ(words_from(round * 1000 + unsigned(pe.previous()) * 100000), seen.read());
      pe.barrier();
    }
  });
}

IN_EVERY_WORLD(OnStream, SignalOpArrivesAfterQuiet) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> target(kWords), signal(1);
    const Private<std::uint64_t> source(words_from(unsigned(pe.rank()) * 1000));
    pe.barrier();
    chimex_putmem_nbi_on_stream(target, source, kWords * 8, pe.next(), stream);
    chimex_quiet_on_stream(stream);
    chimex_signal_op_on_stream(signal, 77, CHIME_SIGNAL_SET, pe.next(), stream);
    chimex_signal_wait_until_on_stream(signal, CHIME_CMP_EQ, 77, stream);
    stream.synchronize();
    EXPECT_EQ(words_from(unsigned(pe.previous()) * 1000), target.read());
    pe.barrier();
  });
}

// Each thread has a separate word, so that many requests are in flight when the kernel ends.
CHIME_KERNEL inline void put_words_nbi(CHIME_GRID_CONSTANT const Context context,
                                       std::uint64_t* target, const std::uint64_t* source, int pe) {
  for (std::size_t i = exec::thread_rank(); i < kWords; i += exec::block_threads())
    put_nbi(context, Thread{}, target + i, source + i, 1, pe);
}

// A get of this PE's host takes another path than a kernel's puts. It sees all that quiet has
// waited for, and nothing else orders the two.
IN_EVERY_WORLD(OnStream, QuietCompletesWhatKernelsBeforeItHavePut) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> target(kWords), source(kWords);
    for (std::uint64_t round = 1; round <= 10; ++round) {
      const std::vector<std::uint64_t> words =
          words_from(round * 1000 + unsigned(pe.rank()) * 100000);
      source.write(words);
      pe.barrier();
      exec::LaunchConfig config;
      config.block = 64;
      config.stream = stream.native();
      ASSERT_EQ(CHIMEX_OK,
                exec::launch(config, put_words_nbi, pe.context(), target.data(),
                             static_cast<const std::uint64_t*>(source.data()), pe.next()));
      chimex_quiet_on_stream(stream);
      stream.synchronize();
      std::vector<std::uint64_t> seen(kWords);
      chime_getmem(seen.data(), target, kWords * 8, pe.next());
      EXPECT_EQ(words, seen) << "round " << round;
      pe.barrier();
    }
  });
}

IN_EVERY_WORLD(OnStream, StridedOperationsFollowWhatIsBeforeThem) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    constexpr std::size_t kCount = kWords / 3;
    Symmetric<std::uint64_t> target(kWords);
    Private<std::uint64_t> source(kWords), back(kWords);
    pe.barrier();
    fill_on(stream, source, unsigned(pe.rank()) * 1000);
    chimex_uint64_iput_on_stream(target, source, 2, 3, kCount, pe.next(), stream);
    chimex_barrier_all_on_stream(stream);
    chimex_uint64_iget_on_stream(back, target, 3, 2, kCount, pe.rank(), stream);
    stream.synchronize();
    const std::vector<std::uint64_t> all = words_from(unsigned(pe.previous()) * 1000);
    std::vector<std::uint64_t> expected(kWords);
    for (std::size_t i = 0; i < kCount; ++i) expected[3 * i] = all[3 * i];
    EXPECT_EQ(expected, back.read());
    pe.barrier();
  });
}

// A stream waits for a signal: the operations after the wait are not done before it, and the value
// of g arrives after it.
IN_EVERY_WORLD(OnStream, ElementsTakeTheirTurn) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> word(1), mine(kWords), go(1);
    pe.barrier();
    chimex_signal_wait_until_on_stream(go, CHIME_CMP_EQ, 1, stream);
    chimex_uint64_p_on_stream(word, 7, pe.next(), stream);
    fill_on(stream, mine, 100);
    pe.barrier();
    EXPECT_EQ(0u, word.read(0)) << "before its turn";
    pe.barrier();
    chimex_signal_op(go, 1, CHIME_SIGNAL_SET, pe.next());
    EXPECT_EQ(103u, chimex_uint64_g_on_stream(mine + 3, pe.rank(), stream));
    chimex_barrier_all_on_stream(stream);
    stream.synchronize();
    EXPECT_EQ(7u, word.read(0));
    pe.barrier();
  });
}

IN_EVERY_WORLD(OnStream, SyncAllWaitsForAllStreams) {
  world.spawn(1, [](Pe& pe) {
    OwnStream stream;
    Symmetric<std::uint64_t> mine(kWords);
    pe.barrier();
    fill_on(stream, mine, unsigned(pe.rank()) * 1000);
    chimex_sync_all_on_stream(stream);
    stream.synchronize();
    for (int from = 0; from < pe.size(); ++from) {
      std::vector<std::uint64_t> seen(kWords);
      chime_getmem(seen.data(), mine, kWords * 8, from);
      EXPECT_EQ(words_from(unsigned(from) * 1000), seen) << "of PE " << from;
    }
    pe.barrier();
  });
}

}  // namespace
}  // namespace chime::tests
