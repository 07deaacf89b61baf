// What programs read back of a device and a queue pair, through libibverbs.

#include <gmock/gmock.h>
#include <net/if.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "hca.hpp"

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

TEST(Queries, DmaBufIsRefusedAsNotSupported) {
  EXPECT_EQ(ibv_reg_dmabuf_mr(Hca::instance().pd(), 0, 4096, 0, 0, IBV_ACCESS_LOCAL_WRITE),
            nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace direct
