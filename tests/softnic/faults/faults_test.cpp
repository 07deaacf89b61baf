// The effect of each rule of SOFTNIC_FAULTS on a program that uses plain verbs: statuses, their
// order, events, and that nothing hangs. CMakeLists.txt has the rules of each test.

#include <poll.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>

#include "devx_endpoint.hpp"
#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

using Clock = std::chrono::steady_clock;

Options patient() {
  Options options;
  options.rnr_retry = 7;
  return options;
}

// Two queue pairs of this process, connected; completions are rdma-core's.
class Faults : public testing::Test {
 public:
  void connect(const Options& options = patient()) {
    pair = std::make_unique<Pair>(kVerbs, options);
    ASSERT_EQ(left().qpn() & 0xfff, 0x40u) << "the rules name it";
  }
  Endpoint& left() { return *pair->left; }
  Endpoint& right() { return *pair->right; }

  Wqe write(std::size_t at, std::uint32_t bytes = 8) const {
    return Wqe(kWrite).remote(remote.at(at), remote.rkey()).data(local.at(at), bytes, local.lkey());
  }

  // The next completion of the queue, as rdma-core returns it.
  static ibv_wc next(ibv_cq* cq, const char* what) {
    ibv_wc wc{};
    int got = 0;
    wait_until(what, [&] { return (got = ibv_poll_cq(cq, 1, &wc)) != 0; });
    EXPECT_EQ(got, 1) << what;
    return wc;
  }
  ibv_wc_status next_of_left(const char* what = "a completion") {
    return next(left().verbs_send_cq(), what).status;
  }
  static bool is_empty(ibv_cq* cq) {
    ibv_wc wc;
    return ibv_poll_cq(cq, 1, &wc) == 0;
  }

  std::unique_ptr<Pair> pair;
  Memory local{1 << 16}, remote{1 << 16};
};

ibv_wc_status status_of_rule() {
  static const std::map<std::string, ibv_wc_status> all = {
      {"local-length", IBV_WC_LOC_LEN_ERR},      {"local-qp-operation", IBV_WC_LOC_QP_OP_ERR},
      {"local-protection", IBV_WC_LOC_PROT_ERR}, {"bad-response", IBV_WC_BAD_RESP_ERR},
      {"local-access", IBV_WC_LOC_ACCESS_ERR},   {"remote-invalid-request", IBV_WC_REM_INV_REQ_ERR},
      {"remote-access", IBV_WC_REM_ACCESS_ERR},  {"remote-operation", IBV_WC_REM_OP_ERR},
      {"transport-retry", IBV_WC_RETRY_EXC_ERR}, {"rnr-retry", IBV_WC_RNR_RETRY_EXC_ERR},
      {"remote-aborted", IBV_WC_REM_ABORT_ERR},
  };
  const std::string rules = std::getenv("SOFTNIC_FAULTS");
  return all.at(rules.substr(rules.rfind('=') + 1));
}

TEST_F(Faults, ErrorStrikesTheNamedRequest) {
  connect();
  for (std::size_t i = 0; i < 5; ++i) {
    local.set_word(8 * i, i + 1);
    left().sends.post(write(8 * i));
  }
  left().sends.ring_doorbell();
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), status_of_rule());
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(left().state(), unsigned{IBV_QPS_ERR});
  EXPECT_EQ(remote.word(8), 2u);
  EXPECT_EQ(remote.word(16), 0u) << "the failed one and those behind it were not executed";
  EXPECT_EQ(remote.word(32), 0u);
}

TEST_F(Faults, NextDoorbellMakesUpForALostOne) {
  connect();
  local.set_word(0, 1);
  left().sends.post_and_ring(write(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(remote.word(0), 0u) << "the NIC has no doorbell";
  EXPECT_TRUE(is_empty(left().verbs_send_cq()));
  left().sends.post_and_ring(write(8));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(remote.word(0), 1u);
}

TEST_F(Faults, OtherQueuePairsLoseNothing) {
  connect();
  left().sends.post_and_ring(write(0));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
}

TEST_F(Faults, LateCompletionsComeInOrder) {
  connect();
  const auto start = Clock::now();
  std::uint16_t index[3];
  for (std::size_t i = 0; i < 3; ++i) {
    local.set_word(8 * i, i + 1);
    index[i] = left().sends.post_and_ring(write(8 * i));
  }
  wait_until("the data", [&] { return remote.word(16) == 3; });
  for (const std::uint16_t expected : index) {
    const Cqe cqe = left().sent.next();
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(300));
    EXPECT_EQ(cqe.opcode(), 0);
    EXPECT_EQ(cqe.counter(), expected);
  }
}

// Each queue has its own delay: the second's completions may come after the first's.
TEST_F(Faults, LateCompletionsOfTwoQueuesBothCome) {
  connect();
  left().sends.post_and_ring(write(0));
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  right().sends.post_and_ring(write(8));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next(right().verbs_send_cq(), "the second queue's completion").status, IBV_WC_SUCCESS);
}

