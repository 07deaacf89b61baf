// The reader of one source at the source's target: whether each message arrives, whole and in the
// promised order.
//
// When the word behind a fence has come, all messages of its batch must be there. A message that is
// not is *late* if it comes before the next batch's word, else *missing*. A signal that shows a
// message's number must show its data, too.
#pragma once

#include "board.hpp"

namespace chime::perf {

class Reader {
 public:
  CHIME_DEVICE Reader(const Context& ctx, const Board& board, unsigned source, Incoming& incoming)
      : ctx_(ctx),
        board_(board),
        source_(source),
        from_((my_pe(ctx) + n_pes(ctx) - 1) % n_pes(ctx)),
        in_(incoming) {}

  // Returns when the source has ended the phase `mark`, and all is read. False at the deadline.
  CHIME_DEVICE bool read_phase(std::uint64_t mark, std::uint64_t deadline_ns) {
    for (;;) {
      // In this order: what came before the end or behind a fence is seen below.
      const std::uint64_t end = signal_fetch(ctx_, board_.end(source_));
      const std::uint64_t fenced = signal_fetch(ctx_, board_.fenced(source_));
      const bool has_ended = end >> 48 == mark;
      const std::uint64_t sent = end & ((std::uint64_t{1} << 48) - 1);
      if (has_ended && in_.read == sent) {
        // The source has waited for all that it sent.
        in_.sum = signal_fetch(ctx_, board_.sum(source_));
        return true;
      }
      if (read_next(has_ended ? sent / kBatch + 1 : fenced)) continue;
      if (exec::clock_ns() > deadline_ns) return false;
      exec::pause();
    }
  }

 private:
  // `fenced`: the last batch behind which a fence was seen. False if the next message may yet come.
  CHIME_DEVICE bool read_next(std::uint64_t fenced) {
    const std::uint64_t number = in_.read + 1, batch = (number + kBatch - 1) / kBatch;
    const std::uint64_t seen = signal_fetch(ctx_, board_.signal(source_, number));
    if (seen == number) {
      ++in_.present;
      in_.late += in_.flagged == number;
      if (!is_whole(number)) {
        ++in_.unwhole;
        notice(number);
      }
    } else if (seen > number || batch < fenced) {
      ++in_.missing;
    } else {
      if (batch == fenced && in_.flagged != number) {
        in_.flagged = number;
        notice(number);
      }
      return false;
    }
    in_.read = number;
    if (number % kBatch == 0) signal_op(ctx_, {board_.acked(source_), 1, SignalOp::kAdd}, from_);
    return true;
  }

  CHIME_DEVICE bool is_whole(std::uint64_t number) const {
    const std::uint64_t* const words = board_.data(source_, number);
    bool is = true;
    for (std::size_t i = 0; i < kDataWords; ++i)
      is &= exec::ld<exec::Order::kRelaxed, exec::Scope::kSystem>(words + i) ==
            payload(from_, source_, number, i);
    return is;
  }

  // Planted faults wait for this.
  CHIME_DEVICE void notice(std::uint64_t number) {
    signal_op(ctx_, {board_.noticed(source_), number}, from_);
  }

  const Context& ctx_;
  const Board board_;
  const unsigned source_;
  const int from_;
  Incoming& in_;
};

}  // namespace chime::perf
