// Each error of a request: its syndrome, the status of rdma-core's ibv_poll_cq, the flushed
// requests behind it and their order, the states of both queue pairs, and the other side's event.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/mman.h>

#include <chrono>
#include <functional>

#include "devx_endpoint.hpp"
#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

struct Cause;

// Two registered pages. lose() unmaps the second one, while both stay registered with the NIC.
struct Lost {
  static constexpr std::size_t kPage = 4096;
  std::uint8_t* const pages = static_cast<std::uint8_t*>(
      ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ibv_mr* const region =
      check(ibv_reg_mr(Hca::instance().pd(), pages, 2 * kPage, kAllAccess), "ibv_reg_mr");
  ~Lost() {
    ibv_dereg_mr(region);
    ::munmap(pages, kPage);
  }
  std::uint8_t* unmapped() const { return pages + kPage; }
  void lose() const { ::munmap(unmapped(), kPage); }
};

struct Scene {
  Scene(const Route& route, const Cause& cause);
  Pair pair;
  Memory local{1 << 20}, remote{1 << 20};
  Memory unwritable{4096, IBV_ACCESS_LOCAL_WRITE};  // no rights for the other side
  ibv_pd* elsewhere = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
  std::unique_ptr<Memory> stranger = std::make_unique<Memory>(4096, kAllAccess, elsewhere);
  Lost lost;
  Endpoint& left = *pair.left;
  Endpoint& right = *pair.right;
  ~Scene() {
    stranger.reset();
    ibv_dealloc_pd(elsewhere);
  }
};

// A request that fails. `peer_syndrome` is that of the other side's receive completion, if any.
struct Cause {
  const char* name;
  std::uint8_t syndrome;
  ibv_wc_status status;
  unsigned peer_state;
  int peer_event;  // an ibv_event_type, or -1
  std::function<Wqe(Scene&)> wqe;
  std::function<void(Scene&)> prepare = [](Scene&) {};
  std::uint8_t peer_syndrome = 0;
  Options left = {}, right = {};
};

Options with(std::function<void(Options&)> change) {
  Options options;
  change(options);
  return options;
}

Wqe write_to(const void* address, std::uint32_t rkey, Scene& s, std::uint32_t bytes = 64) {
  return Wqe(kWrite).remote(address, rkey).data(s.local.at(0), bytes, s.local.lkey());
}
Wqe fetch_add(const void* address, Scene& s, std::uint32_t result_bytes = 8) {
  return Wqe(kFetchAdd)
      .remote(address, s.remote.rkey())
      .u64(1)
      .u64(0)
      .data(s.local.at(0), result_bytes, s.local.lkey());
}

constexpr unsigned kRts = IBV_QPS_RTS, kErr = IBV_QPS_ERR;
constexpr int kNoEvent = -1;

const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = {
      {"LocalLengthOfAtomicResult", 0x01, IBV_WC_LOC_LEN_ERR, kRts, kNoEvent,
       [](Scene& s) { return fetch_add(s.remote.at(0), s, 4); }},
      {"LocalOperationUnknownOpcode", 0x02, IBV_WC_LOC_QP_OP_ERR, kRts, kNoEvent,
       [](Scene&) { return Wqe(0x3f); }},
      {"LocalProtectionUnknownKey", 0x04, IBV_WC_LOC_PROT_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kWrite).remote(s.remote.at(0), s.remote.rkey()).data(s.local.at(0), 8, 0x7700);
       }},
      {"LocalProtectionBounds", 0x04, IBV_WC_LOC_PROT_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kWrite)
             .remote(s.remote.at(0), s.remote.rkey())
             .data(s.local.at(s.local.bytes() - 4), 8, s.local.lkey());
       }},
      {"LocalProtectionOtherDomain", 0x04, IBV_WC_LOC_PROT_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kWrite)
             .remote(s.remote.at(0), s.remote.rkey())
             .data(s.stranger->at(0), 8, s.stranger->lkey());
       }},
      {"LocalProtectionUnmapped", 0x04, IBV_WC_LOC_PROT_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kWrite)
             .remote(s.remote.at(0), s.remote.rkey())
             .data(s.lost.unmapped(), 8, s.lost.region->lkey);
       },
       [](Scene& s) { s.lost.lose(); }},
      {"LocalProtectionReadIntoUnmapped", 0x04, IBV_WC_LOC_PROT_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kRead)
             .remote(s.remote.at(0), s.remote.rkey())
             .data(s.lost.unmapped() - 4, 8, s.lost.region->lkey);
       },
       [](Scene& s) { s.lost.lose(); }},
      {"RemoteInvalidMisalignedAtomic", 0x12, IBV_WC_REM_INV_REQ_ERR, kErr, IBV_EVENT_QP_REQ_ERR,
       [](Scene& s) { return fetch_add(s.remote.at(4), s); }},
      {"RemoteInvalidSendTooLong", 0x12, IBV_WC_REM_INV_REQ_ERR, kErr, kNoEvent,
       [](Scene& s) { return Wqe(kSend).data(s.local.at(0), 100, s.local.lkey()); },
       [](Scene& s) {
         s.right.receives.post({{s.remote.at(0), 99, s.remote.lkey()}});
       },
       0x01},
      {"RemoteAccessUnknownKey", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.remote.at(0), 0x7700, s); }},
      {"RemoteAccessBounds", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.remote.at(s.remote.bytes() - 63), s.remote.rkey(), s); }},
      {"RemoteAccessBoundsOfALongWrite", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.remote.at(8), s.remote.rkey(), s, 1 << 20); }},
      {"RemoteAccessOtherDomain", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.stranger->at(0), s.stranger->rkey(), s); }},
      {"RemoteAccessUnmapped", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.lost.unmapped(), s.lost.region->rkey, s); },
       [](Scene& s) { s.lost.lose(); }},
      {"RemoteAccessReadOfUnmapped", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) {
         return Wqe(kRead)
             .remote(s.lost.unmapped() - 64, s.lost.region->rkey)
             .data(s.local.at(0), 128, s.local.lkey());
       },
       [](Scene& s) { s.lost.lose(); }},
      {"RemoteAccessRegionGrantsNoWrite", 0x13, IBV_WC_REM_ACCESS_ERR, kErr,
       IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return write_to(s.unwritable.at(0), s.unwritable.rkey(), s); }},
      {"RemoteAccessRegionGrantsNoRead", 0x13, IBV_WC_REM_ACCESS_ERR, kErr, IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) {
         return Wqe(kRead)
             .remote(s.unwritable.at(0), s.unwritable.rkey())
             .data(s.local.at(0), 8, s.local.lkey());
       }},
      {"RemoteAccessQueuePairGrantsNoAtomic",
       0x13,
       IBV_WC_REM_ACCESS_ERR,
       kErr,
       IBV_EVENT_QP_ACCESS_ERR,
       [](Scene& s) { return fetch_add(s.remote.at(0), s); },
       [](Scene&) {},
       0,
       {},
       with([](Options& o) {
         o.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
       })},
      {"RemoteOperationReceiveUnmapped", 0x14, IBV_WC_REM_OP_ERR, kErr, kNoEvent,
       [](Scene& s) { return Wqe(kSend).data(s.local.at(0), 100, s.local.lkey()); },
       [](Scene& s) {
         s.lost.lose();
         s.right.receives.post({{s.lost.unmapped(), 100, s.lost.region->lkey}});
       },
       0x04},
      {"RemoteOperationReceiveKeyUnknown", 0x14, IBV_WC_REM_OP_ERR, kErr, kNoEvent,
       [](Scene& s) { return Wqe(kSend).data(s.local.at(0), 100, s.local.lkey()); },
       [](Scene& s) {
         s.right.receives.post({{s.remote.at(0), 100, 0x7700}});
       },
       0x04},
      {"TransportRetryNobodyThere", 0x15, IBV_WC_RETRY_EXC_ERR, IBV_QPS_RESET, kNoEvent,
       [](Scene& s) { return write_to(s.remote.at(0), s.remote.rkey(), s); },
       [](Scene& s) { check_zero(s.right.to_reset(), "reset"); }, 0,
       with([](Options& o) { o.timeout = 8, o.retry_count = 1; })},
      {"RnrRetryNoReceive", 0x16, IBV_WC_RNR_RETRY_EXC_ERR, kRts, kNoEvent,
       [](Scene& s) { return Wqe(kSend).data(s.local.at(0), 8, s.local.lkey()); }, [](Scene&) {}, 0,
       with([](Options& o) { o.rnr_retry = 2; })},
      {"RnrRetryNoReceiveForTheImmediate", 0x16, IBV_WC_RNR_RETRY_EXC_ERR, kRts, kNoEvent,
       [](Scene& s) {
         return Wqe(kWriteImm)
             .remote(s.remote.at(0), s.remote.rkey())
             .data(s.local.at(0), 8, s.local.lkey());
       },
       [](Scene&) {}, 0, with([](Options& o) { o.rnr_retry = 0; })},
  };
  return all;
}

