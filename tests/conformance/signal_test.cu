// put_signal, signal_op, signal_fetch and signal_wait_until.
#include "chime/device/signal.cuh"
#include "chime/device/sync.cuh"
#include "conformance/transfer.hpp"

namespace chime::tests {
namespace {

struct PutSignal {
  template <class Group, class T>
  CHIME_DEVICE static void send(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, SignalUpdate signal, int pe) {
    put_signal(context, group, target, source, n, signal, pe);
  }
};

struct PutSignalNbi {
  template <class Group, class T>
  CHIME_DEVICE static void send(const Context& context, Group group, T* target, const T* source,
                                std::size_t n, SignalUpdate signal, int pe) {
    put_signal_nbi(context, group, target, source, n, signal, pe);
  }
};

// Sends pieces to the next PE, each with a separate signal that is set to, or grows by, the piece's
// number + 1; then waits for the pieces of the previous PE and copies what has arrived to `seen`.
template <class Op, class T, class Group>
CHIME_KERNEL void send_and_receive(CHIME_GRID_CONSTANT const Context context, std::byte* target,
                                   const std::byte* source, const Piece* pieces, unsigned count,
                                   std::uint64_t* signals, std::byte* seen, SignalOp op, int next) {
  Group group{};
  for (unsigned i = Crowd<Group>::index(); i < count; i += Crowd<Group>::kGroups) {
    const Piece piece = pieces[i];
    Op::send(context, group, reinterpret_cast<T*>(target + piece.target),
             reinterpret_cast<const T*>(source + piece.source), piece.count,
             SignalUpdate{signals + i, i + 1, op}, next);
  }
  for (unsigned i = Crowd<Group>::index(); i < count; i += Crowd<Group>::kGroups) {
    signal_wait_until(context, group, signals + i, Cmp::kEq,
                      op == SignalOp::kSet ? i + 1 : i + 1 + 100);
    const Piece piece = pieces[i];
    const std::size_t bytes = piece.count * piece.element_bytes;
    for (std::size_t k = group.rank(); k < bytes; k += group.size())
      seen[piece.target + k] = target[piece.target + k];
  }
}

template <class Op, class T, class Group>
void expect_signalled_data(Pe& pe, SignalOp op) {
  const Picture picture(shapes(), sizeof(T));
  const std::size_t count = picture.pieces().size();
  Symmetric<std::byte> target(picture.bytes());
  Symmetric<std::uint64_t> signals(count);
  const Private<std::byte> source(picture.source(pe.rank()));
  const Private<Piece> pieces(picture.pieces());
  Private<std::byte> seen(picture.bytes());
  for_each_memory_mode(pe, [&] {
    target.fill(int(kGuard));
    signals.write(std::vector<std::uint64_t>(count, 100));
    seen.write(std::vector<std::byte>(picture.bytes(), kGuard));
    pe.barrier();
    pe.run_together(Crowd<Group>::kBlocks, Crowd<Group>::kThreads, send_and_receive<Op, T, Group>,
                    pe.context(), target.data(), static_cast<const std::byte*>(source.data()),
                    static_cast<const Piece*>(pieces.data()), unsigned(count), signals.data(),
                    seen.data(), op, pe.next());
    const std::vector<std::byte> expected = picture.target(pe.previous());
    EXPECT_TRUE(picture.same(expected, seen.read())) << "as seen behind the signal";
    pe.barrier();
    EXPECT_TRUE(picture.same(expected, target.read())) << "after a barrier";
  });
}

IN_EVERY_WORLD(PutSignal, SetsAfterTheDataOfEveryTypeAndGroup) {
  world.spawn(1, [](Pe& pe) {
    for_each_rma_type([&]<class T>(Row<T>) {
      for_each_group([&]<class Group>(GroupTag<Group>) {
        expect_signalled_data<PutSignal, T, Group>(pe, SignalOp::kSet);
      });
    });
  });
}

IN_EVERY_WORLD(PutSignal, AddsOncePerGroup) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      expect_signalled_data<PutSignal, float, Group>(pe, SignalOp::kAdd);
      expect_signalled_data<PutSignal, std::uint8_t, Group>(pe, SignalOp::kAdd);
    });
  });
}

IN_EVERY_WORLD(PutSignalNbi, SignalsAfterTheData) {
  world.spawn(1, [](Pe& pe) {
    for_each_group([&]<class Group>(GroupTag<Group>) {
      for (SignalOp op : {SignalOp::kSet, SignalOp::kAdd}) {
        expect_signalled_data<PutSignalNbi, double, Group>(pe, op);
        expect_signalled_data<PutSignalNbi, std::uint16_t, Group>(pe, op);
      }
    });
  });
}

