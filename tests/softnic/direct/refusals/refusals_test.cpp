// Calls that the kernel refuses, and its error numbers: a row for each mistake. softnic/README.md
// names the sources.

#include <gtest/gtest.h>

#include "refusal_rows.hpp"

namespace direct {
namespace {

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"MessageOfAnUnknownMethod", EPROTONOSUPPORT,
       [](Objects&) { return KernelMessage(UVERBS_OBJECT_PD, 99).send(); }},
      {"MessageOfAnUnknownObject", EPROTONOSUPPORT,
       [](Objects&) { return KernelMessage(0xfff, 0).send(); }},
      {"MessageForAnotherDriver", EINVAL,
       [](Objects&) {
         KernelMessage m(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
         m.driver = RDMA_DRIVER_MLX4;
         return m.send();
       }},
      {"MessageWithAWrongLength", EINVAL,
       [](Objects&) {
         KernelMessage m(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
         m.excess = 16;
         return m.send();
       }},
      {"MessageWithReservedBits", EPROTONOSUPPORT,
       [](Objects&) {
         KernelMessage m(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
         m.reserved1 = 1;
         return m.send();
       }},
      {"MessageOutsideMemory", EFAULT,
       [](Objects& o) {
         auto* at = reinterpret_cast<void*>(o.nowhere());
         return ::ioctl(o.other->cmd_fd, RDMA_VERBS_IOCTL, at) ? errno : 0;
       }},
      {"AttributeOutsideMemory", EFAULT,
       [](Objects& o) {
         const ib_uverbs_reg_mr unused{};
         return write_command(IB_USER_VERBS_CMD_REG_MR, unused)
             .pointer(UVERBS_ATTR_CORE_IN, reinterpret_cast<void*>(o.nowhere()), sizeof unused)
             .send();
       }},
      {"MessageThatMayNotBeRead", EFAULT,
       [](Objects& o) {
         return ::ioctl(o.other->cmd_fd, RDMA_VERBS_IOCTL, o.unreadable) ? errno : 0;
       }},
      {"AttributeThatMayNotBeRead", EFAULT,
       [](Objects& o) {
         return write_command(IB_USER_VERBS_CMD_REG_MR, ib_uverbs_reg_mr{})
             .pointer(UVERBS_ATTR_CORE_IN, o.unreadable, sizeof(ib_uverbs_reg_mr))
             .send();
       }},
      {"AnswerThatMayNotBeWritten", EFAULT,
       [](Objects& o) {
         ib_uverbs_reg_mr r{};
         r.start = r.hca_va = o.here;
         r.length = kPage;
         r.pd_handle = o.pd;
         return write_command(IB_USER_VERBS_CMD_REG_MR, r)
             .pointer(UVERBS_ATTR_CORE_OUT, o.read_only, sizeof(ib_uverbs_reg_mr_resp))
             .send();
       }},
      {"AttributeUnknownAndMandatory", EPROTONOSUPPORT,
       [](Objects& o) {
         return make_cq(o, [](auto& m) {
           m.number(999, 0);
           m.raw(999).flags = UVERBS_ATTR_F_MANDATORY;
         });
       }},
      {"AttributeOfADriverUnknownAndMandatory", EPROTONOSUPPORT,
       [](Objects& o) {
         return make_cq(o, [](auto& m) {
           m.number(UVERBS_ATTR_UHW_OUT + 7, 0);
           m.raw(UVERBS_ATTR_UHW_OUT + 7).flags = UVERBS_ATTR_F_MANDATORY;
         });
       }},
      {"AttributeTwice", EINVAL,
       [](Objects& o) { return make_cq(o, [](auto& m) { m.twice(UVERBS_ATTR_CREATE_CQ_CQE); }); }},
      {"AttributeTooShort", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_CQE, 31, 2); });
       }},
      {"AttributeTooLong", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_CQE, 31, 8); });
       }},
      {"AttributeMissing", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.without(UVERBS_ATTR_CREATE_CQ_USER_HANDLE); });
       }},
      {"AnswerMissing", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.without(UVERBS_ATTR_CREATE_CQ_RESP_CQE); });
       }},
      {"AnswerTooLong", EINVAL,
       [](Objects& o) {
         return make_cq(
             o, [](auto& m) { m.pointer(UVERBS_ATTR_CREATE_CQ_RESP_CQE, command_answer, 8); });
       }},
      {"AttributeWithReservedBits", EINVAL,
       [](Objects& o) {
         return make_cq(o,
                        [](auto& m) { m.raw(UVERBS_ATTR_CREATE_CQ_CQE).attr_data.reserved = 1; });
       }},
      {"HandleWithALength", EINVAL,
       [](Objects& o) {
         return make_qp(o, [&](auto& m) { m.number(UVERBS_ATTR_CREATE_QP_PD_HANDLE, o.pd, 4); });
       }},
      {"StructureOfALaterKernel", EOPNOTSUPP,
       [](Objects& o) {
         std::uint8_t longer[sizeof(ib_uverbs_qp_cap) + 1] = {};
         longer[sizeof(ib_uverbs_qp_cap)] = 1;
         return make_qp(
             o, [&](auto& m) { m.pointer(UVERBS_ATTR_CREATE_QP_CAP, longer, sizeof longer); });
       }},
      {"CommandUnknown", EOPNOTSUPP,
       [](Objects&) { return write_command(200, ib_uverbs_reg_mr{}).send(); }},
      {"CommandWithUnknownFlags", EINVAL,
       [](Objects&) {
         return write_command(IB_USER_VERBS_CMD_REG_MR | 1 << 20, ib_uverbs_reg_mr{}).send();
       }},
      {"CommandTooShort", ENOSPC,
       [](Objects&) {
         const ib_uverbs_reg_mr whole{};
         return write_command(IB_USER_VERBS_CMD_REG_MR, whole)
             .pointer(UVERBS_ATTR_CORE_IN, &whole, sizeof whole - 8)
             .send();
       }},
      {"CommandWithoutRoomForItsResponse", ENOSPC,
       [](Objects&) {
         const ib_uverbs_reg_mr whole{};
         return write_command(IB_USER_VERBS_CMD_REG_MR, whole)
             .pointer(UVERBS_ATTR_CORE_OUT, command_answer, 8)
             .send();
       }},
      {"QueryOfPort2", EINVAL,
       [](Objects&) {
         ibv_port_attr unused;
         return ibv_query_port(Hca::instance().context(), 2, &unused);
       }},

      {"DomainUnknown", ENOENT, [](Objects&) { return destroy_pd(kNoSuch); }},
      {"DomainOfAnotherFile", ENOENT, [](Objects& o) { return destroy_pd(o.stranger->handle); }},
      {"DomainThatIsAQueue", EINVAL,
       [](Objects& o) { return destroy_pd(o.verbs->verbs_send_cq()->handle); }},
      {"DomainNotNamed", EINVAL,
       [](Objects&) { return KernelMessage(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY).send(); }},
      {"DomainWithAQueuePair", EBUSY, [](Objects& o) { return destroy_pd(o.pd); }},
      {"DomainWithAnAddress", EBUSY,
       [](Objects& o) {
         ibv_pd* pd = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
         check_zero(make_ah(o, [&](auto& a) { a.pd_handle = pd->handle; }), "CREATE_AH");
         std::uint32_t ah;
         std::memcpy(&ah, command_answer, sizeof ah);
         const int refusal = destroy_pd(pd->handle);
         destroy(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, UVERBS_ATTR_DESTROY_AH_HANDLE, ah);
         EXPECT_EQ(ibv_dealloc_pd(pd), 0);
         return refusal;
       }},
      {"DomainWithASharedQueue", EBUSY,
       [](Objects&) {
         ibv_pd* pd = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
         ibv_srq_init_attr attributes{};
         attributes.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
         ibv_srq* srq = check(ibv_create_srq(pd, &attributes), "ibv_create_srq");
         const int refusal = destroy_pd(pd->handle);
         EXPECT_EQ(ibv_destroy_srq(srq), 0);
         EXPECT_EQ(ibv_dealloc_pd(pd), 0);
         return refusal;
       }},
      {"DomainWithARegion", EBUSY,
       [](Objects&) {
         static char memory[64];
         ibv_pd* pd = check(ibv_alloc_pd(Hca::instance().context()), "ibv_alloc_pd");
         ibv_mr* region = check(ibv_reg_mr(pd, memory, sizeof memory, 0), "ibv_reg_mr");
         const int refusal = destroy_pd(pd->handle);
         EXPECT_EQ(ibv_dereg_mr(region), 0);
         EXPECT_EQ(ibv_dealloc_pd(pd), 0);
         return refusal;
       }},

      {"RegionOfNoBytes", EINVAL,
       [](Objects& o) { return register_region(o, [](auto& r) { r.length = 0; }); }},
      {"RegionPastTheLastAddress", EINVAL,
       [](Objects& o) { return register_region(o, [](auto& r) { r.length = ~0ull - 8191; }); }},
      {"RegionOfNothing", EFAULT,
       [](Objects& o) {
         return register_region(o, [&](auto& r) { r.start = r.hca_va = o.nowhere(); });
       }},
      {"RegionOfReadOnlyMemoryToBeWritten", EFAULT,
       [](Objects& o) { return register_memory(o, o.read_only, kPage, IBV_ACCESS_LOCAL_WRITE); }},
      {"RegionOfAReadOnlyFileToBeWritten", EFAULT,
       [](Objects& o) {
         return register_memory(o, o.file_only_read, kPage, IBV_ACCESS_LOCAL_WRITE);
       }},
      {"RegionThatMayNotBeRead", EFAULT,
       [](Objects& o) { return register_memory(o, o.unreadable, kPage, 0); }},
      {"RegionWithAHole", EFAULT,
       [](Objects& o) { return register_memory(o, Broken().pages, 3 * kPage, 0); }},
      {"RegionOverAGuardPage", EFAULT,
       [](Objects& o) { return register_memory(o, o.fenced, 3 * kPage, 0); }},
      {"RegionIntoAHole", EFAULT,
       [](Objects& o) { return register_memory(o, Broken().pages, kPage + 1, 0); }},
      {"RegionCalledByAnotherOffset", EINVAL,
       [](Objects& o) { return register_region(o, [](auto& r) { r.hca_va += 8; }); }},
      {"RegionForRemoteWritesOnly", EINVAL,
       [](Objects& o) {
         return register_region(o, [](auto& r) { r.access_flags = IBV_ACCESS_REMOTE_WRITE; });
       }},
      {"RegionForRemoteAtomicsOnly", EINVAL,
       [](Objects& o) {
         return register_region(o, [](auto& r) { r.access_flags = IBV_ACCESS_REMOTE_ATOMIC; });
       }},
      {"RegionPagedOnDemand", EOPNOTSUPP,
       [](Objects& o) {
         return register_region(o, [](auto& r) { r.access_flags |= IBV_ACCESS_ON_DEMAND; });
       }},
      {"RegionOfAnUnknownDomain", EINVAL,
       [](Objects& o) { return register_region(o, [](auto& r) { r.pd_handle = kNoSuch; }); }},
      {"RegionOfAStrangersDomain", EINVAL,
       [](Objects& o) {
         return register_region(o, [&](auto& r) { r.pd_handle = o.stranger->handle; });
       }},
      {"RegionUnknown", ENOENT,
       [](Objects&) {
         return destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE,
                        kNoSuch);
       }},

      {"CompletionQueueWithUnknownFlags", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_FLAGS, 1 << 7, 4); });
       }},
      {"CompletionQueueTooLong", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_CQE, 1 << 23, 4); });
       }},
      {"CompletionQueueOfSmallEntries", EINVAL,
       [](Objects& o) {
         return make_cq(
             o, [](auto&) {}, [](auto& d) { d.cqe_size = 32; });
       }},
      {"CompletionQueueOfAFarVector", EINVAL,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 8, 4); });
       }},
      {"CompletionQueueNowhere", EFAULT,
       [](Objects& o) {
         return make_cq(
             o, [](auto&) {}, [&](auto& d) { d.buf_addr = o.nowhere(); });
       }},
      {"CompletionQueueInReadOnlyMemory", EFAULT,
       [](Objects& o) {
         return make_cq(
             o, [](auto&) {}, [&](auto& d) { d.buf_addr = address(o.read_only); });
       }},
      {"CompletionQueueWithAChannelThatIsNone", EBADF,
       [](Objects& o) {
         return make_cq(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0); });
       }},
      {"CompletionQueueInUse", EBUSY,
       [](Objects& o) { return destroy_cq(o.verbs->verbs_send_cq()->handle); }},
      {"CompletionQueueUnknown", ENOENT, [](Objects&) { return destroy_cq(kNoSuch); }},

      {"QueuePairOfNoService", EINVAL,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_QP_TYPE, 99); });
       }},
      {"QueuePairWithoutADomain", ENOENT,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.without(UVERBS_ATTR_CREATE_QP_PD_HANDLE); });
       }},
      {"QueuePairOfAnUnknownDomain", ENOENT,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, kNoSuch); });
       }},
      {"QueuePairOfAnUnknownCompletionQueue", ENOENT,
       [](Objects& o) {
         return make_qp(o,
                        [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, kNoSuch); });
       }},
      {"QueuePairThatCompletesIntoADomain", EINVAL,
       [](Objects& o) {
         return make_qp(o, [&](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, o.pd); });
       }},
      {"QueuePairOfAnUnknownSharedQueue", ENOENT,
       [](Objects& o) {
         return make_qp(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, kNoSuch); });
       }},
      {"QueuePairOfAnotherService", EOPNOTSUPP,
       [](Objects& o) {
         return make_qp(
             o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RAW_PACKET); });
       }},
      {"QueuePairOfThreeBlocks", EINVAL,
       [](Objects& o) {
         return make_qp(
             o, [](auto&) {}, [](auto& d) { d.sq_wqe_count = 3; });
       }},
      {"QueuePairTooLong", EINVAL,
       [](Objects& o) {
         return make_qp(
             o, [](auto&) {}, [](auto& d) { d.sq_wqe_count = 1 << 16; });
       }},
      {"QueuePairNowhere", EFAULT,
       [](Objects& o) {
         return make_qp(
             o, [](auto&) {}, [&](auto& d) { d.buf_addr = o.nowhere(); });
       }},
      {"QueuePairWithItsRecordNowhere", EFAULT,
       [](Objects& o) {
         return make_qp(
             o, [](auto&) {}, [&](auto& d) { d.db_addr = o.nowhere(); });
       }},
      {"QueuePairUnknown", ENOENT, [](Objects&) { return destroy_qp(kNoSuch); }},

      {"TransitionThatSkipsAState", EINVAL,
       [](Objects& o) { return modify(*o.fresh, IBV_QPS_RTR, kRtr); }},
      {"TransitionToErrorFromReset", EINVAL,
       [](Objects& o) { return modify(*o.fresh, IBV_QPS_ERR, 0); }},
      {"TransitionToAStateThatIsNone", EINVAL,
       [](Objects& o) { return modify(*o.fresh, 9, kInit); }},
      {"TransitionWithoutItsPort", EINVAL,
       [](Objects& o) { return modify(*o.fresh, IBV_QPS_INIT, kInit & ~IBV_QP_PORT); }},
      {"TransitionWithMoreThanItsOwn", EINVAL,
       [](Objects& o) { return modify(*o.fresh, IBV_QPS_INIT, kInit | IBV_QP_TIMEOUT); }},
      {"TransitionWithAnUnknownAttribute", EOPNOTSUPP,
       [](Objects& o) { return modify(*o.fresh, IBV_QPS_INIT, kInit | 1 << 24); }},
      {"TransitionToPort2", EINVAL,
       [](Objects& o) {
         return modify(*o.fresh, IBV_QPS_INIT, kInit, [](auto& m) { m.port_num = 2; });
       }},
      {"TransitionToAFarPartition", EINVAL,
       [](Objects& o) {
         return modify(*o.fresh, IBV_QPS_INIT, kInit, [](auto& m) { m.pkey_index = 1; });
       }},
      {"TransitionFromAnotherState", EINVAL,
       [](Objects& o) {
         return modify(*o.fresh, IBV_QPS_INIT, kInit | IBV_QP_CUR_STATE,
                       [](auto& m) { m.cur_qp_state = IBV_QPS_RTR; });
       }},
      {"TransitionWithoutAPacketSize", EINVAL,
       [](Objects& o) {
         return modify(*o.verbs, IBV_QPS_RTR, kRtr, [](auto& m) { m.path_mtu = 0; });
       }},
      {"TransitionWithTooManyReads", EINVAL,
       [](Objects& o) {
         return modify(*o.verbs, IBV_QPS_RTR, kRtr, [](auto& m) { m.max_dest_rd_atomic = 17; });
       }},
      {"TransitionFromAFarAddress", EINVAL,
       [](Objects& o) {
         return modify(*o.verbs, IBV_QPS_RTR, kRtr,
                       [](auto& m) { m.dest.is_global = 1, m.dest.sgid_index = 200; });
       }},
      {"TransitionOfNoQueuePair", EINVAL,
       [](Objects& o) {
         return modify(*o.fresh, IBV_QPS_INIT, kInit, [](auto& m) { m.qp_handle = kNoSuch; });
       }},

      {"SharedQueueResized", EINVAL, [](Objects& o) { return modify_srq(o, IBV_SRQ_MAX_WR, 1); }},
      {"SharedQueueWithALimitAboveItsLength", EINVAL,
       [](Objects& o) {
         ibv_srq_attr is{};
         check_zero(ibv_query_srq(o.srq, &is), "ibv_query_srq");
         return modify_srq(o, IBV_SRQ_LIMIT, is.max_wr + 1);
       }},
      {"SharedQueueTooLong", EINVAL,
       [](Objects& o) {
         return make_srq(o, [](auto& m) { m.number(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 1 << 16, 4); });
       }},
      {"SharedQueueOfAnUnknownDomain", ENOENT,
       [](Objects& o) {
         return make_srq(o, [](auto& m) { m.handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, kNoSuch); });
       }},
      {"SharedQueueInUse", EBUSY, [](Objects& o) { return destroy_srq(o.srq->handle); }},

      {"AddressOfAnUnknownDomain", EINVAL,
       [](Objects& o) { return make_ah(o, [](auto& a) { a.pd_handle = kNoSuch; }); }},
      {"AddressOnPort2", EINVAL,
       [](Objects& o) { return make_ah(o, [](auto& a) { a.attr.port_num = 2; }); }},
      {"AddressFromAFarOne", EINVAL,
       [](Objects& o) {
         return make_ah(o, [](auto& a) { a.attr.is_global = 1, a.attr.grh.sgid_index = 200; });
       }},
      {"AddressUnknown", ENOENT,
       [](Objects&) {
         return destroy(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, UVERBS_ATTR_DESTROY_AH_HANDLE,
                        kNoSuch);
       }},

      {"DoorbellPageOfNoKind", EOPNOTSUPP,
       [](Objects&) {
         std::uint64_t offset, length, page;
         return KernelMessage(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC)
             .handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0)
             .number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 7)
             .pointer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, 8)
             .pointer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, 4)
             .pointer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, 4)
             .send();
       }},
      {"DoorbellPageUnknown", ENOENT,
       [](Objects&) {
         return destroy(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY,
                        MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, kNoSuch);
       }},
      {"QueueMemoryOfNoBytes", EINVAL, [](Objects& o) { return register_umem(o.here, 0); }},
      {"QueueMemoryNowhere", EFAULT, [](Objects& o) { return register_umem(o.nowhere(), kPage); }},
      {"QueueMemoryInReadOnlyMemory", EFAULT,
       [](Objects& o) { return register_umem(address(o.read_only), kPage); }},
      {"QueueMemoryWithAHole", EFAULT,
       [](Objects&) { return register_umem(address(Broken().pages), 3 * kPage); }},
      {"QueueMemoryPastTheLastAddress", EINVAL,
       [](Objects& o) { return register_umem(o.here, ~0ull - 8191); }},
      {"QueueMemoryForRemoteWritesOnly", EINVAL,
       [](Objects& o) { return register_umem(o.here, kPage, -1, IBV_ACCESS_REMOTE_WRITE); }},
      {"QueueMemoryForAtomics", EINVAL,
       [](Objects& o) {
         return register_umem(o.here, kPage, -1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
       }},
      {"QueueMemoryOfADmaBuf", EOPNOTSUPP,
       [](Objects& o) { return register_umem(o.here, kPage, 0); }},
      {"QueueMemoryUnknown", ENOENT,
       [](Objects&) {
         return destroy(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG,
                        MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, kNoSuch);
       }},
      {"EventQueueOfAFarVector", ENOENT,
       [](Objects&) {
         std::uint32_t eqn;
         return mlx5dv_devx_query_eqn(Hca::instance().context(), 8, &eqn) ? errno : 0;
       }},

      {"EventsOfAnUnknownObject", ENOENT, [](Objects&) { return subscribe(kNoSuch, 2); }},
      {"EventsOfAVerbsObject", EINVAL,
       [](Objects& o) { return subscribe(o.verbs->verbs_qp()->handle, 2); }},
      {"EventsOfTooManyTypes", EINVAL,
       [](Objects&) {
         return subscribe(0, 34,
                          [](auto& m) { m.without(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE); });
       }},
      {"EventsOfHalfAType", EINVAL,
       [](Objects&) {
         return subscribe(0, 3,
                          [](auto& m) { m.without(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE); });
       }},
      {"EventsByAChannelThatIsNone", EBADF,
       [](Objects&) {
         return subscribe(
             0, 2, [](auto& m) { m.handle(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 0); });
       }},

      {"CommandThatCreatesByTheWrongMethod", EINVAL,
       [](Objects& o) {
         Command in = to_error_of(o.devx.qpn());
         in.set(cmd::kOpcode, cmd::kCreateQp);
         return devx_modify(o.verbs->verbs_qp()->handle, in, in.bytes.size(), 16);
       }},
      {"CommandAboutAnotherQueuePair", EINVAL,
       [](Objects& o) {
         return devx_modify(o.verbs->verbs_qp()->handle, to_error_of(o.devx.qpn()), 16, 16);
       }},
      {"CommandWithoutAHeader", EINVAL,
       [](Objects& o) {
         return devx_modify(o.verbs->verbs_qp()->handle, to_error_of(o.verbs->qpn()), 12, 16);
       }},
      {"CommandWithoutRoomForItsAnswer", EINVAL,
       [](Objects& o) {
         return devx_modify(o.verbs->verbs_qp()->handle, to_error_of(o.verbs->qpn()), 16, 12);
       }},
      {"CommandThatDestroysAVerbsQueuePair", EINVAL,
       [](Objects& o) {
         return destroy(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
                        MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, o.verbs->verbs_qp()->handle);
       }},
  };
  return all;
}