Scene::Scene(const Route& route, const Cause& cause) : pair(route, cause.left, cause.right) {}

using Param = std::tuple<Route, std::size_t>;

class Errors : public testing::TestWithParam<Param> {
 protected:
  const Cause& cause = causes()[std::get<1>(GetParam())];
  Scene scene{std::get<0>(GetParam()), cause};
  Endpoint& left = scene.left;
  Endpoint& right = scene.right;

  // Posts the request that fails, with good ones before and behind it, by one doorbell.
  std::uint16_t first = 0, failing = 0;
  void post_all() {
    cause.prepare(scene);
    first = left.sends.post(Wqe(kNop));
    failing = left.sends.post(cause.wqe(scene));
    left.sends.post(Wqe(kNop));
    left.sends.post(
        write_to(scene.remote.at(4096), scene.remote.rkey(), scene).signalled(Ce::kOnError));
    left.sends.post(fetch_add(scene.remote.at(8192), scene));
    left.sends.ring_doorbell();
  }
};

// The same for a program that polls by rdma-core, which is possible for verbs queues only.
class ErrorsInRdmaCore : public Errors {};

std::string name_of_param(const testing::TestParamInfo<Param>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + causes()[std::get<1>(info.param)].name;
}
INSTANTIATE_TEST_SUITE_P(Route, ErrorsInRdmaCore,
                         testing::Combine(testing::Values(kVerbs, kVerbs128),
                                          testing::Range<std::size_t>(0, causes().size())),
                         name_of_param);