// ---- Signals alone ------------------------------------------------------------------------------

// Block 1 signals the next PE, block 0 waits for the previous one, comparison by comparison.
CHIME_KERNEL inline void signal_each_comparison(CHIME_GRID_CONSTANT const Context context,
                                                std::uint64_t* words, std::uint64_t* returned,
                                                int next) {
  const std::uint64_t top = std::uint64_t(1) << 63;
  if (exec::block_rank() == 1) {
    exec::nanosleep(20000);
    signal_op(context, SignalUpdate{words + CHIME_CMP_EQ, top, SignalOp::kSet}, next);
    signal_op(context, SignalUpdate{words + CHIME_CMP_NE, 5, SignalOp::kAdd}, next);
    signal_op(context, SignalUpdate{words + CHIME_CMP_GT, top, SignalOp::kAdd}, next);
    signal_op(context, SignalUpdate{words + CHIME_CMP_LE, ~std::uint64_t(0) - 8, SignalOp::kAdd},
              next);
    signal_op(context, SignalUpdate{words + CHIME_CMP_LT, 1, SignalOp::kSet}, next);
    signal_op(context, SignalUpdate{words + CHIME_CMP_GE, top + 1, SignalOp::kSet}, next);
    return;
  }
  const std::uint64_t compared[6] = {top, 10, 10, 3, 10, top};
  for (int cmp = 0; cmp < 6; ++cmp)
    returned[cmp] = signal_wait_until(context, words + cmp, Cmp(cmp), compared[cmp]);
}

IN_EVERY_WORLD(SignalOp, EndsAWaitOfEveryComparison) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> words(6);
    Private<std::uint64_t> returned(6);
    words.write(std::vector<std::uint64_t>(6, 10));
    pe.barrier();
    pe.run_together(2, 1, signal_each_comparison, pe.context(), words.data(), returned.data(),
                    pe.next());
    const std::uint64_t top = std::uint64_t(1) << 63;
    const std::vector<std::uint64_t> expected{top, 15, top + 10, 1, 1, top + 1};
    EXPECT_EQ(expected, returned.read());
    pe.barrier();
    EXPECT_EQ(expected, words.read());
  });
}

constexpr unsigned kAddsPerThread = 200;  // so that PEs and blocks contend for the word

CHIME_KERNEL inline void add_signals(CHIME_GRID_CONSTANT const Context context, std::uint64_t* word,
                                     std::uint64_t* fetched) {
  for (unsigned i = 0; i < kAddsPerThread; ++i)
    signal_op(context, SignalUpdate{word, 1, SignalOp::kAdd}, 0);
  if (context.pe.my_pe != 0 || exec::grid_rank() != 0) return;
  const std::uint64_t all = exec::grid_threads() * std::uint64_t(context.pe.n_pes) * kAddsPerThread;
  signal_wait_until(context, word, Cmp::kEq, all);
  *fetched = signal_fetch(context, word);
}

IN_EVERY_WORLD(SignalOp, AddsOfAllThreadsAreCounted) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> word(1);
    Private<std::uint64_t> fetched(1);
    pe.barrier();
    pe.run_together(2, 64, add_signals, pe.context(), word.data(), fetched.data());
    if (pe.rank() == 0) {
      EXPECT_EQ(128u * kAddsPerThread * unsigned(pe.size()), fetched.read()[0]);
    }
    pe.barrier();
  });
}

CHIME_KERNEL inline void wait_for_no_signal(CHIME_GRID_CONSTANT const Context context,
                                            const std::uint64_t* word, std::uint64_t* seen,
                                            int* status) {
  *status = signal_wait_until_timeout(context, word, Cmp::kGt, 41, 2000000, seen);
}

IN_EVERY_WORLD(SignalWait, WithABoundReportsTheTimeoutAndTheValue) {
  world.spawn(1, [](Pe& pe) {
    Symmetric<std::uint64_t> word(1);
    word.write(std::vector<std::uint64_t>{41});
    Private<std::uint64_t> seen(1);
    Private<int> status(1);
    pe.run(1, 1, wait_for_no_signal, pe.context(), static_cast<const std::uint64_t*>(word.data()),
           seen.data(), status.data());
    EXPECT_EQ(CHIMEX_ERR_TIMEOUT, status.read()[0]);
    EXPECT_EQ(41u, seen.read()[0]);
  });
}

}  // namespace
}  // namespace chime::tests