class Refusals : public RefusalRows {};
INSTANTIATE_TEST_SUITE_P(Kernel, Refusals, testing::ValuesIn(rows()), name_of_row);
TEST_P(Refusals, HaveTheKernelsNumber) { expect_refusal(); }

// Each row differs from one of these calls in one thing.
TEST(RefusedCalls, AreCorrectBeforeTheyAreSpoilt) {
  const auto objects = std::make_unique<Objects>();
  EXPECT_EQ(register_region(*objects, [](auto&) {}), 0);
  EXPECT_EQ(register_memory(*objects, objects->read_only, kPage, 0), 0);
  EXPECT_EQ(register_memory(*objects, objects->file_only_read, kPage, IBV_ACCESS_REMOTE_READ), 0);
  EXPECT_EQ(register_memory(*objects, objects->file_of_ours, kPage, kAllAccess), 0);
  EXPECT_EQ(register_memory(*objects, Broken().pages + 10, kPage - 10, kAllAccess), 0);
  EXPECT_EQ(register_memory(*objects, objects->fenced + 2 * kPage, kPage, kAllAccess), 0);
  EXPECT_EQ(make_cq(*objects, [](auto&) {}), 0);
  EXPECT_EQ(make_qp(*objects, [](auto&) {}), 0);
  EXPECT_EQ(make_srq(*objects, [](auto&) {}), 0);
  EXPECT_EQ(make_ah(*objects, [](auto&) {}), 0);
  EXPECT_EQ(get_context([](auto&) {}), 0);
  EXPECT_EQ(query_device([](auto&) {}), 0);
  EXPECT_EQ(register_umem(objects->here, kPage), 0);
  EXPECT_EQ(register_umem(address(objects->read_only), kPage, -1, 0), 0);
  EXPECT_EQ(modify_srq(*objects, IBV_SRQ_LIMIT, 15), 0);
  EXPECT_EQ(modify(*objects->fresh, IBV_QPS_INIT, kInit), 0);
  EXPECT_EQ(modify(*objects->fresh, IBV_QPS_RESET, 0), 0);
}