INSTANTIATE_TEST_SUITE_P(Route, Errors,
                         testing::Combine(testing::Values(kVerbs, kDevx),
                                          testing::Range<std::size_t>(0, causes().size())),
                         name_of_param);

// An event of this process's device, or -1 when there is none.
int next_async_event(Endpoint& of) {
  ibv_context* context = Hca::instance().context();
  pollfd waiting{context->async_fd, POLLIN, 0};
  if (::poll(&waiting, 1, 0) == 0) return kNoEvent;
  ibv_async_event event{};
  check_zero(ibv_get_async_event(context, &event), "ibv_get_async_event");
  EXPECT_EQ(event.element.qp, of.verbs_qp());
  ibv_ack_async_event(&event);
  return event.event_type;
}

TEST_P(Errors, FirstFailureIsNamedTheRestIsFlushedInOrder) {
  scene.local.fill(0, 4096, 1);
  post_all();
  EXPECT_EQ(left.sent.next().counter(), first);
  const Cqe failed = left.sent.next();
  EXPECT_EQ(failed.opcode(), 0xd);
  EXPECT_EQ(failed.counter(), failing);
  EXPECT_EQ(unsigned{failed.syndrome()}, unsigned{cause.syndrome});
  EXPECT_EQ(failed.qpn(), left.qpn());
  for (int i = 0; i < 3; ++i) {
    const Cqe flushed = left.sent.next();
    EXPECT_EQ(flushed.opcode(), 0xd);
    EXPECT_EQ(unsigned{flushed.syndrome()}, 0x05u);
    EXPECT_GT(flushed.counter(), failing + i);
  }
  EXPECT_EQ(left.state(), kErr);
  const std::uint16_t late = left.sends.post_and_ring(Wqe(kNop).signalled(Ce::kOnError));
  const Cqe flushed_late = left.sent.next();
  EXPECT_EQ(flushed_late.counter(), late);
  EXPECT_EQ(unsigned{flushed_late.syndrome()}, 0x05u);
  EXPECT_EQ(scene.remote.word(4096), 0u);  // nothing behind the failure was executed
  EXPECT_EQ(scene.remote.word(8192), 0u);
}

