// The host's source: a thread that sends as much as it can, one batch by calls, the next on a
// stream.
#pragma once

#include <chrono>
#include <thread>

#include "board.hpp"

namespace chime::perf {

class HostSource {
 public:
  HostSource(const Board& board, unsigned source, exec::Stream stream)
      : board_(board), source_(source), stream_(stream) {}

  // Called by every PE in every phase. False if the target no longer reads.
  bool flood(const Phase& phase, Progress& progress) {
    const std::uint64_t start_ns = host_now_ns();
    Stopwatch watch(progress, start_ns);
    bool is_read = true;
    for (std::uint64_t turn = 1;
         phase.host_sends && (host_now_ns() - start_ns < phase.ns || turn <= phase.least_turns());
         ++turn) {
      is_read = has_room(batch_ + 1);
      if (!is_read) break;
      ++batch_;
      batch_ % 2 == 0 ? send_by_calls() : send_on_stream();
      if (phase.fault == Fault::kSlowHost) sleep_for(phase.short_sleep_ns());
      if (phase.fault == Fault::kStallHost && turn == phase.hit_turn())
        sleep_for(phase.long_sleep_ns());
      watch.note(kBatch, host_now_ns());
    }
    chime_quiet();
    chimex_signal_op(board_.end(source_), end_word(phase.mark, sent()), CHIME_SIGNAL_SET, to());
    return is_read;
  }
  std::uint64_t sent() const { return batch_ * kBatch; }

 private:
  static constexpr std::size_t kBytes = kDataWords * sizeof(std::uint64_t);

  static int to() { return (chime_my_pe() + 1) % chime_n_pes(); }
  static void sleep_for(std::uint64_t ns) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }

  bool has_room(std::uint64_t batch) const {
    if (batch <= kWindow) return true;
    if (batch % kWindow == 0) chime_quiet();  // the outbox is used again
    return chimex_uint64_wait_until_timeout(board_.acked(source_), CHIME_CMP_GE, batch - kWindow,
                                            kGiveUp_ns) == CHIMEX_OK;
  }

  std::uint64_t first() const { return (batch_ - 1) * kBatch + 1; }
  void fill() {
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      std::uint64_t words[kDataWords];
      for (std::size_t k = 0; k < kDataWords; ++k)
        words[k] = payload(chime_my_pe(), source_, first() + i, k);
      exec::copy(board_.outbox(source_, first() + i), words, kBytes);
    }
  }
  void send_by_calls() {
    fill();
    for (std::uint64_t number = first(); number < first() + kBatch; ++number) {
      chime_putmem_signal_nbi(board_.data(source_, number), board_.outbox(source_, number), kBytes,
                              board_.signal(source_, number), number, CHIME_SIGNAL_SET, to());
      chime_uint64_atomic_add(board_.sum(source_), 1, to());
    }
    chime_fence();
    chimex_signal_op(board_.fenced(source_), batch_, CHIME_SIGNAL_SET, to());
  }
  void send_on_stream() {
    fill();
    for (std::uint64_t number = first(); number < first() + kBatch; ++number)
      chimex_putmem_signal_nbi_on_stream(
          board_.data(source_, number), board_.outbox(source_, number), kBytes,
          board_.signal(source_, number), number, CHIME_SIGNAL_SET, to(), stream_);
    chimex_signal_op_on_stream(board_.sum(source_), kBatch, CHIME_SIGNAL_ADD, to(), stream_);
    chimex_quiet_on_stream(stream_);
    chimex_signal_op_on_stream(board_.fenced(source_), batch_, CHIME_SIGNAL_SET, to(), stream_);
    exec::stream_synchronize(stream_);
  }

  const Board board_;
  const unsigned source_;
  const exec::Stream stream_;
  std::uint64_t batch_ = 0;  // the last
};

}  // namespace chime::perf
