// A queue pair as a channel: how far its requests are complete, and the steps from written requests
// to a doorbell (steps 5 to 9 of device/channel/README.md, "Submit").
#ifndef CHIME_DEVICE_PATH_NIC_CHANNEL_CUH_
#define CHIME_DEVICE_PATH_NIC_CHANNEL_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/words.h"
#include "chime/abi/wqe.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/turn.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/path/nic/completion.cuh"
#include "chime/device/path/nic/failure.cuh"

namespace chime::nic {

using channel::Shape;

// The values of its queue that a post needs, read once: to the compiler, every store to the queue
// might change them.
struct QueueView {
  abi::ChannelHead head;
  abi::NicBell bell;
};
CHIME_DEVICE QueueView view_of(const Channel& queue) {
  return {channel::head_of(queue), exec::ld_settled(&queue.nic.bell)};
}

namespace detail {

// Step 8. The first fence is needed also after the release fence before a wait: it releases what
// this poster has acquired since. A NIC that looks ahead may read this record for an older
// doorbell, and assumes that all requests below it are complete.
CHIME_DEVICE void post_doorbell(const QueueView& view, std::uint64_t end) {
  channel::fence_for_consumer<Order::kAcqRel>();  // (a) (b)
  exec::st<Order::kRelaxed, Scope::kSystem>(view.bell.record, abi::doorbell_record(end));
  channel::fence_for_consumer<Order::kRelease>();  // (c)
  exec::st_mmio(view.bell.doorbell, abi::doorbell_value(end, view.head.number_be));
}

}  // namespace detail

// Called by the leader of all posters whose requests lie from `base` on. False if the queue is out
// of use.
CHIME_DEVICE bool commit(const Context& ctx, Channel& queue, QueueView view, std::uint64_t base,
                         const Shape& all) {
  const std::uint64_t end = base + all.units;
  std::uint64_t ready = load<Order::kRelaxed>(queue.producer.ready);
  const bool must_wait = channel::end_of(ready) != base;
  if (must_wait) {
    ready = channel::await_turn(ctx, queue, base);
    if (ready == channel::kNoTurn) return false;
    view = view_of(queue);  // reload, so that no register keeps it over the wait
  }
  const bool is_due = !all.more || (ready & abi::kOwed) != 0;
  // Doorbells have been posted for at least all requests below the batch that `ready` lies in, also
  // after a request with a tail. The rule for the depth relies on it.
  const bool at_edge = channel::target_of(ready) / abi::kNicBatch != end / abi::kNicBatch;
  const bool posts = at_edge || (is_due && load<Order::kRelaxed>(queue.producer.resv) == end);
  const std::uint64_t written = abi::ready_word(end, all.tail);
  if (posts) {
    detail::post_doorbell(view, end);
    channel::publish(queue, written);  // (d)
  } else {
    if (!must_wait) channel::fence_for_consumer<Order::kRelease>();  // (a)
    channel::pass_on(queue, ready, written | (is_due ? abi::kOwed : 0));
  }
  return true;
}

}  // namespace chime::nic

namespace chime::channel {

template <>
struct ChannelTraits<Path::kNic> {
  using View = nic::QueueView;
  static constexpr bool kCommits = true;
  CHIME_DEVICE static View view_of(const Channel& channel) { return nic::view_of(channel); }

  CHIME_DEVICE static bool commit(const Context& ctx, Channel& channel, const View& view,
                                  std::uint64_t base, const Shape& all) {
    return nic::commit(ctx, channel, view, base, all);
  }

  CHIME_DEVICE static std::uint64_t poll(Channel& channel, std::uint64_t done) {
    return nic::poll(channel, done);
  }

  CHIME_DEVICE static bool keeps_order(const Channel& channel) {
    return (head_of(channel).flags & (abi::kNicUnorderedWrites | abi::kNicUnorderedData)) == 0;
  }

  CHIME_DEVICE static bool has_lost(const Channel& channel, int) { return is_stopped(channel); }

  CHIME_DEVICE static bool has_other_path(const Context& ctx, const Channel& channel) {
    return ctx.pe.peer_heap[channel.pe] != nullptr;
  }

  CHIME_DEVICE static void describe_error(const Context& ctx, const Channel& channel,
                                          abi::ChannelFault& fault) {
    nic::describe_error(ctx, channel, fault);
  }
};

}  // namespace chime::channel

#endif  // CHIME_DEVICE_PATH_NIC_CHANNEL_CUH_