TEST_P(Errors, OtherSideEndsInTheRightStateWithTheRightNews) {
  const std::uint16_t spare = [&] {
    cause.prepare(scene);
    return cause.peer_syndrome ? right.receives.post({}) : std::uint16_t{0};
  }();
  left.sends.post_and_ring(cause.wqe(scene));
  EXPECT_EQ(unsigned{left.sent.next().syndrome()}, unsigned{cause.syndrome});
  if (cause.peer_syndrome) {
    const Cqe failed = right.received.next();
    EXPECT_EQ(failed.opcode(), 0xe);
    EXPECT_EQ(unsigned{failed.syndrome()}, unsigned{cause.peer_syndrome});
    const Cqe flushed = right.received.next();
    EXPECT_EQ(unsigned{flushed.syndrome()}, 0x05u);
    EXPECT_EQ(flushed.counter(), spare);
  }
  EXPECT_EQ(right.state(), cause.peer_state);
  const bool has_verbs_events = right.verbs_qp();
  EXPECT_EQ(next_async_event(right), has_verbs_events ? cause.peer_event : kNoEvent);
  EXPECT_EQ(next_async_event(right), kNoEvent);
}

TEST_P(ErrorsInRdmaCore, StatusIsNamedAndTheRestIsFlushed) {
  ibv_cq* cq = left.verbs_send_cq();
  post_all();
  const auto next = [&] {
    ibv_wc wc{};
    int got = 0;
    wait_until("a completion", [&] { return (got = ibv_poll_cq(cq, 1, &wc)) != 0; });
    EXPECT_EQ(got, 1);
    return wc;
  };
  EXPECT_EQ(next().status, IBV_WC_SUCCESS);
  EXPECT_EQ(next().status, cause.status);
  for (int i = 0; i < 3; ++i) {
    const ibv_wc wc = next();
    EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(wc.qp_num, left.qpn());
  }
  while (next_async_event(right) != kNoEvent) {
  }
}

// ---- Errors that no single request causes

class ErrorState : public Connected {};
CHIME_OVER_BOTH_ROUTES(ErrorState);

TEST_P(ErrorState, ModifyToErrorFlushesBothQueues) {
  std::vector<std::uint16_t> receives, sends;
  for (int i = 0; i < 5; ++i) receives.push_back(left.receives.post({}));
  for (int i = 0; i < 4; ++i)
    sends.push_back(left.sends.post_and_ring(Wqe(kSend)));  // the other side has no receive
  ASSERT_EQ(left.to_error(), 0);
  for (const std::uint16_t index : sends) {
    const Cqe cqe = left.sent.next();
    EXPECT_EQ(unsigned{cqe.syndrome()}, 0x05u);
    EXPECT_EQ(cqe.counter(), index);
  }
  for (const std::uint16_t index : receives) {
    const Cqe cqe = left.received.next();
    EXPECT_EQ(cqe.opcode(), 0xe);
    EXPECT_EQ(unsigned{cqe.syndrome()}, 0x05u);
    EXPECT_EQ(cqe.counter(), index);
  }
}

