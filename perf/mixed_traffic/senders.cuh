// The blocks that send: floods of messages, a flood of gets, and a probe that does one operation
// after the other.
#pragma once

#include "board.hpp"

namespace chime::perf {

struct Sender {
  const Context& ctx;
  const Board board;
  State& state;
  const Phase phase;
  const std::uint64_t start_ns;

  CHIME_DEVICE int me() const { return my_pe(ctx); }
  CHIME_DEVICE int to() const { return (my_pe(ctx) + 1) % n_pes(ctx); }
  CHIME_DEVICE bool goes_on(std::uint64_t turns) const {
    return exec::clock_ns() - start_ns < phase.ns || turns < phase.least_turns();
  }
  // Until the word has the value: false after a time in which it should have come.
  CHIME_DEVICE bool awaits(const std::uint64_t* word, std::uint64_t value) const {
    if (wait_until_timeout(ctx, word, Cmp::kGe, value, kGiveUp_ns) == CHIMEX_OK) return true;
    exec::atomic_add<exec::Order::kRelaxed, exec::Scope::kDevice>(&state.given_up,
                                                                  std::uint64_t{1});
    return false;
  }
};

CHIME_DEVICE void sleep_for(std::uint64_t ns) {
  const std::uint64_t until = exec::clock_ns() + ns;
  while (exec::clock_ns() < until) exec::nanosleep(100'000);
}

CHIME_DEVICE void fill(const Sender& by, unsigned source, std::uint64_t number) {
  std::uint64_t* const words = by.board.outbox(source, number);
  for (std::size_t i = 0; i < kDataWords; ++i) words[i] = payload(by.me(), source, number, i);
}

CHIME_DEVICE void send(const Sender& by, unsigned source, std::uint64_t number) {
  putmem_signal_nbi(by.ctx, Thread{}, by.board.data(source, number),
                    by.board.outbox(source, number), kDataWords * sizeof(std::uint64_t),
                    {by.board.signal(source, number), number}, by.to());
  atomic_add(by.ctx, by.board.sum(source), std::uint64_t{1}, by.to());
}

// The reader must see the fault before it is mended, so this waits until it has.
CHIME_DEVICE void send_signal_first(const Sender& by, unsigned source, std::uint64_t number) {
  signal_op(by.ctx, {by.board.signal(source, number), number}, by.to());
  quiet(by.ctx);
  by.awaits(by.board.noticed(source), number);
  putmem(by.ctx, Thread{}, by.board.data(source, number), by.board.outbox(source, number),
         kDataWords * sizeof(std::uint64_t), by.to());
  atomic_add(by.ctx, by.board.sum(source), std::uint64_t{1}, by.to());
}

CHIME_DEVICE void send_or_plant(const Sender& by, unsigned source, std::uint64_t number,
                                Fault fault) {
  if (fault == Fault::kLose) return;
  fill(by, source, number);
  if (fault == Fault::kTear) by.board.outbox(source, number)[kDataWords / 2] ^= 1;
  if (fault == Fault::kEarly) return send_signal_first(by, source, number);
  send(by, source, number);
  if (fault == Fault::kTwice) send(by, source, number);
}

// Batch `batch` of the source, which is batch `turn` of the phase.
CHIME_DEVICE void send_batch(const Sender& by, unsigned source, std::uint64_t batch,
                             std::uint64_t turn) {
  const bool is_hit = source == 0 && turn == by.phase.hit_turn();
  const Fault fault = is_hit ? by.phase.fault : Fault::kNone;
  const SignalUpdate fenced = {by.board.fenced(source), batch};
  const std::uint64_t first = (batch - 1) * kBatch + 1;
  if (fault == Fault::kSwap) {
    signal_op(by.ctx, fenced, by.to());
    quiet(by.ctx);
    by.awaits(by.board.noticed(source), first);
  }
  for (std::uint64_t i = 0; i < kBatch; ++i)
    send_or_plant(by, source, first + i, i == by.phase.hit_message() ? fault : Fault::kNone);
  if (fault == Fault::kSwap) return;
  fence(by.ctx);
  signal_op(by.ctx, fenced, by.to());
}

CHIME_DEVICE bool sleeps_between(const Sender& by, unsigned source) {
  return by.phase.fault == Fault::kSlowKernel ||
         (by.phase.fault == Fault::kSlowBlock && source == 0);
}

CHIME_DEVICE void flood(const Sender& by, unsigned source) {
  Stopwatch watch(by.state.floods[source], by.start_ns);
  std::uint64_t batch = by.state.sent[source] / kBatch;
  for (std::uint64_t turn = 1; by.phase.kernel_sends && by.goes_on(turn - 1); ++turn) {
    ++batch;
    if (batch > kWindow && !by.awaits(by.board.acked(source), batch - kWindow)) break;
    if (batch % kWindow == 0) quiet(by.ctx);  // the outbox is used again
    send_batch(by, source, batch, turn);
    by.state.sent[source] = batch * kBatch;
    if (sleeps_between(by, source)) sleep_for(by.phase.short_sleep_ns());
    watch.note(kBatch, exec::clock_ns());
  }
  quiet(by.ctx);
  signal_op(by.ctx, {by.board.end(source), end_word(by.phase.mark, by.state.sent[source])},
            by.to());
}

CHIME_DEVICE bool is_page(const Sender& by, const std::uint64_t* words) {
  bool is = true;
  for (std::size_t i = 0; i < kPageWords; ++i) is &= words[i] == page_word(by.to(), i);
  return is;
}

CHIME_DEVICE void flood_gets(const Sender& by) {
  Stopwatch watch(by.state.gets, by.start_ns);
  for (std::uint64_t turns = 0; by.phase.kernel_sends && by.goes_on(turns); ++turns) {
    for (std::size_t page = 0; page < kPages; ++page) {
      by.board.got(page)[0] = 0;  // so a get that did nothing shows
      getmem_nbi(by.ctx, Thread{}, by.board.got(page), by.board.page(),
                 kPageWords * sizeof(std::uint64_t), by.to());
    }
    quiet(by.ctx);
    for (std::size_t page = 0; page < kPages; ++page)
      by.state.wrong_gets += !is_page(by, by.board.got(page));
    if (by.phase.fault == Fault::kSlowKernel) sleep_for(by.phase.short_sleep_ns());
    watch.note(kPages, exec::clock_ns());
  }
}

// A fetch_add returns when it is done, and has the sum of those before it.
CHIME_DEVICE void probe(const Sender& by) {
  Stopwatch watch(by.state.probe, by.start_ns);
  for (std::uint64_t turn = 1; by.phase.kernel_sends && by.goes_on(turn - 1); ++turn) {
    const bool is_hit = turn == by.phase.hit_turn();
    const std::uint64_t step = is_hit && by.phase.fault == Fault::kMiscount ? 2 : 1;
    const std::uint64_t before = atomic_fetch_add(by.ctx, by.board.probed(), step, by.to());
    by.state.miscounts += before != by.state.probes;
    by.state.probes = before + 1;
    if (is_hit && by.phase.fault == Fault::kStallKernel) sleep_for(by.phase.long_sleep_ns());
    if (by.phase.fault == Fault::kSlowKernel) sleep_for(by.phase.short_sleep_ns());
    watch.note(1, exec::clock_ns());
  }
}

}  // namespace chime::perf
