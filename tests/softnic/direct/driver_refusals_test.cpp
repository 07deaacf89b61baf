// What mlx5's driver refuses in its own part of a call, and flags of queue pairs.

#include "refusal_rows.hpp"

namespace direct {
namespace {

void keep(KernelMessage&) {}

// A queue pair with mlx5's own flags as they are by default but for `change`.
Row qp_flag(const char* name, int error, std::uint32_t change) {
  return {name, error, [change](Objects& o) {
            return make_qp(o, keep, [change](auto& d) { d.flags ^= change; });
          }};
}
// One with flags of the kernel's own.
Row create_flag(const char* name, int error, std::uint32_t flags, unsigned type) {
  return {name, error, [flags, type](Objects& o) {
            return make_qp(o, [flags, type](auto& m) {
              m.number(UVERBS_ATTR_CREATE_QP_FLAGS, flags, 4);
              m.number(UVERBS_ATTR_CREATE_QP_TYPE, type);
            });
          }};
}

const std::vector<Row>& qp_rows() {
  static const std::vector<Row> all = {
      create_flag("FlagForEveryCompletion", 0, IB_UVERBS_QP_CREATE_SQ_SIG_ALL, IB_UVERBS_QPT_RC),
      create_flag("FlagForEveryCompletionOfDatagrams", 0, IB_UVERBS_QP_CREATE_SQ_SIG_ALL,
                  IB_UVERBS_QPT_UD),
      create_flag("FlagUnknown", EINVAL, 1 << 3, IB_UVERBS_QPT_UD),
      create_flag("FlagOfMulticastOnAConnection", EINVAL,
                  IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK, IB_UVERBS_QPT_RC),
      create_flag("FlagOfMulticast", EOPNOTSUPP, IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
                  IB_UVERBS_QPT_UD),
      create_flag("FlagOfPadding", EOPNOTSUPP, IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING,
                  IB_UVERBS_QPT_UD),
      create_flag("FlagOfPaddingOnAConnection", EINVAL, IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING,
                  IB_UVERBS_QPT_UC),
      create_flag("FlagOfRawPacketsOnDatagrams", EINVAL, IB_UVERBS_QP_CREATE_SCATTER_FCS,
                  IB_UVERBS_QPT_UD),
      create_flag("FlagOfVlansOnDatagrams", EINVAL, IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
                  IB_UVERBS_QPT_UD),
      {"SourceNumber", EOPNOTSUPP,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, 7, 4); });
       }},
      {"ExtendedDomain", ENOENT,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, kNoSuch); });
       }},
      {"IndirectionTable", ENOENT,
       [](Objects& o) {
         return make_qp(o,
                        [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, kNoSuch); });
       }},
      {"EventsByAChannelThatIsNone", EBADF,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_EVENT_FD, 0); });
       }},

      qp_flag("WithoutItsDoorbellPage", EINVAL, MLX5_QP_FLAG_UAR_PAGE_INDEX),
      qp_flag("WithADoorbellRegister", EINVAL, MLX5_QP_FLAG_BFREG_INDEX),
      qp_flag("WithADoorbellRegisterInsteadOfAPage", EINVAL,
              MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX),
      qp_flag("WithCompletionsThatMayCarryData", 0,
              MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE),
      qp_flag("WithSignatures", EINVAL, MLX5_QP_FLAG_SIGNATURE),
      qp_flag("WithTunnels", EINVAL, MLX5_QP_FLAG_TUNNEL_OFFLOADS),
      qp_flag("WithUnicastLoopback", EINVAL, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC),
      qp_flag("WithMulticastLoopback", EINVAL, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC),
      qp_flag("WithCreditsByPacket", EINVAL, MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE),
      qp_flag("AsDctOfAConnection", EINVAL, MLX5_QP_FLAG_TYPE_DCT),
      qp_flag("AsDciOfAConnection", EINVAL, MLX5_QP_FLAG_TYPE_DCI),
      qp_flag("WithStreams", EINVAL, MLX5_QP_FLAG_DCI_STREAM),
      qp_flag("WithAnUnknownDriversFlag", EINVAL, 1u << 20),
      {"OnAnUnknownDoorbellPage", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.bfreg_index = 0xffff; }); }},
      {"WithTheUserIndexOfNone", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.uidx = 0xffffff; }); }},
      {"WithALongUserIndex", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.uidx = 1u << 24; }); }},
      {"OffItsAlignment", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.buf_addr += 32; }); }},
      {"WithSmallReceives", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.rq_wqe_shift = 3; }); }},
      {"WithReceivesThatNobodyAskedFor", EINVAL,
       [](Objects& o) {
         static const ib_uverbs_qp_cap sends_only{16, 0, 1, 0, 0};
         return make_qp(o, [](auto& m) { m.structure(UVERBS_ATTR_CREATE_QP_CAP, sends_only); });
       }},
      {"WithReceivesBesideASharedQueue", EINVAL,
       [](Objects& o) {
         return make_qp(
             o, [&](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, o.srq->handle); });
       }},
  };
  return all;
}

class QueuePairs : public RefusalRows {};
INSTANTIATE_TEST_SUITE_P(Driver, QueuePairs, testing::ValuesIn(qp_rows()), name_of_row);
TEST_P(QueuePairs, AreRefusedWithTheKernelsNumber) { expect_refusal(); }

}  // namespace
}  // namespace direct
