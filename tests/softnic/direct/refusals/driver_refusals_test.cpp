// Calls that mlx5's driver refuses: mistakes in its own part of a call, and flags of queue pairs.

#include "refusal_rows.hpp"

namespace direct {
namespace {

void keep(KernelMessage&) {}

// A queue pair whose flags for mlx5 differ from the default in `change`.
Row qp_flag(const char* name, int error, std::uint32_t change) {
  return {name, error, [change](Objects& o) {
            return make_qp(o, keep, [change](auto& d) { d.flags ^= change; });
          }};
}
// A queue pair with flags of the kernel.
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

// Makes mlx5's part of the call `kBytes` long. Bytes behind the structure are `last`.
template <std::size_t kBytes>
Spoil cut_to(std::uint8_t last = 0) {
  return [last](KernelMessage& m) {
    static std::uint8_t copy[kBytes];
    std::fill(std::begin(copy), std::end(copy), last);
    const ib_uverbs_attr from = m.raw(UVERBS_ATTR_UHW_IN);
    std::memcpy(copy, reinterpret_cast<const void*>(from.data),
                std::min<std::size_t>(from.len, kBytes));
    m.pointer(UVERBS_ATTR_UHW_IN, copy, kBytes);
  };
}
Spoil without_it() {
  return [](KernelMessage& m) { m.without(UVERBS_ATTR_UHW_IN); };
}
constexpr std::size_t kQpLeast = offsetof(mlx5_ib_create_qp, ece_options);
constexpr std::size_t kCqLeast = offsetof(mlx5_ib_create_cq, flags);
constexpr std::size_t kContextLeast = offsetof(mlx5_ib_alloc_ucontext_req_v2, max_cqe_version);

const std::vector<Row>& part_rows() {
  static const std::vector<Row> all = {
      {"QueuePairsOfOldLibraries", 0, [](Objects& o) { return make_qp(o, cut_to<kQpLeast>()); }},
      {"QueuePairsCutShort", EINVAL, [](Objects& o) { return make_qp(o, cut_to<kQpLeast - 1>()); }},
      {"QueuePairsAbsent", EINVAL, [](Objects& o) { return make_qp(o, without_it()); }},
      {"QueuePairsOfNewLibraries", 0,
       [](Objects& o) { return make_qp(o, cut_to<sizeof(mlx5_ib_create_qp) + 24>()); }},
      {"QueuePairsWithMoreThanIsKnown", EINVAL,
       [](Objects& o) { return make_qp(o, cut_to<sizeof(mlx5_ib_create_qp) + 24>(1)); }},
      {"QueuePairsWithReservedBits", EINVAL,
       [](Objects& o) { return make_qp(o, keep, [](auto& d) { d.reserved = 1; }); }},

      {"CompletionQueuesCutShort", EINVAL,
       [](Objects& o) { return make_cq(o, cut_to<kCqLeast - 1>()); }},
      {"CompletionQueuesWithoutTheirPage", EINVAL,
       [](Objects& o) { return make_cq(o, cut_to<kCqLeast>()); }},
      {"CompletionQueuesAbsent", EINVAL, [](Objects& o) { return make_cq(o, without_it()); }},
      {"CompletionQueuesWithMoreThanIsKnown", 0,
       [](Objects& o) { return make_cq(o, cut_to<sizeof(mlx5_ib_create_cq) + 24>(1)); }},
      {"CompletionQueuesWithReservedBits", EINVAL,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.reserved0 = 1; }); }},
      {"CompletionQueuesWithMoreReservedBits", EINVAL,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.reserved1 = 1; }); }},
      {"CompletionQueuesWithUnknownFlags", EINVAL,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.flags |= 1 << 9; }); }},
      {"CompletionQueuesOnAnUnknownPage", EINVAL,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.uar_page_index = 0xffff; }); }},
      {"CompletionQueuesCompressed", EOPNOTSUPP,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.cqe_comp_en = 1; }); }},
      {"CompletionQueuesPadded", EOPNOTSUPP,
       [](Objects& o) {
         return make_cq(o, keep, [](auto& d) {
           d.cqe_size = 128;
           d.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
         });
       }},
      {"CompletionQueuesOffTheirAlignment", EINVAL,
       [](Objects& o) { return make_cq(o, keep, [](auto& d) { d.buf_addr += 8; }); }},
      {"CompletionQueuesWithTheTimeOfDay", 0,
       [](Objects& o) {
         return make_cq(o, keep, [](auto& d) { d.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS; });
       }},
      {"CompletionQueuesWithEventsByAChannelThatIsNone", EBADF,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0); });
       }},

      {"SharedQueuesCutShort", 0, [](Objects& o) { return make_srq(o, cut_to<16>()); }},
      {"SharedQueuesAbsent", EFAULT, [](Objects& o) { return make_srq(o, without_it()); }},
      {"SharedQueuesWithMoreThanIsKnown", EINVAL,
       [](Objects& o) { return make_srq(o, cut_to<sizeof(mlx5_ib_create_srq) + 24>(1)); }},
      {"SharedQueuesWithReservedBits", EINVAL,
       [](Objects& o) { return make_srq(o, keep, [](auto& d) { d.reserved0 = 1; }); }},
      {"SharedQueuesWithMoreReservedBits", EINVAL,
       [](Objects& o) { return make_srq(o, keep, [](auto& d) { d.reserved1 = 1; }); }},
      {"SharedQueuesWithSignatures", EINVAL,
       [](Objects& o) { return make_srq(o, keep, [](auto& d) { d.flags = 1; }); }},
      {"SharedQueuesOfExtendedDomains", ENOENT,
       [](Objects& o) {
         return make_srq(
             o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_XRC); });
       }},
      {"SharedQueuesOfTagsWithoutACompletionQueue", ENOENT,
       [](Objects& o) {
         return make_srq(o,
                         [](auto& m) { m.number(UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_TM); });
       }},
      {"SharedQueuesOfTags", EINVAL,
       [](Objects& o) {
         return make_srq(o, [&](auto& m) {
           m.number(UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_TM)
               .handle(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, o.verbs->verbs_send_cq()->handle)
               .number(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, 4, 4);
         });
       }},
      {"SharedQueuesOfNoKind", EINVAL,
       [](Objects& o) {
         return make_srq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_SRQ_TYPE, 9); });
       }},

      {"ContextsOfOldLibraries", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto&) {}, sizeof(mlx5_ib_alloc_ucontext_req)); }},
      {"ContextsCutShort", EINVAL,
       [](Objects&) { return get_context([](auto&) {}, kContextLeast - 1); }},
      {"ContextsWithUnknownFlags", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.flags |= 2; }); }},
      {"ContextsWithAnUnknownMask", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.comp_mask = 1; }); }},
      {"ContextsWithReservedBits", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.reserved1 = 1; }); }},
      {"ContextsWithMoreReservedBits", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.reserved2 = 1; }); }},
      {"ContextsWithTooManyFastRegisters", EINVAL,
       [](Objects&) { return get_context([](auto& l) { l.num_low_latency_bfregs = 16; }); }},
      {"ContextsWithPagesAllAtOnce", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.lib_caps = MLX5_LIB_CAP_4K_UAR; }); }},
      {"ContextsWithOldCompletions", EOPNOTSUPP,
       [](Objects&) { return get_context([](auto& l) { l.max_cqe_version = 0; }); }},

      {"DevicesWithAnUnknownMask", EINVAL,
       [](Objects&) { return query_device([](auto& q) { q.comp_mask = 1; }); }},
      {"DevicesWithReservedBits", EINVAL,
       [](Objects&) { return query_device([](auto& q) { q.reserved = 1; }); }},
      {"DevicesWithoutRoom", EINVAL,
       [](Objects&) {
         return query_device([](auto&) {},
                             [](auto& m) { m.pointer(UVERBS_ATTR_UHW_OUT, command_answer, 7); });
       }},
      {"DevicesWithAQuestionOfTheirOwn", EINVAL,
       [](Objects&) {
         return query_device([](auto&) {}, [](auto& m) { m.number(UVERBS_ATTR_UHW_IN, 1); });
       }},
      {"DevicesWithAnEmptyQuestion", 0,
       [](Objects&) {
         return query_device([](auto&) {}, [](auto& m) { m.number(UVERBS_ATTR_UHW_IN, 0); });
       }},

      {"TransitionsCutShort", EINVAL,
       [](Objects& o) {
         return modify(
             *o.fresh, IBV_QPS_RESET, 0, [](auto&) {},
             [](auto& m) { m.number(UVERBS_ATTR_UHW_IN, 0); });
       }},
      {"TransitionsWithAnUnknownMask", EOPNOTSUPP,
       [](Objects& o) {
         static const mlx5_ib_modify_qp masked{1, {}, 0};
         return modify(
             *o.fresh, IBV_QPS_RESET, 0, [](auto&) {},
             [](auto& m) { m.structure(UVERBS_ATTR_UHW_IN, masked); });
       }},

      {"ModerationOfNothing", EINVAL,
       [](Objects& o) { return moderate(o, [](auto& m) { m.attr_mask = 0; }); }},
      {"ModerationWithReservedBits", EINVAL,
       [](Objects& o) { return moderate(o, [](auto& m) { m.reserved = 1; }); }},
      {"ModerationOfMore", EOPNOTSUPP,
       [](Objects& o) { return moderate(o, [](auto& m) { m.attr_mask = 2; }); }},
      {"ModerationOfNoQueue", EINVAL,
       [](Objects& o) { return moderate(o, [](auto& m) { m.cq_handle = kNoSuch; }); }},
      {"ModerationForTooLong", EINVAL,
       [](Objects& o) { return moderate(o, [](auto& m) { m.attr.cq_period = 0x1000; }); }},
      {"Moderation", 0,
       [](Objects& o) { return moderate(o, [](auto& m) { m.attr.cq_period = 0xfff; }); }},
  };
  return all;
}

