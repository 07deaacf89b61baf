// One cell of the strict matrix: a queue pair that errs, its peer and the request; and the mistakes
// that are made at the queues.
#pragma once

#include <cstring>

#include "matrix.hpp"
#include "wait.hpp"

namespace direct::matrix {

inline Options of_service(Options options, Service service) {
  options.service = service;
  return options;
}

// One queue pair that errs, its peer, and the request.
struct Scene {
  Scene(const Route& route, Service service, const Kind& kind, Places& places, const Options& left,
        const Options& right)
      : kind(kind),
        service(service),
        places(places),
        pair(route, of_service(left, service), of_service(right, service)),
        draft{kind,
              service,
              service == Service::kUd ? Hca::instance().address_vector()
                                      : std::vector<std::uint8_t>{},
              right.qkey,
              pair.right->qpn(),
              {places.remote.at(0), places.remote.rkey()},
              {places.local.at(0), places.local.lkey()}} {
    places.remote.set_word(0, 0);
    places.remote.set_word(received_at(), 0);
  }

  const Kind& kind;
  const Service service;
  Places& places;
  Pair pair;
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;
  Draft draft;

  // The address of a message's first word: a datagram has 40 bytes before it.
  std::size_t received_at() const { return Places::kReceives + (service == Service::kUd ? 40 : 0); }
  void post_receive() const {
    const std::uint32_t room = service == Service::kUd ? 48 : 8;
    right.receives.post({{places.remote.at(Places::kReceives), room, places.remote.lkey()}});
  }
  std::uint16_t post() const {
    if (kind.takes_a_receive()) post_receive();
    return left.sends.post(draft.wqe());
  }
  // An RC request before the others that does not end until unblock().
  void block() const {
    left.sends.post_and_ring(Wqe(kSend).data(places.local.at(0), 8, places.local.lkey()));
    settle();
  }

  void wait_for_taking() const {
    wait_until("the doorbell's taking", [&] {
      return std::atomic_ref(*left.sends.doorbell).load(std::memory_order_acquire) == 0;
    });
  }
  // The NIC has finished all earlier work that it can finish: a turn of its engine takes doorbells
  // first, so that a second one is taken after the turn of the first; a request takes few turns.
  void settle() const {
    for (int turn = 0; turn < 4; ++turn) {
      left.sends.write_doorbell(left.sends.next, left.sends.qpn);
      wait_for_taking();
    }
  }
  // libmlx5's doorbell: the first words of the last work request, index and segments.
  void write_doorbell_of(std::uint16_t index) const {
    std::uint64_t words;
    std::memcpy(&words, left.sends.block(index), 8);
    std::atomic_ref(*left.sends.doorbell).store(words, std::memory_order_release);
  }
  void expect_success() const {
    const Cqe cqe = left.sent.next();
    EXPECT_FALSE(cqe.failed()) << "syndrome " << std::hex << unsigned{cqe.syndrome()};
  }
  bool has_moved_something() const {
    return places.remote.word(0) != 0 || places.remote.word(received_at()) != 0;
  }
};

template <unsigned kState>
inline void ring_too_early(Scene& s) {
  check_zero(s.left.to_reset(), "reset");
  if (kState >= IBV_QPS_INIT) check_zero(s.left.to_init(), "init");
  if (kState >= IBV_QPS_RTR) check_zero(s.left.to_rtr(s.right.qpn()), "rtr");
  s.post();
  s.left.sends.ring_doorbell();
  s.settle();
  if (kState < IBV_QPS_INIT) check_zero(s.left.to_init(), "init");
  if (kState < IBV_QPS_RTR) check_zero(s.left.to_rtr(s.right.qpn()), "rtr");
  check_zero(s.left.to_rts(), "rts");
  s.left.sends.ring_doorbell();
  s.expect_success();
}

// As in an indexed doorbell (of GPU libraries): the next free block.
inline void ring_before_record(Scene& s) {
  s.post();
  s.settle();
  s.left.sends.ring_doorbell();
  s.expect_success();
}

inline void ring_without_record(Scene& s) {
  const std::uint16_t index = s.post();
  for (int i = 0; i < 2; ++i) {  // the NIC takes the second after it has checked the first
    s.write_doorbell_of(index);
    s.wait_for_taking();
  }
  s.left.sends.ring_doorbell();
  s.expect_success();
}

inline void change_in_flight(Scene& s) {
  s.block();
  const std::uint16_t index = s.left.sends.post(s.draft.wqe());
  s.left.sends.ring_doorbell();
  s.settle();
  s.left.sends.block(index)[15] ^= 1;
  s.post_receive();
  if (s.kind.takes_a_receive()) s.post_receive();
  s.expect_success();
  s.expect_success();
}

inline void overwrite_in_flight(Scene& s) {
  s.block();
  unsigned posted = 0;
  for (; s.left.sends.next <= s.left.sends.blocks; ++posted) s.left.sends.post(s.draft.wqe());
  s.left.sends.ring_doorbell();
  s.settle();
  s.post_receive();
  for (unsigned i = 0; s.kind.takes_a_receive() && i < posted; ++i) s.post_receive();
  for (unsigned i = 0; i <= posted; ++i) s.expect_success();
}

inline void overrun_completions(Scene& s) {
  s.left.sent.updates_record = false;
  for (int i = 0; i < 6; ++i) s.post();
  s.left.sends.ring_doorbell();
  for (int i = 0; i < 4; ++i) s.expect_success();
  s.settle();
  EXPECT_FALSE(s.left.sent.poll().has_value());
}

}  // namespace direct::matrix
