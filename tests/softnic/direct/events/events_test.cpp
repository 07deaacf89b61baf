// Completion channels and asynchronous events, as rdma-core delivers them.

#include <poll.h>

#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

bool is_readable(int fd, std::chrono::milliseconds within = std::chrono::milliseconds(0)) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(within.count())) == 1;
}

class Channel {
 public:
  Channel()
      : channel_(
            check(ibv_create_comp_channel(Hca::instance().context()), "ibv_create_comp_channel")) {}
  ~Channel() { EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0); }
  ibv_comp_channel* get() const { return channel_; }
  bool has_event() const { return is_readable(channel_->fd); }
  ibv_cq* next() const {
    EXPECT_TRUE(is_readable(channel_->fd, kDeadline));
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    check_zero(ibv_get_cq_event(channel_, &cq, &context), "ibv_get_cq_event");
    ibv_ack_cq_events(cq, 1);
    return cq;
  }

 private:
  ibv_comp_channel* channel_;
};

ibv_async_event next_async() {
  ibv_context* context = Hca::instance().context();
  if (!is_readable(context->async_fd, kDeadline))
    throw std::runtime_error("no asynchronous event came");
  ibv_async_event event{};
  check_zero(ibv_get_async_event(context, &event), "ibv_get_async_event");
  return event;
}
bool has_async() { return is_readable(Hca::instance().context()->async_fd); }

class Events : public testing::TestWithParam<Route> {
 protected:
  Events() : pair(GetParam(), Options{}, with_channel()) {}
  Options with_channel() {
    Options options;
    options.channel = channel.get();
    return options;
  }
  // Sends one message and lets rdma-core take its receive completion.
  void deliver(bool solicited) {
    right.receives.post({{memory.at(64), 64, memory.lkey()}});
    Wqe wqe = Wqe(kSend).data(memory.at(0), 8, memory.lkey());
    if (solicited) wqe.solicited();
    left.sent.retired(left.sends.post_and_ring(wqe));
    wait_until("the receive's completion", [&] {
      ibv_wc wc{};
      return ibv_poll_cq(right.verbs_receive_cq(), 1, &wc) == 1;
    });
  }

  Memory memory{4096};
  Channel channel;
  Pair pair;
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;
};
INSTANTIATE_TEST_SUITE_P(Route, Events, testing::Values(kVerbs, kVerbs128), name_of_route);

TEST_P(Events, ArmedQueueFiresOnce) {
  deliver(false);
  EXPECT_FALSE(channel.has_event());  // the queue is not armed
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 0), "ibv_req_notify_cq");
  deliver(false);
  EXPECT_EQ(channel.next(), right.verbs_receive_cq());
  deliver(false);
  EXPECT_FALSE(channel.has_event());
}

TEST_P(Events, SolicitedArmingWaitsForASolicitedMessage) {
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 1), "ibv_req_notify_cq");
  deliver(false);
  deliver(false);
  EXPECT_FALSE(channel.has_event());
  deliver(true);
  EXPECT_EQ(channel.next(), right.verbs_receive_cq());
}

TEST_P(Events, SolicitedArmingTakesAnErrorToo) {
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 1), "ibv_req_notify_cq");
  right.receives.post({});
  check_zero(right.to_error(), "to error");
  EXPECT_EQ(channel.next(), right.verbs_receive_cq());
}

TEST_P(Events, CompletionModeThreeFiresASolicitedArming) {
  check_zero(ibv_req_notify_cq(right.verbs_send_cq(), 1), "ibv_req_notify_cq");
  right.sends.post_and_ring(Wqe(kNop).signalled(Ce::kAlways));
  right.sent.next();
  EXPECT_FALSE(channel.has_event());
  right.sends.post_and_ring(Wqe(kNop).signalled(Ce::kWithEvent));
  EXPECT_EQ(channel.next(), right.verbs_send_cq());
}

