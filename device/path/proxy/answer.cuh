// Answers: each reports that one request has ended, whatever has become of earlier ones.
// proxy/README.md, "Waiting for one request".
//
// A thread takes its answer before it reserves a slot, so that others can post while it waits for
// one.
#ifndef CHIME_DEVICE_PATH_PROXY_ANSWER_CUH_
#define CHIME_DEVICE_PATH_PROXY_ANSWER_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/pairs.h"
#include "chime/abi/proxy_fifo.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/stop.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/proxy/channel.cuh"
#include "chime/device/wait.cuh"

namespace chime::fifo {

inline constexpr std::uint32_t kNoAnswer = ~0u;

namespace detail {

// Looks once at the answers that requests to `pe` may have. The start differs between threads and
// moves on.
CHIME_DEVICE std::uint32_t try_take_answer(Channel& fifo, int pe) {
  const std::uint32_t pairs = fifo.head.depth / 2u;
  const auto posted = static_cast<std::uint32_t>(load<Order::kRelaxed>(fifo.producer.ready));
  const std::uint32_t start = posted + (exec::in_kernel() ? exec::lane_id() : 0);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const std::uint32_t answer = abi::one_of_pair((start + i) & (pairs - 1), pe);
    std::uint64_t* const busy = fifo.fifo.busy + answer;
    if (load<Order::kRelaxed>(*busy) != 0) continue;
    // Acquire: pairs with the release in free_answer.
    if (exec::atomic_cas<Order::kAcquire, Scope::kDevice>(busy, std::uint64_t{0},
                                                          std::uint64_t{1}) == 0) {
      return answer;
    }
  }
  return kNoAnswer;
}

// Other threads have all answers that requests to `pe` may have.
CHIME_DEVICE_OUT_OF_LINE std::uint32_t await_answer(const Context& ctx, Channel& fifo, int pe) {
  Wait wait = channel::wait_for_word(ctx, fifo, fifo.fifo.busy, 0);
  wait.pe = pe;
  std::uint32_t answer = kNoAnswer;
  const WaitResult result = spin_until(ctx, wait, [&] {
    return (answer = try_take_answer(fifo, pe)) != kNoAnswer || channel::is_stopped(fifo);
  });
  if (!result.ok()) record_wait(ctx, wait, result, 1);
  return answer;
}

}  // namespace detail

// Takes an answer. kNoAnswer: the FIFO is out of use, or no answer came free in time.
CHIME_DEVICE_OUT_OF_LINE std::uint32_t take_answer(const Context& ctx, Channel& fifo, int pe) {
  const std::uint32_t answer = detail::try_take_answer(fifo, pe);
  return answer != kNoAnswer ? answer : detail::await_answer(ctx, fifo, pe);
}

// Called by the thread that took the answer, when no request was posted with it or its request has
// ended. Release: this thread has read the answer before another request gets it.
CHIME_DEVICE void free_answer(Channel& fifo, std::uint32_t answer) {
  exec::st<Order::kRelease, Scope::kDevice>(&fifo.fifo.busy[answer], 0);
}

// Waits for the end of the request whose first slot is the one before `end`: then data of a get and
// results are here, and sources may be reused. False if its peer is lost, or the FIFO is out of
// use: `has_ended` distinguishes the two.
CHIME_DEVICE bool await_end(const Context& ctx, Channel& fifo, int pe, std::uint32_t answer,
                            std::uint64_t end, bool& has_ended) {
  const std::uint64_t* const word = &fifo.fifo.answers[answer].ended;
  std::uint64_t seen = 0;
  const auto wait_for = [&] {
    Wait wait = channel::wait_for_word(ctx, fifo, word, end);
    wait.pe = pe;
    return wait;
  };
  has_ended = channel::wait_on(ctx, fifo, wait_for, [&] {
    // Acquire: pairs with the proxy's release (Fifo::answer, proxy/fifo.cpp).
    seen = exec::ld<Order::kAcquire, Scope::kSystem>(word);
    return (seen & ~abi::kAnswerFailed) == end;
  });
  if (!has_ended) return false;
  if ((seen & abi::kAnswerFailed) == 0) return true;
  poll(fifo);  // the cause was published before: a thread that leaves now finds it
  return false;
}

}  // namespace chime::fifo

#endif  // CHIME_DEVICE_PATH_PROXY_ANSWER_CUH_