// Calls that only look wrong.
TEST(RefusedCalls, OptionalAttributesThatNobodyKnowsAreIgnored) {
  Objects objects;
  EXPECT_EQ(make_cq(objects, [&](auto& m) { m.number(999, objects.nowhere(), 100); }), 0);
}

TEST(RefusedCalls, StructuresOfALaterKernelMayEndInZeros) {
  Objects objects;
  static std::uint8_t longer[sizeof(ib_uverbs_qp_cap) + 40] = {};
  longer[offsetof(ib_uverbs_qp_cap, max_recv_wr)] = 16;
  EXPECT_EQ(make_qp(objects,
                    [](auto& m) { m.pointer(UVERBS_ATTR_CREATE_QP_CAP, longer, sizeof longer); }),
            0);
}

TEST(RefusedCalls, CompletionQueuesAreRoundedUp) {
  Objects objects;
  EXPECT_EQ(make_cq(objects, [](auto& m) { m.number(UVERBS_ATTR_CREATE_CQ_CQE, 4, 4); }), 0);
  std::uint32_t has;
  std::memcpy(&has, command_answer, sizeof has);
  EXPECT_EQ(has, 7u);
}

TEST(RefusedCalls, LimitOfASharedQueueStaysWithoutItsBit) {
  Objects objects;
  EXPECT_EQ(modify_srq(objects, IBV_SRQ_LIMIT, 3), 0);
  EXPECT_EQ(modify_srq(objects, 0, 9), 0);
  ibv_srq_attr is{};
  check_zero(ibv_query_srq(objects.srq, &is), "ibv_query_srq");
  EXPECT_EQ(is.srq_limit, 3u);
}

