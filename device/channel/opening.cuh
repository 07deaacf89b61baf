// A path to a peer that was not connected at init. A kernel asks for it at the first touch of the
// peer, and the host opens it while the kernel waits (abi/openings.h has the words,
// host/peers/README.md the steps of the hosts).
#ifndef CHIME_DEVICE_CHANNEL_OPENING_CUH_
#define CHIME_DEVICE_CHANNEL_OPENING_CUH_

#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/abi/openings.h"
#include "chime/abi/words.h"
#include "chime/device/exec/exec.cuh"
#include "chime/device/fail.cuh"
#include "chime/device/path/paths.cuh"
#include "chime/device/wait.cuh"

namespace chime::channel {
namespace detail {

// Acquire: pairs with carry_over, so the channels name their peer.
CHIME_DEVICE std::uint32_t opened_route(const abi::Channels& all, int pe) {
  return exec::ld<exec::Order::kAcquire, exec::Scope::kDevice>(all.opened + pe);
}

CHIME_DEVICE Wait wait_for_route(const Context& ctx, const std::uint32_t* word, int pe) {
  return {.operation = Operation::kNone,
          .address = word,
          .expected = 1,
          .pe = pe,
          .timeout_ns = ctx.pe.wait_timeout_ns};
}

// Waits until `load()` finds a word that is not 0. Returns 0 if the wait was given up, which is
// recorded. A dead peer does not answer, and there may be no other PE that refuses for it.
template <class Load>
CHIME_DEVICE std::uint32_t await_word(const Context& ctx, const Wait& wait, Load load) {
  std::uint32_t word = 0;
  const WaitResult result = spin_until(
      ctx, wait, [&] { return (word = load()) != 0; },
      [&](std::uint64_t) { return chime::detail::is_dead(ctx, wait.pe) ? wait.pe : -1; });
  if (result.ok()) return word;
  record_wait(ctx, wait, result, word);
  leave(ctx);
  return 0;
}

// Release: pairs with the acquire in the host's take_wanted().
CHIME_DEVICE void ask_for(const abi::Openings& openings, int pe) {
  using exec::Order;
  using exec::Scope;
  const std::uint64_t bit = std::uint64_t{1} << pe % 64;
  std::uint64_t* const word = openings.wanted + pe / 64;
  const exec::Committed to_count_it;
  if ((exec::atomic_or<Order::kRelaxed, Scope::kSystem>(word, bit) & bit) != 0) return;
  exec::red_add<Order::kRelease, Scope::kSystem>(openings.asked, std::uint64_t{1});
}

// Acquire: pairs with the host's answer, so peers[place] is complete.
CHIME_DEVICE std::uint32_t answer_about(const abi::Openings& openings, int pe) {
  return exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(openings.answers + pe);
}

CHIME_DEVICE std::uint32_t ask_and_wait(const Context& ctx, const abi::Openings& openings, int pe) {
  if (const std::uint32_t answer = answer_about(openings, pe)) return answer;
  ask_for(openings, pe);
  return await_word(ctx, wait_for_route(ctx, openings.answers + pe, pe),
                    [&] { return answer_about(openings, pe); });
}

// The route word that an answer stands for.
CHIME_DEVICE std::uint32_t route_of_answer(const abi::Channels& all, std::uint32_t answer) {
  return abi::route_word(abi::path_of_answer(answer),
                         all.first + abi::place_of_answer(answer) * all.slots);
}

// One thread for each place calls this: no thread reads these channels before it is done.
CHIME_DEVICE void carry_over(const abi::Channels& all, const abi::OpenedPeer& peer,
                             std::uint32_t first) {
  using exec::Order;
  using exec::Scope;
  const auto flags = exec::ld<Order::kRelaxed, Scope::kSystem>(&peer.flags);
  const auto pe = exec::ld<Order::kRelaxed, Scope::kSystem>(&peer.pe);
  const exec::Vec16 nic = exec::ld16(&peer.nic);
  for (std::uint32_t i = first; i < first + all.slots; ++i) {
    abi::Channel& channel = all.pool.channels[i];
    channel.head.flags = static_cast<std::uint8_t>(flags);
    channel.pe = pe;
    exec::st16(&channel.nic.peer, nic);
  }
  exec::st<Order::kRelease, Scope::kDevice>(all.opened + pe, abi::route_word(Path::kNic, first));
}

// For channels that exist since init. Every thread that finds the answer writes the same word.
CHIME_DEVICE std::uint32_t go_by(const abi::Channels& all, int pe, std::uint32_t answer) {
  const std::uint32_t word = route_of_answer(all, answer);
  exec::st<exec::Order::kRelease, exec::Scope::kDevice>(all.opened + pe, word);
  return word;
}

// A thread that does not get the claim waits for the one that has it.
CHIME_DEVICE void claim_and_carry_over(const abi::Channels& all, std::uint32_t place) {
  const exec::Committed to_carry_it_over;
  std::uint32_t* const claim = all.openings->claims + place;
  if (exec::atomic_cas<exec::Order::kRelaxed, exec::Scope::kDevice>(claim, 0u, 1u) != 0) return;
  carry_over(all, all.openings->peers[place], all.first + place * all.slots);
}

}  // namespace detail

// The route word if a path is open, 0 if there is none yet or never will be. Sends no request.
CHIME_DEVICE std::uint32_t route_so_far(const abi::Channels& all, int pe) {
  const std::uint32_t word = exec::ld_settled(all.route + pe);  // at init, or never
  return word != 0 || all.opened == nullptr ? word : detail::opened_route(all, pe);
}

// The route word, once the path is open. 0: the path is refused, or the wait was given up, which is
// recorded. REQUIRES: ctx.channels.opened.
CHIME_DEVICE_OUT_OF_LINE std::uint32_t open_route(const Context& ctx, int pe) {
  if constexpr (!chime::detail::kIsCompiled<Path::kNic>) return 0;
  const abi::Channels& all = ctx.channels;
  if (const std::uint32_t word = detail::opened_route(all, pe)) return word;
  const std::uint32_t answer = detail::ask_and_wait(ctx, *all.openings, pe);
  if (answer == abi::kNotAnswered || answer == abi::kRefused) return 0;
  if (abi::path_of_answer(answer) != Path::kNic) return detail::go_by(all, pe, answer);
  detail::claim_and_carry_over(all, abi::place_of_answer(answer));
  return detail::await_word(ctx, detail::wait_for_route(ctx, all.opened + pe, pe),
                            [&] { return detail::opened_route(all, pe); });
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_OPENING_CUH_