TEST_F(Faults, LateCompletionsDoNotOutliveTheirQueuePair) {
  connect();
  ibv_cq* shared =
      check(ibv_create_cq(Hca::instance().context(), 64, nullptr, nullptr, 0), "ibv_create_cq");
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = shared;
  wanted.cap = {4, 4, 1, 1, 0};
  wanted.qp_type = IBV_QPT_RC;
  ibv_qp* qp = check(ibv_create_qp(Hca::instance().pd(), &wanted), "ibv_create_qp");
  ibv_qp_attr to_error{};
  to_error.qp_state = IBV_QPS_INIT;
  to_error.port_num = 1;
  check_zero(ibv_modify_qp(qp, &to_error,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
             "to INIT");
  ibv_sge piece{reinterpret_cast<std::uint64_t>(local.at(0)), 8, local.lkey()};
  ibv_recv_wr receive{}, *bad = nullptr;
  receive.sg_list = &piece;
  receive.num_sge = 1;
  check_zero(ibv_post_recv(qp, &receive, &bad), "ibv_post_recv");
  to_error.qp_state = IBV_QPS_ERR;
  check_zero(ibv_modify_qp(qp, &to_error, IBV_QP_STATE), "to ERR");  // flushes it, late
  EXPECT_TRUE(is_empty(shared));
  check_zero(ibv_destroy_qp(qp), "ibv_destroy_qp");
  EXPECT_TRUE(is_empty(shared)) << "rdma-core found it and took it out with its queue pair";
  check_zero(ibv_destroy_cq(shared), "ibv_destroy_cq");
}

TEST_F(Faults, LateCompletionsComeBeforeTheirDevxQueuePairGoes) {
  DevxEndpoint endpoint(kDevx, patient());
  check_zero(endpoint.to_init(), "to INIT");
  const std::uint16_t index = endpoint.receives.post({{remote.at(0), 64, remote.lkey()}});
  check_zero(endpoint.to_error(), "to ERR");  // flushes it, late
  EXPECT_FALSE(endpoint.received.poll().has_value());
  endpoint.destroy_qp();
  const auto flushed = endpoint.received.poll();
  ASSERT_TRUE(flushed.has_value());
  EXPECT_EQ(flushed->counter(), index);
}

TEST_F(Faults, LateFailureIsFollowedByItsFlush) {
  connect();
  const auto start = Clock::now();
  for (std::size_t i = 0; i < 4; ++i) left().sends.post(write(8 * i));
  left().sends.ring_doorbell();
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(300));
  EXPECT_EQ(next_of_left(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
}

// `right` posts later and completes sooner, unless this process itself was held up for as long.
TEST_F(Faults, DelayedQueuePairIsOvertaken) {
  connect();
  constexpr auto kDelay = std::chrono::seconds(3);
  const auto start = Clock::now();
  left().sends.post_and_ring(write(0));
  right().sends.post_and_ring(write(8));
  EXPECT_EQ(next(right().verbs_send_cq(), "the one behind").status, IBV_WC_SUCCESS);
  const bool left_is_done = !is_empty(left().verbs_send_cq());
  if (Clock::now() - start < kDelay) EXPECT_FALSE(left_is_done);
  if (!left_is_done) EXPECT_EQ(next_of_left("the one in front"), IBV_WC_SUCCESS);
  EXPECT_GE(Clock::now() - start, kDelay);
}

// Posts writes of `value` to words 0 and 8 of `remote`: the second has arrived, the first has not.
void expect_overtaken(Faults& f, std::uint64_t value) {
  const std::uint64_t before = f.remote.word(0);
  f.local.set_word(0, value);
  f.local.set_word(8, value);
  f.left().sends.post(f.write(0));
  f.left().sends.post_and_ring(f.write(8));
  wait_until("the second write", [&] { return f.remote.word(8) == value; });
  EXPECT_EQ(f.remote.word(0), before);
  EXPECT_TRUE(Faults::is_empty(f.left().verbs_send_cq())) << "an acknowledgement covers all before";
}

TEST_F(Faults, WritesPassEachOtherAndNothingElsePasses) {
  connect();
  right().receives.post({{remote.at(256), 64, remote.lkey()}});
  right().receives.post({{remote.at(256), 64, remote.lkey()}});
  const Wqe behind[] = {
      Wqe(kFetchAdd)
          .remote(remote.at(0), remote.rkey())
          .u64(0)
          .u64(0)
          .data(local.at(64), 8, local.lkey()),
      Wqe(kRead).remote(remote.at(0), remote.rkey()).data(local.at(64), 8, local.lkey()),
      Wqe(kSend).data(local.at(128), 8, local.lkey()),
      Wqe(kWriteImm).remote(remote.at(16), remote.rkey()).data(local.at(0), 8, local.lkey()),
  };
  std::uint64_t value = 0;
  for (const Wqe& wqe : behind) {
    expect_overtaken(*this, ++value);
    left().sends.post_and_ring(wqe);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
    EXPECT_EQ(remote.word(0), value);
    if (value <= 2) EXPECT_EQ(local.word(64), value) << "what it fetched";
  }
}

TEST_F(Faults, PacketsOfAWritePassEachOther) {
  connect();
  constexpr std::uint32_t kBytes = 3 * 16 * 1024;
  local.fill(0, kBytes, 5);
  left().sends.post_and_ring(write(0, kBytes));
  wait_until("the last packet", [&] { return remote.word(kBytes - 8) != 0; });
  EXPECT_EQ(remote.word(0), 0u);
  left().sends.post_and_ring(
      Wqe(kRead).remote(remote.at(0), remote.rkey()).data(local.at(kBytes), 8, local.lkey()));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(0, std::memcmp(local.at(0), remote.at(0), kBytes));
}

TEST_F(Faults, RefusalComesBehindTheDataBeforeIt) {
  connect();
  expect_overtaken(*this, 7);
  left().sends.post_and_ring(
      Wqe(kWrite).remote(remote.at(0), remote.rkey() ^ 1).data(local.at(0), 8, local.lkey()));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(next_of_left(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(remote.word(0), 7u);
}

TEST_F(Faults, ResetForgetsWhatIsNotPlaced) {
  connect();
  expect_overtaken(*this, 7);
  for (Endpoint* endpoint : {&left(), &right()}) check_zero(endpoint->to_reset(), "to RESET");
  right().connect(left().qpn());
  left().connect(right().qpn());
  left().sends.post_and_ring(
      Wqe(kRead).remote(remote.at(0), remote.rkey()).data(local.at(64), 8, local.lkey()));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(remote.word(0), 0u) << "it was never acknowledged";
}

TEST_F(Faults, DataOfARegionThatIsGoneIsRefused) {
  connect();
  auto other = std::make_unique<Memory>(4096);
  left().sends.post_and_ring(
      Wqe(kWrite).remote(other->at(0), other->rkey()).data(local.at(0), 8, local.lkey()));
  local.set_word(8, 1);
  left().sends.post_and_ring(write(8));
  wait_until("the second write", [&] { return remote.word(8) == 1; });
  other.reset();
  left().sends.post_and_ring(
      Wqe(kRead).remote(remote.at(0), remote.rkey()).data(local.at(64), 8, local.lkey()));
  EXPECT_EQ(next_of_left(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
}

TEST_F(Faults, QueuePairTellsThatItReorders) {
  connect();
  EXPECT_EQ(ibv_query_qp_data_in_order(left().verbs_qp(), IBV_WR_RDMA_WRITE, 0), 1);
  EXPECT_EQ(ibv_query_qp_data_in_order(right().verbs_qp(), IBV_WR_RDMA_WRITE, 0), 0);
}

TEST_F(Faults, WritesThatNothingFollowsArrive) {
  connect();
  for (std::uint64_t value = 1; value <= 100; ++value) {
    local.set_word(0, value);
    left().sends.post_and_ring(write(0));
    EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
    EXPECT_EQ(remote.word(0), value);
  }
}

// `wqe` moves kTorn bytes from the start of `from` to the start of `to`: one half, then the other.
constexpr std::uint32_t kTorn = 4096;
void expect_torn(Faults& f, const Wqe& wqe, const Memory& from, const Memory& to) {
  from.fill(0, kTorn, 3);
  const auto start = Clock::now();
  f.left().sends.post_and_ring(wqe);
  wait_until("the first half", [&] { return to.word(0) != 0; });
  const bool second_half_is_there = to.word(kTorn - 8) != 0;
  if (Clock::now() - start < std::chrono::seconds(2)) EXPECT_FALSE(second_half_is_there);
  EXPECT_EQ(f.next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(0, std::memcmp(from.at(0), to.at(0), kTorn));
}

TEST_F(Faults, TornWriteIsWholeInTheEnd) {
  connect();
  expect_torn(*this, write(0, kTorn), local, remote);
}

TEST_F(Faults, TornReadIsWholeInTheEnd) {
  connect();
  const Wqe read =
      Wqe(kRead).remote(remote.at(0), remote.rkey()).data(local.at(0), kTorn, local.lkey());
  expect_torn(*this, read, remote, local);
}

TEST_F(Faults, TornSendIsWholeInTheEnd) {
  connect();
  right().receives.post({{remote.at(0), kTorn, remote.lkey()}});
  expect_torn(*this, Wqe(kSend).data(local.at(0), kTorn, local.lkey()), local, remote);
}

TEST_F(Faults, SendSurvivesAReceiverThatIsNotReady) {
  connect();
  local.fill(0, 64, 5);
  right().receives.post({{remote.at(0), 64, remote.lkey()}});
  left().sends.post_and_ring(Wqe(kSend).data(local.at(0), 64, local.lkey()));
  EXPECT_EQ(next_of_left(), IBV_WC_SUCCESS);
  EXPECT_EQ(right().received.next().byte_count(), 64u);
  EXPECT_EQ(0, std::memcmp(local.at(0), remote.at(0), 64));
}

TEST_F(Faults, ReceiverThatIsNeverReadyEndsTheSend) {
  Options options;
  options.rnr_retry = 2;
  connect(options);
  right().receives.post({{remote.at(0), 64, remote.lkey()}});
  left().sends.post(Wqe(kSend).data(local.at(0), 64, local.lkey()));
  left().sends.post_and_ring(write(0));
  EXPECT_EQ(next_of_left(), IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
}

// A living neighbour gets ten seconds more than the queue pair's own timeout, and no more.
TEST_F(Faults, StalledPeerEndsInATimeout) {
  Options options;
  options.timeout = 8;
  options.retry_count = 1;
  connect(options);
  local.set_word(0, 1);
  left().sends.post(write(0));
  left().sends.post_and_ring(write(8));
  EXPECT_EQ(next_of_left("a timeout"), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(next_of_left(), IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(remote.word(0), 0u);
}

// ATOMIC_HCA: a processor's add between the NIC's load and its store is lost.
TEST_F(Faults, SlowAtomicLosesWhatTheProcessorAdds) {
  connect();
  std::atomic_ref word(*remote.as<std::uint64_t>(0));
  const auto end = Clock::now() + kDeadline;
  for (bool has_lost = false; !has_lost;) {
    ASSERT_LT(Clock::now(), end);
    const std::uint64_t start = word.load();
    left().sends.post_and_ring(Wqe(kFetchAdd)
                                   .remote(remote.at(0), remote.rkey())
                                   .u64(1)
                                   .u64(0)
                                   .data(local.at(0), 8, local.lkey()));
    std::uint64_t added = 1;
    for (; is_empty(left().verbs_send_cq()); ++added) word.fetch_add(1);
    has_lost = word.load() != start + added;
  }
}

TEST_F(Faults, VanishedDeviceSaysSo) {
  testing::internal::CaptureStderr();
  ibv_context* context = Hca::instance().context();
  pollfd waiting{context->async_fd, POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 40'000), 1) << "no event";
  ibv_async_event event{};
  check_zero(ibv_get_async_event(context, &event), "ibv_get_async_event");
  EXPECT_EQ(event.event_type, IBV_EVENT_DEVICE_FATAL);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "softnic: fault: vanish: the NIC is gone, 2000000 us after its start\n"),
            std::string::npos);
  ibv_ack_async_event(&event);

  // Also for a program that opens it afterwards.
  ibv_context* const later = ibv_open_device(context->device);
  ASSERT_NE(later, nullptr);
  waiting.fd = later->async_fd;
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1) << "no event for a later program";
  check_zero(ibv_get_async_event(later, &event), "ibv_get_async_event");
  EXPECT_EQ(event.event_type, IBV_EVENT_DEVICE_FATAL);
  ibv_ack_async_event(&event);
  ibv_close_device(later);
}

}  // namespace
}  // namespace direct
