// The rings: indices and requests that wrap, batches, laps of completion and receive queues.

#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

Options small_queues() {
  Options options;
  options.completions = 16;
  return options;
}

class Rings : public Connected {
 protected:
  Rings() : Connected(small_queues()) {}

  // Posts requests that do nothing, until the next request starts at block `at` of the ring.
  void advance_to(std::uint32_t at) {
    while ((left.sends.next & (left.sends.blocks - 1)) != at) complete(left, Wqe(kNop));
  }
};
CHIME_OVER_ALL_ROUTES(Rings);

// In long batches, as each batch wakes the NIC's thread once. No batch ends at the wrap.
TEST_P(Rings, IndexWrapsAtSixteenBits) {
  constexpr std::uint32_t kBatch = 1000;
  Options options = small_queues();
  options.send_blocks = 1024;
  const Pair pair(route(), options);
  SendQueue& sends = pair.left->sends;
  while (sends.next < 0x10000 + kBatch) {
    std::uint16_t last = 0;
    for (std::uint32_t i = 0; i < kBatch; ++i)
      last = sends.post(Wqe(kNop).signalled(i + 1 == kBatch ? Ce::kAlways : Ce::kOnError));
    sends.ring_doorbell();
    ASSERT_EQ(pair.left->sent.retired(last).counter(), last);
  }
  local.fill(0, 256, 1);
  complete(*pair.left, write(0, 0, 256));
  EXPECT_EQ(0, std::memcmp(remote.at(0), local.at(0), 256));
}

TEST_P(Rings, RequestOfManyBlocksWrapsAtTheEnd) {
  for (const std::uint32_t bytes : {100u, 300u, 900u}) {
    const Wqe shape = Wqe(kWrite).remote(remote.at(0), remote.rkey()).inlined(local.at(0), bytes);
    for (std::uint32_t before_end = 1; before_end < shape.blocks(); ++before_end) {
      advance_to(left.sends.blocks - before_end);
      local.fill(0, bytes, bytes + before_end);
      complete(left, Wqe(kWrite).remote(remote.at(0), remote.rkey()).inlined(local.at(0), bytes));
      EXPECT_EQ(0, std::memcmp(remote.at(0), local.at(0), bytes))
          << before_end << " blocks before the end";
    }
  }
}

TEST_P(Rings, LongestRequestHasSixtyThreeSegments) {
  local.fill(0, 61 * 16, 3);
  Wqe wqe = Wqe(kWrite).remote(remote.at(0), remote.rkey());
  for (unsigned i = 0; i < 61; ++i) wqe.data(local.at((60 - i) * 16), 16, local.lkey());
  ASSERT_EQ(wqe.segments(), 63u);
  complete(left, wqe);
  for (unsigned i = 0; i < 61; ++i)
    EXPECT_EQ(0, std::memcmp(remote.at(i * 16), local.at((60 - i) * 16), 16));
}

TEST_P(Rings, FullRingIsOneBatch) {
  for (int lap = 0; lap < 3; ++lap) {
    std::uint16_t last = 0;
    for (std::uint32_t i = 0; i < left.sends.blocks; ++i) {
      local.set_word(i * 8, lap * 1000 + i);
      last =
          left.sends.post(write(i * 8, i * 8, 8)
                              .signalled(i + 1 == left.sends.blocks ? Ce::kAlways : Ce::kOnError));
    }
    left.sends.ring_doorbell();
    left.sent.retired(last);
    EXPECT_EQ(0, std::memcmp(remote.at(0), local.at(0), left.sends.blocks * 8));
  }
}

TEST_P(Rings, UnsignalledRequestsAreRetiredByALaterCompletion) {
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 9; ++i)
      left.sends.post(
          write(i * 16, i * 16, 16).signalled(i % 2 ? Ce::kOnError : Ce::kOnFirstError));
    const std::uint16_t last = left.sends.post_and_ring(write(9 * 16, 9 * 16, 16));
    const Cqe cqe = left.sent.next();
    EXPECT_EQ(cqe.counter(), last);  // the only completion
    EXPECT_FALSE(left.sent.poll().has_value());
  }
}

