// From a reservation to a ticket: steps 1 to 4 of device/channel/README.md, "Submit". The next
// steps differ by path: ChannelTraits<path>::commit.
#ifndef CHIME_DEVICE_CHANNEL_SUBMIT_CUH_
#define CHIME_DEVICE_CHANNEL_SUBMIT_CUH_

#include <cstdint>
#include <type_traits>

#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/complete.cuh"
#include "chime/device/channel/path.cuh"
#include "chime/device/channel/posters.cuh"
#include "chime/device/channel/touch.cuh"
#include "chime/device/exec/exec.cuh"

namespace chime::channel {

namespace detail {

inline constexpr std::uint64_t kNoRoom = ~std::uint64_t{0};

// Step 2. Takes `n` units; returns the index of the first. On a path without a commit the
// reservation is the commit: the poster writes before it leaves its call.
template <Path kPath>
CHIME_DEVICE std::uint64_t take(Channel& channel, std::uint64_t n) {
  abi::Producer& producer = channel.producer;
  std::uint64_t* const resv = ChannelTraits<kPath>::kCommits ? &producer.resv : &producer.ready;
  return exec::atomic_add<Order::kRelaxed, Scope::kDevice>(resv, n);
}

// Step 3, if there is no room yet: polls until there is. On a path without a commit, units are free
// when the consumer has read them, which it reports by a word of its own.
template <Path kPath>
CHIME_DEVICE_OUT_OF_LINE bool await_room(const Context& ctx, Channel& channel, std::uint64_t end) {
  if (is_stopped(channel)) return false;
  if constexpr (ChannelTraits<kPath>::kCommits) {
    std::uint64_t seen = 0;
    return poll_until_done<kPath>(ctx, channel, end - channel.head.depth, seen);
  } else {
    return ChannelTraits<kPath>::await_room(ctx, channel, end);
  }
}

}  // namespace detail

// Step 1. False if the channel is out of use. `done` becomes its counter, by which a poster finds
// room. (Relaxed: only stores that depend on it follow.)
template <Path kPath>
CHIME_DEVICE bool look(const Context& ctx, Channel& channel, std::uint64_t& done) {
  done = load<Order::kRelaxed>(channel.progress.done);
  return !detail::is_rare(done) || detail::may_be_used<kPath>(ctx, channel);
}

// The same before a thread posts as Alone: submit() calls look() only for other groups.
template <Path kPath>
CHIME_DEVICE bool may_post(const Context& ctx, Channel& channel) {
  std::uint64_t done = 0;
  return look<kPath>(ctx, channel, done);
}

// Steps 2 to 4, and those of the path. `all` is what the posters put into the channel together.
// `write(view, base)` writes the calling thread's share of it, from unit `base` on. It had better
// load its inputs itself: then they occupy no registers while this waits for room. The posters
// return when the consumer is notified, or a later poster has to notify it. The ticket is not ok if
// the channel is out of use.
//
// REQUIRES: the calling thread has been exec::Committed since before it met the other posters.
template <Path kPath, class Members, class Write>
CHIME_DEVICE Ticket submit_together(const Context& ctx, const Members& posters, Channel& channel,
                                    std::uint64_t done, const Shape& all, Write write) {
  using Own = ChannelTraits<kPath>;
  auto view = Own::view_of(channel);
  std::uint64_t base = 0;
  if (posters.is_leader()) {
    base = detail::take<kPath>(channel, all.units);
    if (base + all.units - end_of(done) > view.head.depth) {
      if (!detail::await_room<kPath>(ctx, channel, base + all.units)) {
        if constexpr (Members::kIsOne) return {};
        base = detail::kNoRoom;
      }
      view = Own::view_of(channel);
    }
  }
  if constexpr (!Members::kIsOne) {
    base = posters.from_leader(base);
    if (base == detail::kNoRoom) return {};
  }
  write(view, base);
  bool is_in = true;
  if constexpr (Own::kCommits) {
    posters.sync();
    if (posters.is_leader()) is_in = Own::commit(ctx, channel, view, base, all);
    if (posters.are_many()) {
      is_in = posters.from_leader(is_in);
      posters.sync();  // a quiet of any of them finds what the leader has committed
    }
  }
  return {base + all.units - all.tail, is_in};
}

// Puts requests into the channel and ensures that the consumer is notified; `shape` describes the
// share of each thread. `write(view, index, is_last)` writes the calling thread's share, from unit
// `index` on; `is_last`: the last of all that are submitted together.
template <Path kPath, class Group, class Write>
CHIME_DEVICE Ticket submit(const Context& ctx, Group group, Channel& channel, const Shape& shape,
                           Write write) {
  std::uint64_t done = 0;
  if constexpr (std::is_same_v<Group, Alone>) {
    done = load<Order::kRelaxed>(channel.progress.done);
  } else {
    if (!look<kPath>(ctx, channel, done)) return {};
  }
  const exec::Committed from_reservation_to_commit;
  const auto posters = posters_to(group, channel, shape.units);
  const Shape all = {posters.count() * shape.units, shape.more, shape.tail};
  return submit_together<kPath>(
      ctx, posters, channel, done, all, [&](const auto& view, std::uint64_t base) {
        write(view, base + posters.rank() * shape.units, posters.is_last());
      });
}

}  // namespace chime::channel

#endif  // CHIME_DEVICE_CHANNEL_SUBMIT_CUH_