TEST_P(Events, SolicitedArmingIsNotFiredByWhatCameUnsolicited) {
  right.receives.post({});
  left.sent.retired(left.sends.post_and_ring(Wqe(kSend)));
  wait_until("the receive's completion", [&] { return right.received.poll().has_value(); });
  right.received.consumed = 0;  // for libmlx5 it is still in the queue
  right.received.write_record();
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 1), "ibv_req_notify_cq");
  deliver(false);
  EXPECT_FALSE(channel.has_event());
  deliver(true);
  EXPECT_EQ(channel.next(), right.verbs_receive_cq());
}

TEST_P(Events, CompletionThatCameBeforeArmingFiresAtOnce) {
  right.receives.post({});
  left.sent.retired(left.sends.post_and_ring(Wqe(kSend)));
  wait_until("the receive's completion", [&] { return right.received.poll().has_value(); });
  right.received.consumed = 0;  // for libmlx5 it is still in the queue
  right.received.write_record();
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 0), "ibv_req_notify_cq");
  EXPECT_EQ(channel.next(), right.verbs_receive_cq());
}

// ibv_destroy_cq waits until the delivered events are acknowledged: unread ones must not count.
TEST_P(Events, DestroyTakesUnreadEventsBack) {
  check_zero(ibv_req_notify_cq(right.verbs_receive_cq(), 0), "ibv_req_notify_cq");
  deliver(false);
  wait_until("the event", [&] { return channel.has_event(); });
  pair.right.reset();
  EXPECT_FALSE(channel.has_event());
}

TEST_P(Events, AcknowledgedAsyncEventLetsItsQueuePairGo) {
  left.sends.post_and_ring(
      Wqe(kWrite).remote(memory.at(0), 0x7700).data(memory.at(0), 8, memory.lkey()));
  ibv_async_event event = next_async();
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(event.element.qp, right.verbs_qp());
  ibv_ack_async_event(&event);
  pair.right.reset();
  EXPECT_FALSE(has_async());
}

TEST_P(Events, UnreadAsyncEventGoesWithItsQueuePair) {
  left.sends.post_and_ring(
      Wqe(kWrite).remote(memory.at(0), 0x7700).data(memory.at(0), 8, memory.lkey()));
  left.sent.next();
  wait_until("the event", has_async);
  pair.right.reset();
  EXPECT_FALSE(has_async());
}

TEST_P(Events, SharedReceiveQueueTellsOfItsLimitOnceAndOfItsQueuePairsEnd) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = 8;
  attributes.attr.max_sge = 1;
  ibv_srq* srq = check(ibv_create_srq(Hca::instance().pd(), &attributes), "ibv_create_srq");
  {
    Options receiver;
    receiver.srq = srq;
    Pair shared(GetParam(), Options{}, receiver);
    ibv_srq_attr limit{};
    limit.srq_limit = 3;
    for (int i = 0; i < 5; ++i) {
      ibv_recv_wr receive{}, *bad = nullptr;
      check_zero(ibv_post_srq_recv(srq, &receive, &bad), "ibv_post_srq_recv");
    }
    check_zero(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
    for (int left_over = 4; left_over >= 1; --left_over) {
      shared.left->sent.retired(shared.left->sends.post_and_ring(Wqe(kSend)));
      if (left_over != 2) {
        EXPECT_FALSE(has_async()) << left_over;
        continue;
      }
      ibv_async_event event = next_async();
      EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
      EXPECT_EQ(event.element.srq, srq);
      ibv_ack_async_event(&event);
    }
    check_zero(shared.right->to_error(), "to error");
    ibv_async_event event = next_async();
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(event.element.qp, shared.right->verbs_qp());
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

// A completion queue that no program reads: its overrun is reported, and no more completions come.
TEST_P(Events, OverrunOfACompletionQueueIsAnEvent) {
  Options tiny;
  tiny.completions = 16;
  Pair full(GetParam(), tiny);
  full.left->sent.updates_record = false;
  for (unsigned i = 0; i < full.left->sent.entries + 1; ++i) full.left->sends.post(Wqe(kNop));
  full.left->sends.ring_doorbell();
  ibv_async_event event = next_async();
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, full.left->verbs_send_cq());
  ibv_ack_async_event(&event);
}

}  // namespace
}  // namespace direct