TEST_P(ErrorState, ReceivePostedInErrorIsFlushed) {
  ASSERT_EQ(left.to_error(), 0);
  const std::uint16_t index = left.receives.post({});
  const Cqe cqe = left.received.next();
  EXPECT_EQ(unsigned{cqe.syndrome()}, 0x05u);
  EXPECT_EQ(cqe.counter(), index);
}

// CE 1: a CQE for the queue's first error, and for no later one.
TEST_P(ErrorState, OnlyTheFirstErrorIsToldInModeOne) {
  const auto bad = [&] {
    return Wqe(kWrite)
        .remote(remote.at(0), 0x7700)
        .data(local.at(0), 8, local.lkey())
        .signalled(Ce::kOnFirstError);
  };
  const std::uint16_t first = left.sends.post(bad());
  left.sends.post(bad());
  left.sends.post(Wqe(kNop).signalled(Ce::kOnFirstError));
  const std::uint16_t late = left.sends.post(Wqe(kNop).signalled(Ce::kOnError));
  left.sends.ring_doorbell();
  EXPECT_EQ(left.sent.next().counter(), first);
  EXPECT_EQ(left.sent.next().counter(), late);
  EXPECT_FALSE(left.sent.poll().has_value());
  while (next_async_event(right) != kNoEvent) {
  }
}

// If a message finds no receive in time, the requests behind it must not arrive either.
TEST_P(ErrorState, NothingIsExecutedBehindAnRnrFailure) {
  Options impatient;
  impatient.rnr_retry = 1;
  Pair one(route(), impatient, Options{});
  one.left->sends.post(Wqe(kSend).inlined(local.at(0), 8));
  local.set_word(0, 99);
  one.left->sends.post_and_ring(write(64, 0, 8));
  EXPECT_EQ(unsigned{one.left->sent.next().syndrome()}, 0x16u);
  EXPECT_EQ(unsigned{one.left->sent.next().syndrome()}, 0x05u);
  one.right->receives.post({{remote.at(0), 8, remote.lkey()}});
  complete(left, write(128, 0, 8));  // meanwhile the NIC could have gone on
  EXPECT_EQ(remote.word(64), 0u);
  EXPECT_FALSE(one.right->received.poll().has_value());
}

// The sender tries again `rnr_retry` times, and waits in between for the receiver's time.
TEST_P(ErrorState, RnrFailuresComeAfterTheReceiversTime) {
  const auto time_of = [&](unsigned rnr_retry, unsigned timer) {
    Options sender, receiver;
    sender.rnr_retry = rnr_retry;
    receiver.min_rnr_timer = timer;
    Pair one(route(), sender, receiver);
    const auto start = std::chrono::steady_clock::now();
    one.left->sends.post_and_ring(Wqe(kSend).inlined(local.at(0), 8));
    EXPECT_EQ(unsigned{one.left->sent.next().syndrome()}, 0x16u);
    return std::chrono::steady_clock::now() - start;
  };
  constexpr unsigned k122Ms = 27;  // the timer's code
  EXPECT_GE(time_of(1, k122Ms), std::chrono::milliseconds(122));
  EXPECT_GE(time_of(3, k122Ms), std::chrono::milliseconds(3 * 122));
}

// The part of a region that is still mapped stays usable.
TEST_P(ErrorState, MappedHalfOfARegionServesOn) {
  const Lost lost;
  lost.lose();
  local.set_word(0, 77);
  complete(left, Wqe(kWrite)
                     .remote(lost.unmapped() - 8, lost.region->rkey)
                     .data(local.at(0), 8, local.lkey()));
  EXPECT_EQ(std::atomic_ref(*reinterpret_cast<std::uint64_t*>(lost.unmapped() - 8))
                .load(std::memory_order_acquire),
            77u);
}

