// The path through a NIC: the kernel itself writes work requests and posts the doorbell.
//
// The leader posts for a warp or block. An operation whose queue is out of use leaves as
// CHIME_ON_ERROR says; with `return` it gives zero.
#ifndef CHIME_DEVICE_PATH_NIC_OPS_CUH_
#define CHIME_DEVICE_PATH_NIC_OPS_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/context.h"
#include "chime/device/channel/channel.cuh"
#include "chime/device/channel/error.cuh"
#include "chime/device/exec/exec.cuh"
#include "chime/device/group.cuh"
#include "chime/device/op.cuh"
#include "chime/device/path/nic/atomics.cuh"
#include "chime/device/path/nic/element.cuh"
#include "chime/device/path/nic/memory.cuh"
#include "chime/device/path/nic/rma.cuh"
#include "chime/device/path/nic/signal.cuh"
#include "chime/device/path/ops.cuh"

namespace chime {

template <>
class Ops<Path::kNic> {
 public:
  CHIME_DEVICE Ops(const Context& ctx, abi::Channel& queue, int) : ctx_(ctx), queue_(queue) {}

  static constexpr bool kIsMapped = false;

  // ---- Remote memory access ----

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put(Group g, const Put& put) const {
    if (g.is_leader()) leave_unless(nic::write<kLeast>(ctx_, g, queue_, put));
  }
  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void get(Group g, const Get& get) const {
    if (g.is_leader()) leave_unless(nic::read(ctx_, g, queue_, get));
  }

  template <class W>
  CHIME_DEVICE void p(W* dst, W value) const {
    if constexpr (nic::kIsGathered<W>) {
      leave_unless(nic::write_element<W>(ctx_, queue_, dst, value));
    } else {
      leave_unless(nic::write_inline(ctx_, Thread{}, queue_, dst, sizeof(W),
                                     [&] { return nic::inline_data_of(value); }));
    }
  }
  template <class W>
  CHIME_DEVICE W g(const W* src) const {
    W value = {};
    leave_unless(nic::read_element(ctx_, queue_, nic::remote_data(ctx_, queue_, src), &value));
    return value;
  }

  // ---- Signals and atomics ----

  static constexpr bool kAddsFloats = false;

  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_signal(Group g, const Put& put, const SignalUpdate& signal) const {
    if (g.is_leader()) {
      leave_unless(nic::write_with_signal<kLeast>(ctx_, g, queue_, put, signal));
    }
    if (put.until == Until::kLocal) end_together(g);  // any member may reuse the source
  }

  // Where writes arrive in any order, a signal behind data is an atomic, or waits for the data.
  template <std::size_t kLeast, class Group>
  CHIME_DEVICE void put_in_turn(Group g, const Put& put, const SignalUpdate& signal) const {
    put_signal<kLeast>(g, put, signal);
  }

  // After the requests that are in the queue, if the queue keeps order.
  CHIME_DEVICE void signal(const SignalUpdate& signal) const {
    leave_unless(nic::write_signal(ctx_, Thread{}, queue_, signal).ok());
  }
  CHIME_DEVICE void announce(const SignalUpdate& signal) const {
    leave_unless(nic::announce(ctx_, queue_, signal));
  }

  template <class A>
  CHIME_DEVICE void amo(const A& amo) const {
    leave_unless(nic::post_atomic(ctx_, queue_, amo.word, nic::request_of(amo)));
  }
  // Returns the word before.
  template <class A>
  CHIME_DEVICE typename A::Word fetch_amo(const A& amo) const {
    typename A::Word before = 0;
    leave_unless(nic::fetch_atomic(ctx_, queue_, amo.word, nic::request_of(amo), &before));
    return before;
  }

 private:
  CHIME_DEVICE void leave_unless(bool is_posted) const {
    if (!is_posted) channel::leave_channel(ctx_, queue_);
  }

  const Context& ctx_;
  abi::Channel& queue_;
};

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_NIC_OPS_CUH_
