// The properties of a device and a queue pair that programs read through libibverbs.

#include <gmock/gmock.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "devx_endpoint.hpp"
#include "hca.hpp"
#include "routes.hpp"
#include "wait.hpp"

namespace direct {
namespace {

ibv_context* context() { return Hca::instance().context(); }
unsigned gids_in_use() { return Hca::instance().is_ethernet() ? 4 : 1; }

ibv_gid_type type_of(unsigned index) {
  if (!Hca::instance().is_ethernet()) return IBV_GID_TYPE_IB;
  return index % 2 == 1 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
}

void expect_entry(const ibv_gid_entry& entry, unsigned index) {
  ibv_gid gid;
  check_zero(ibv_query_gid(context(), 1, static_cast<int>(index), &gid), "ibv_query_gid");
  EXPECT_EQ(std::memcmp(&entry.gid, &gid, sizeof gid), 0) << "GID " << index;
  EXPECT_EQ(entry.gid_index, index);
  EXPECT_EQ(entry.port_num, 1u);
  EXPECT_EQ(entry.gid_type, static_cast<std::uint32_t>(type_of(index)));
  EXPECT_EQ(entry.ndev_ifindex, Hca::instance().is_ethernet() ? if_nametoindex("lo") : 0u);
}

TEST(Queries, GidTableHasTheEntriesInUse) {
  std::array<ibv_gid_entry, 8> entries;
  ASSERT_EQ(ibv_query_gid_table(context(), entries.data(), entries.size(), 0), gids_in_use());
  for (unsigned i = 0; i < gids_in_use(); ++i) expect_entry(entries[i], i);
}

TEST(Queries, GidTableNeedsRoomForAllOfIt) {
  std::array<ibv_gid_entry, 8> entries;
  EXPECT_EQ(ibv_query_gid_table(context(), entries.data(), gids_in_use() - 1, 0), -EINVAL);
  EXPECT_EQ(ibv_query_gid_table(context(), entries.data(), gids_in_use(), 1), -EINVAL);
}

TEST(Queries, GidEntriesAreThoseOfTheTable) {
  ibv_gid_entry entry;
  for (unsigned i = 0; i < gids_in_use(); ++i) {
    ASSERT_EQ(ibv_query_gid_ex(context(), 1, i, &entry, 0), 0);
    expect_entry(entry, i);
  }
  EXPECT_EQ(ibv_query_gid_ex(context(), 1, gids_in_use(), &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(context(), 1, 100'000, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context(), 2, 0, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(context(), 1, 0, &entry, 1), EINVAL);
}

TEST(Queries, QueuePairTellsItsReceiveQueueAndItsWishes) {
  ibv_cq* cq = check(ibv_create_cq(context(), 16, nullptr, nullptr, 0), "ibv_create_cq");
  for (const bool receives : {true, false}) {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq;
    wanted.qp_type = IBV_QPT_RC;
    wanted.sq_sig_all = receives;
    wanted.cap = {4, receives ? 10u : 0u, 1, receives ? 3u : 0u, 0};
    ibv_qp* qp = check(ibv_create_qp(Hca::instance().pd(), &wanted), "ibv_create_qp");
    ibv_qp_attr attributes{};
    ibv_qp_init_attr made{};
    EXPECT_EQ(ibv_query_qp(qp, &attributes, IBV_QP_CAP | IBV_QP_STATE, &made), 0);
    EXPECT_EQ(made.cap.max_recv_wr, receives ? 16u : 0u);  // a power of two
    EXPECT_EQ(made.cap.max_recv_sge, receives ? 4u : 0u);  // 64 bytes of segments
    EXPECT_EQ(made.sq_sig_all, receives);
    EXPECT_GE(made.cap.max_send_wr, 4u);
    EXPECT_EQ(attributes.qp_state, IBV_QPS_RESET);
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
  }
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

// The NIC reorders nothing in this process; softnic.faults.reorder.is_told tests one that does.
TEST(Queries, ConnectedQueuePairTellsThatDataComesInOrder) {
  const auto endpoint = make_verbs_endpoint(kVerbs, {});
  EXPECT_EQ(ibv_query_qp_data_in_order(endpoint->verbs_qp(), IBV_WR_RDMA_WRITE, 0), 0)
      << "not known before it is connected";
  endpoint->connect(endpoint->qpn());
  EXPECT_EQ(ibv_query_qp_data_in_order(endpoint->verbs_qp(), IBV_WR_RDMA_WRITE, 0), 1);
}

TEST(Queries, FirmwareTellsThatDataComesInOrder) {
  DevxEndpoint endpoint(kDevx, {});
  endpoint.connect(endpoint.qpn());
  const Command in = endpoint.command(cmd::kQueryQp);
  Mailbox<512> out;
  check_zero(mlx5dv_devx_obj_query(endpoint.object(), in.bytes.data(), 16, out.bytes.data(),
                                   out.bytes.size()),
             "QUERY_QP");
  EXPECT_EQ(out.get(qpf::kDataInOrder, qpf::kContext), 1u);
}

std::uint64_t time_of_day() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The timestamp of a flushed request: its queue pair is in the error state, so it needs no peer.
std::uint64_t timestamp_of_a_completion() {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = 16;
  wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  ibv_cq_ex* const cq = check(ibv_create_cq_ex(context(), &wanted), "ibv_create_cq_ex");
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(cq);
  init.qp_type = IBV_QPT_RC;
  init.cap = {4, 4, 1, 1, 0};
  ibv_qp* const qp = check(ibv_create_qp(Hca::instance().pd(), &init), "ibv_create_qp");
  ibv_qp_attr to_init{};
  to_init.qp_state = IBV_QPS_INIT;
  to_init.port_num = 1;
  check_zero(ibv_modify_qp(qp, &to_init,
                           IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
             "to init");
  ibv_qp_attr to_error{};
  to_error.qp_state = IBV_QPS_ERR;
  check_zero(ibv_modify_qp(qp, &to_error, IBV_QP_STATE), "to error");
  ibv_recv_wr request{}, *bad = nullptr;
  check_zero(ibv_post_recv(qp, &request, &bad), "ibv_post_recv");
  ibv_poll_cq_attr how{};
  wait_until("a completion", [&] { return ibv_start_poll(cq, &how) == 0; });
  const std::uint64_t timestamp = ibv_wc_read_completion_ts(cq);
  ibv_end_poll(cq);
  check_zero(ibv_destroy_qp(qp), "ibv_destroy_qp");
  check_zero(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
  return timestamp;
}

// Exact to a second: the system's clock may be adjusted meanwhile, by less than that.
TEST(Queries, TimestampsAreTheTimeOfDayByTheClockInfo) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t before = time_of_day();
  const std::uint64_t timestamp = timestamp_of_a_completion();
  const std::uint64_t after = time_of_day();
  mlx5dv_clock_info info{};
  ASSERT_EQ(mlx5dv_get_clock_info(context(), &info), 0);
  EXPECT_GT(mlx5dv_ts_to_ns(&info, timestamp), before - kSecond);
  EXPECT_LT(mlx5dv_ts_to_ns(&info, timestamp), after + kSecond);
}

// The clock lies where a doorbell page could. So the test allocates pages until they would be past
// that place, and keeps them all: libmlx5 would give a freed page again.
TEST(Queries, DoorbellPagesLeaveTheClockAlone) {
  constexpr unsigned kPlace = 7 << 8;  // MLX5_IB_MMAP_CLOCK_INFO
  mlx5dv_clock_info before{}, after{};
  ASSERT_EQ(mlx5dv_get_clock_info(context(), &before), 0);
  std::vector<mlx5dv_devx_uar*> pages;
  while (pages.empty() || pages.back()->page_id <= kPlace)
    pages.push_back(check(mlx5dv_devx_alloc_uar(context(), MLX5DV_UAR_ALLOC_TYPE_BF), "alloc_uar"));
  EXPECT_EQ(mlx5dv_get_clock_info(context(), &after), 0);
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
  for (auto* page : pages) mlx5dv_devx_free_uar(page);
}

}  // namespace
}  // namespace direct