// A collapsed completion queue has one entry: the flush overwrites the first cause.
TEST(CollapsedErrors, FlushHidesTheFirstSyndrome) {
  Memory memory(4096);
  Pair pair(kDevxCollapsed);
  pair.left->sends.post(
      Wqe(kWrite).remote(memory.at(0), 0x7700).data(memory.at(0), 8, memory.lkey()));
  const std::uint16_t last = pair.left->sends.post(Wqe(kNop));
  pair.left->sends.ring_doorbell();
  Cqe cqe;
  do cqe = pair.left->sent.next();
  while (cqe.counter() != last);
  EXPECT_EQ(unsigned{cqe.syndrome()}, 0x05u);
}

// No port of the fabric has this address: requests are lost, and the retries end.
TEST(WrongAddress, EndsInTransportRetry) {
  Options options;
  options.timeout = 13;
  options.retry_count = 3;
  Memory memory(4096);
  Pair pair(kVerbs);
  auto lost = make_endpoint(kVerbs, options);
  check_zero(lost->to_init(), "init");
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = IBV_MTU_4096;
  a.dest_qp_num = pair.right->qpn();
  a.max_dest_rd_atomic = 1;
  a.ah_attr = Hca::instance().path();
  a.ah_attr.dlid = 1234;
  a.ah_attr.grh.dgid.raw[15] ^= 7;
  check_zero(ibv_modify_qp(lost->verbs_qp(), &a,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                               IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
             "rtr");
  check_zero(lost->to_rts(), "rts");
  const auto start = std::chrono::steady_clock::now();
  lost->sends.post_and_ring(
      Wqe(kWrite).remote(memory.at(0), memory.rkey()).data(memory.at(64), 8, memory.lkey()));
  EXPECT_EQ(unsigned{lost->sent.next().syndrome()}, 0x15u);
  // A timer of 4.096 us * 2^timeout for each of its tries.
  const auto timer = std::chrono::nanoseconds(4096ull << options.timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, timer * (options.retry_count + 1));
}

// A RoCE queue pair whose primary path has no MAC address.
TEST(WrongAddress, WithoutTheMacAddressNothingArrives) {
  if (!Hca::instance().is_ethernet()) return;  // InfiniBand has none
  Options options;
  options.timeout = 8;
  options.retry_count = 1;
  Memory memory(4096);
  Pair pair(kDevx);
  DevxEndpoint lost(kDevx, options);
  check_zero(lost.to_init(), "init");
  Command in = lost.command(cmd::kInit2Rtr)
                   .set(qpf::kMtu, 5, qpf::kContext)
                   .set(qpf::kRemoteQpn, pair.right->qpn(), qpf::kContext)
                   .set(qpf::kSrcAddrIndex, Hca::instance().gid_index(), qpf::kContext);
  std::memcpy(&in.bytes[qpf::kContext + qpf::kRgid], Hca::instance().gid().raw, 16);
  check_zero(lost.modify(in), "rtr");
  check_zero(lost.to_rts(), "rts");
  lost.sends.post_and_ring(
      Wqe(kWrite).remote(memory.at(0), memory.rkey()).data(memory.at(64), 8, memory.lkey()));
  EXPECT_EQ(unsigned{lost.sent.next().syndrome()}, 0x15u);
}

// A queue pair that grants reads, but has room for no read, grants none.
TEST(RoomForReads, IsNeededToGrantThem) {
  Options none;
  none.max_dest_reads = 0;
  Pair pair(kVerbs, Options{}, none);
  Memory memory(4096);
  const Wqe write =
      Wqe(kWrite).remote(memory.at(0), memory.rkey()).data(memory.at(64), 8, memory.lkey());
  const Wqe read =
      Wqe(kRead).remote(memory.at(0), memory.rkey()).data(memory.at(64), 8, memory.lkey());
  EXPECT_FALSE(pair.left->sent.retired(pair.left->sends.post_and_ring(write)).failed());
  const Cqe cqe = pair.left->sent.retired(pair.left->sends.post_and_ring(read));
  EXPECT_EQ(unsigned{cqe.syndrome()}, 0x13u);
  EXPECT_EQ(next_async_event(*pair.right), IBV_EVENT_QP_ACCESS_ERR);
}

// Two ends with different settings for their connection.
class Disagreement : public testing::Test {
 protected:
  static Options impatient() {
    Options options;
    options.timeout = 8;
    options.retry_count = 1;
    return options;
  }
  Cqe write(Pair& pair, std::uint32_t bytes) { return run(pair, Wqe(kWrite), bytes); }
  Cqe run(Pair& pair, Wqe wqe, std::uint32_t bytes) {
    wqe.remote(memory.at(0), memory.rkey()).data(memory.at(8192), bytes, memory.lkey());
    return pair.left->sent.retired(pair.left->sends.post_and_ring(wqe));
  }
  Memory memory{16384};
};

TEST_F(Disagreement, OnPacketNumbersIsNeverHeard) {
  Options left = impatient(), right;
  left.sq_psn = right.rq_psn = 0x123456;
  Pair agreeing(kVerbs, left, right);
  EXPECT_FALSE(write(agreeing, 8).failed());
  right.rq_psn = 0x123457;
  Pair pair(kVerbs, left, right);
  testing::internal::CaptureStderr();
  EXPECT_EQ(unsigned{write(pair, 8).syndrome()}, 0x15u);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_THAT(report, testing::HasSubstr("softnic: strict: psn: "));
  EXPECT_THAT(report, testing::Not(testing::HasSubstr("itself")));
}

// This happens to two programs that exchange numbers but are on two fabrics: both queue pairs have
// the same number, so each is connected to itself.
TEST_F(Disagreement, OfAQueuePairWithItselfIsNamed) {
  Options options = impatient();
  options.sq_psn = 1, options.rq_psn = 2;
  const auto lonely = make_endpoint(kVerbs, options);
  lonely->connect(lonely->qpn());
  testing::internal::CaptureStderr();
  const Wqe wqe =
      Wqe(kWrite).remote(memory.at(0), memory.rkey()).data(memory.at(8192), 8, memory.lkey());
  EXPECT_EQ(unsigned{lonely->sent.retired(lonely->sends.post_and_ring(wqe)).syndrome()}, 0x15u);
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_THAT(report, testing::HasSubstr("softnic: strict: psn: queue pair"));
  EXPECT_THAT(report, testing::HasSubstr("it is connected to itself"));
  EXPECT_THAT(report, testing::HasSubstr("SOFTNIC_FABRIC"));
}

TEST_F(Disagreement, OnThePathMtuIsARemoteInvalidRequest) {
  Options small;
  small.path_mtu = IBV_MTU_256;
  Pair pair(kVerbs, Options{}, small);
  EXPECT_FALSE(write(pair, 256).failed());
  testing::internal::CaptureStderr();
  EXPECT_EQ(unsigned{write(pair, 257).syndrome()}, 0x12u);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("softnic: strict: path-mtu: "));
  EXPECT_EQ(next_async_event(*pair.right), IBV_EVENT_QP_REQ_ERR);
}

TEST_F(Disagreement, OnRoomForReadsIsReported) {
  Options one;
  one.max_dest_reads = 1;
  Pair pair(kVerbs, Options{}, one);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(write(pair, 8).failed());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(run(pair, Wqe(kRead), 8).failed());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("softnic: strict: reads-beyond-responder: "));
}

class Datagrams : public testing::TestWithParam<Route> {};
CHIME_OVER_BOTH_ROUTES(Datagrams);

TEST_P(Datagrams, LongerThanAPacketAreALocalLengthError) {
  Options options;
  options.service = Service::kUd;
  Pair ud(GetParam(), options);
  Memory memory(8192);
  const auto send = [&](std::uint32_t bytes) {
    return ud.left->sent.retired(ud.left->sends.post_and_ring(
        Wqe(kSend)
            .vector(Hca::instance().address_vector(), options.qkey, ud.right->qpn())
            .data(memory.at(0), bytes, memory.lkey())));
  };
  EXPECT_FALSE(send(4096).failed());
  EXPECT_EQ(unsigned{send(4097).syndrome()}, 0x01u);
}

}  // namespace
}  // namespace direct