// The firmware's fields are shorter than the kernel's.
TEST(RefusedCalls, NumbersAreCutToTheFirmwaresBits) {
  Objects objects;
  const std::unique_ptr<Endpoint> one = make_verbs_endpoint({"", false, false, 64}, Options{});
  check_zero(one->to_init(), "to INIT");
  check_zero(one->to_rtr(one->qpn()), "to RTR");
  constexpr unsigned kRts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  EXPECT_EQ(modify(*one, IBV_QPS_RTS, kRts,
                   [](auto& m) {
                     m.timeout = m.retry_cnt = m.rnr_retry = m.min_rnr_timer = 0xff;
                     m.sq_psn = ~0u;
                   }),
            0);
  ibv_qp_attr is{};
  ibv_qp_init_attr unused{};
  check_zero(ibv_query_qp(one->verbs_qp(), &is, 0, &unused), "ibv_query_qp");
  EXPECT_EQ(is.timeout, 31);
  EXPECT_EQ(is.retry_cnt, 7);
  EXPECT_EQ(is.rnr_retry, 7);
  EXPECT_EQ(is.min_rnr_timer, 31);
  EXPECT_EQ(is.sq_psn, 0xffffffu);
  EXPECT_EQ(is.max_rd_atomic, 1);
}

}  // namespace
}  // namespace direct