TEST_P(Rings, DoorbellsOfOnePageMayMerge) {
  constexpr int kRequests = 50;
  for (int i = 0; i < kRequests; ++i) {
    local.set_word(0, i);
    left.sends.post_and_ring(Wqe(kWrite)
                                 .remote(remote.at(i * 8), remote.rkey())
                                 .inlined(local.at(0), 8)
                                 .signalled(Ce::kOnError));
  }
  complete(left, Wqe(kNop));
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(remote.word(i * 8), static_cast<std::uint64_t>(i));
}

TEST_P(Rings, OwnerBitTurnsWithEveryLapOfTheCompletionQueue) {
  for (std::uint32_t i = 0; i < 5 * left.sent.entries; ++i) complete(left, Wqe(kNop));
  for (std::uint32_t lap = 0; lap < 6; ++lap) {  // and half a lap at once, from every offset
    std::vector<std::uint16_t> posted;
    for (std::uint32_t i = 0; i < left.sent.entries / 2 + 1; ++i)
      posted.push_back(left.sends.post(Wqe(kNop)));
    left.sends.ring_doorbell();
    if (route().collapsed) {
      left.sent.retired(posted.back());
      continue;
    }
    for (const std::uint16_t index : posted) EXPECT_EQ(left.sent.next().counter(), index);
  }
}

TEST_P(Rings, ReceiveQueueWrapsAndKeepsItsOrder) {
  for (std::uint32_t lap = 0; lap < 4; ++lap) {
    for (std::uint32_t i = 0; i < 11; ++i)
      right.receives.post({{remote.at(i * 64), 64, remote.lkey()}});
    for (std::uint32_t i = 0; i < 11; ++i) {
      local.set_word(0, lap << 8 | i);
      complete(left, Wqe(kSend).inlined(local.at(0), 8));
      EXPECT_EQ(right.received.next().byte_count(), 8u);
      EXPECT_EQ(remote.word(i * 64), lap << 8 | i);
    }
  }
}

// With `oi` the owner of the ring need not report which entries it has read.
TEST_P(Rings, IgnoredOverrunNeedsNoConsumerIndex) {
  Options options = small_queues();
  options.ignores_overrun = true;
  Pair careless(route(), options);
  careless.left->sent.updates_record = false;
  for (std::uint32_t i = 0; i < 4 * options.completions; ++i) complete(*careless.left, Wqe(kNop));
}

// A shared receive queue feeds queue pairs of both routes; its entries form a list.
TEST_P(Rings, SharedReceivesGoToWhoeverIsSentTo) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = 8;
  attributes.attr.max_sge = 2;
  ibv_srq* srq = check(ibv_create_srq(Hca::instance().pd(), &attributes), "ibv_create_srq");
  {
    Options receiver;
    receiver.srq = srq;
    Pair one(route(), Options{}, receiver), two(route(), Options{}, receiver);
    for (int round = 0; round < 30; ++round) {
      ibv_sge piece{reinterpret_cast<std::uint64_t>(remote.at(round * 64)), 64, remote.lkey()};
      ibv_recv_wr receive{}, *bad = nullptr;
      receive.sg_list = &piece;
      receive.num_sge = 1;
      check_zero(ibv_post_srq_recv(srq, &receive, &bad), "ibv_post_srq_recv");
      Pair& used = round % 3 ? one : two;
      local.set_word(0, round + 1);
      complete(*used.left, Wqe(kSend).inlined(local.at(0), 8));
      // rdma-core's poll frees the entry. A CQE polled by hand has the entry's index as counter.
      if (ibv_cq* cq = used.right->verbs_receive_cq()) {
        ibv_wc wc{};
        wait_until("a receive", [&] { return ibv_poll_cq(cq, 1, &wc) == 1; });
        EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      } else {
        const Cqe cqe = used.right->received.next();
        mlx5dv_srq dv{};
        mlx5dv_obj object{};
        object.srq = {srq, &dv};
        check_zero(mlx5dv_init_obj(&object, MLX5DV_OBJ_SRQ), "mlx5dv_init_obj(SRQ)");
        // The owner puts the entry back at the end of the list. Only libmlx5 knows the list's end,
        // so this route uses each entry once.
        EXPECT_LT(cqe.counter(), 8u);
        if (round == 6) break;
      }
      EXPECT_EQ(remote.word(round * 64), round + 1u);
    }
  }
  check_zero(ibv_destroy_srq(srq), "ibv_destroy_srq");
}

}  // namespace
}  // namespace direct