class PartsOfCalls : public RefusalRows {};
INSTANTIATE_TEST_SUITE_P(Driver, PartsOfCalls, testing::ValuesIn(part_rows()), name_of_row);
TEST_P(PartsOfCalls, AreRefusedWithTheKernelsNumber) { expect_refusal(); }

// On a RoCE port the answer contains the neighbour's MAC.
TEST(PartsOfCallsTogether, AddressesNeedRoomForTheirMac) {
  Objects objects;
  const bool has_mac = Hca::instance().is_ethernet();
  EXPECT_EQ(make_ah(
                objects, [](auto&) {}, 9),
            has_mac ? EINVAL : 0);
  EXPECT_EQ(make_ah(
                objects, [](auto&) {}, 10),
            0);
}

// The kernel refuses this only when a queue pair shall use the completion queue.
TEST(PartsOfCallsTogether, TimeOfDayIsRefusedToAQueuePair) {
  Objects objects;
  int error = 0;
  const auto use = [&](KernelMessage& m) {
    ASSERT_EQ(m.send(), 0);
    const std::uint64_t cq = m.value(UVERBS_ATTR_CREATE_CQ_HANDLE);
    error = make_qp(objects, [cq](auto& q) { q.handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq); });
    EXPECT_EQ(destroy_cq(cq), 0);
  };
  make_cq(objects, use, [](auto& d) { d.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS; });
  EXPECT_EQ(error, EOPNOTSUPP);
}

}  // namespace
}  // namespace direct
