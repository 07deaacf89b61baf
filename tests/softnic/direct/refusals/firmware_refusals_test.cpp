// Mailboxes that the firmware refuses, and their status: a row for each wrong field. The kernel
// passes the answer on with EREMOTEIO.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <functional>
#include <memory>

#include "devx_endpoint.hpp"

namespace direct {
namespace {

constexpr unsigned kBadOperation = 0x2, kBadParameter = 0x3, kBadResource = 0x5,
                   kBadResourceState = 0x9, kBadInputLength = 0x50, kBadOutputLength = 0x51;
constexpr std::uint32_t kNoSuch = 0x7fffff;
constexpr std::size_t kRing = 4096;
constexpr unsigned kPages = 1, kKlms = 2, kKsms = 3;  // access modes of keys

struct Parts {
  Owned<mlx5dv_devx_uar> uar{
      check(mlx5dv_devx_alloc_uar(Hca::instance().context(), MLX5DV_UAR_ALLOC_TYPE_BF), "uar")};
  QueueMemory ring{kRing}, records{4096};
  DevxEndpoint in_reset{{"", true, false, 64}, Options{}},
      in_init{{"", true, false, 64}, Options{}};
  Answer answer;

  Parts() { check_zero(in_init.to_init(), "to INIT"); }

  Command create_cq() const {
    Command in;
    return in.set(cmd::kOpcode, cmd::kCreateCq)
        .set(cqf::kUmemId, ring.id())
        .set(cqf::kDbrUmemId, records.id(), cqf::kContext)
        .set(cqf::kLogSize, 5, cqf::kContext)
        .set(cqf::kUarPage, uar->page_id, cqf::kContext)
        .set(cqf::kEqn, in_reset.eqn(), cqf::kContext);
  }
  Command create_qp() const {
    Command in;
    return in.set(cmd::kOpcode, cmd::kCreateQp)
        .set(qpf::kUmemId, ring.id())
        .set(qpf::kDbrUmemId, records.id(), qpf::kContext)
        .set(qpf::kPd, Hca::instance().pdn(), qpf::kContext)
        .set(qpf::kLogSqSize, 4, qpf::kContext)
        .set(qpf::kUarPage, uar->page_id, qpf::kContext)
        .set(qpf::kCqnSnd, in_reset.send_cqn(), qpf::kContext)
        .set(qpf::kRqType, 3, qpf::kContext);
  }

  // A key that consists of pieces of other keys, without the list of pieces.
  Command create_mkey(unsigned access_mode) const {
    Command in;
    return in.set(cmd::kOpcode, cmd::kCreateMkey)
        .set(mkf::kAccessMode, access_mode, mkf::kContext)
        .set(mkf::kPd, Hca::instance().pdn(), mkf::kContext)
        .set(mkf::kLogEntitySize, 12, mkf::kContext)
        .set64(mkf::kLength, 4096);
  }

  // Each returns the error number; `answer` has the firmware's reply.
  int create(const Command& in, std::size_t bytes = sizeof(Command::bytes)) {
    Owned<mlx5dv_devx_obj> made(mlx5dv_devx_obj_create(Hca::instance().context(), in.bytes.data(),
                                                       bytes, answer.bytes.data(),
                                                       answer.bytes.size()));
    return made ? 0 : errno;
  }
  int modify(DevxEndpoint& of, const Command& in) {
    const int error = of.modify(in);
    answer = of.answer();
    return error;
  }
  int general(const Command& in, std::size_t out_bytes = 16) {
    std::vector<std::uint8_t> out(out_bytes);
    const int error = mlx5dv_devx_general_cmd(Hca::instance().context(), in.bytes.data(), 16,
                                              out.data(), out_bytes);
    std::memcpy(answer.bytes.data(), out.data(), answer.bytes.size());
    return error;
  }
};

struct Row {
  const char* name;
  unsigned status;
  std::function<int(Parts&)> send;
};

// A row with one wrong field in the context of CREATE_CQ or CREATE_QP.
Row cq(const char* name, unsigned status, Bits field, std::uint32_t wrong) {
  return {name, status,
          [=](Parts& p) { return p.create(p.create_cq().set(field, wrong, cqf::kContext)); }};
}
Row qp(const char* name, unsigned status, Bits field, std::uint32_t wrong) {
  return {name, status,
          [=](Parts& p) { return p.create(p.create_qp().set(field, wrong, qpf::kContext)); }};
}
Command to_rtr(DevxEndpoint& of) {
  return of.command(cmd::kInit2Rtr).set(qpf::kMtu, 5, qpf::kContext);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"UnknownOperation", kBadOperation,
       [](Parts& p) { return p.general(Command().set(cmd::kOpcode, 0x7ff)); }},
      {"CapabilitiesIntoASmallBuffer", kBadOutputLength,
       [](Parts& p) { return p.general(Command().set(cmd::kOpcode, cmd::kQueryHcaCap)); }},
      {"ShortMailbox", kBadInputLength, [](Parts& p) { return p.create(p.create_qp(), 64); }},

      cq("CompletionQueueTooLong", kBadParameter, cqf::kLogSize, 23),
      cq("CompletionQueueOfOddEntries", kBadParameter, cqf::kCqeSize, 2),
      cq("CompletionQueueOfNoEventQueue", kBadParameter, cqf::kEqn, 0xee),
      cq("CompletionQueueOfNoDoorbellPage", kBadResource, cqf::kUarPage, kNoSuch),
      cq("CompletionQueueLongerThanItsMemory", kBadResource, cqf::kLogSize, 7),
      cq("CompletionQueueWithoutMemoryForItsRecord", kBadResource, cqf::kDbrUmemId, kNoSuch),
      {"CompletionQueueWithoutMemory", kBadResource,
       [](Parts& p) { return p.create(p.create_cq().set(cqf::kUmemId, kNoSuch)); }},
      {"CompletionQueueWithItsRecordOutside", kBadResource,
       [](Parts& p) { return p.create(p.create_cq().set64(cqf::kDbrAddr, 4096)); }},

      {"CompletionQueueBetweenPartsOfAPage", kBadParameter,
       [](Parts& p) { return p.create(p.create_cq().set64(cqf::kUmemOffset, 32)); }},

      qp("QueuePairOfAnotherService", kBadParameter, qpf::kService, 5),
      qp("QueuePairOfNoDomain", kBadResource, qpf::kPd, kNoSuch),
      qp("QueuePairOfNoDoorbellPage", kBadResource, qpf::kUarPage, kNoSuch),
      qp("QueuePairOfNoCompletionQueue", kBadResource, qpf::kCqnSnd, kNoSuch),
      qp("QueuePairOfNoSharedQueue", kBadResource, qpf::kRqType, 1),
      qp("QueuePairLongerThanItsMemory", kBadResource, qpf::kLogSqSize, 7),
      {"QueuePairWithoutMemory", kBadResource,
       [](Parts& p) { return p.create(p.create_qp().set(qpf::kUmemId, kNoSuch)); }},
      {"QueuePairWithItsRecordOutside", kBadResource,
       [](Parts& p) { return p.create(p.create_qp().set64(qpf::kDbrAddr, 4096)); }},

      {"QueuePairBetweenPartsOfAPage", kBadParameter,
       [](Parts& p) { return p.create(p.create_qp().set64(qpf::kUmemOffset, 32)); }},

      {"KeyOfNoEntries", kBadParameter, [](Parts& p) { return p.create(p.create_mkey(kKsms)); }},
      {"KeyOfMoreEntriesThanSent", kBadParameter,
       [](Parts& p) { return p.create(p.create_mkey(kKsms).set(mkf::kEntries, 2)); }},
      {"KeyOfNoDomain", kBadResource,
       [](Parts& p) {
         return p.create(p.create_mkey(kKsms).set(mkf::kPd, kNoSuch, mkf::kContext));
       }},

      {"TransitionThatSkipsAState", kBadResourceState,
       [](Parts& p) { return p.modify(p.in_reset, to_rtr(p.in_reset)); }},
      {"TransitionBeforeItsTime", kBadResourceState,
       [](Parts& p) { return p.modify(p.in_init, p.in_init.command(cmd::kRtr2Rts)); }},
      {"TransitionTwice", kBadResourceState,
       [](Parts& p) { return p.modify(p.in_init, p.in_init.command(cmd::kRst2Init)); }},
      {"TransitionToPort2", kBadParameter,
       [](Parts& p) {
         return p.modify(p.in_reset,
                         p.in_reset.command(cmd::kRst2Init).set(qpf::kPort, 2, qpf::kContext));
       }},
      {"TransitionToAFarPartition", kBadParameter,
       [](Parts& p) {
         return p.modify(p.in_reset,
                         p.in_reset.command(cmd::kRst2Init).set(qpf::kPkeyIndex, 1, qpf::kContext));
       }},
      {"TransitionWithoutAPacketSize", kBadParameter,
       [](Parts& p) { return p.modify(p.in_init, p.in_init.command(cmd::kInit2Rtr)); }},
      {"TransitionFromAFarAddress", kBadParameter,
       [](Parts& p) {
         return p.modify(p.in_init, to_rtr(p.in_init).set(qpf::kSrcAddrIndex, 99, qpf::kContext));
       }},
  };
  return all;
}

class FirmwareRefusals : public testing::TestWithParam<Row> {};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
INSTANTIATE_TEST_SUITE_P(Firmware, FirmwareRefusals, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

TEST_P(FirmwareRefusals, HaveTheirStatus) {
  Parts parts;
  EXPECT_EQ(GetParam().send(parts), EREMOTEIO);
  EXPECT_EQ(parts.answer.get(cmd::kStatus), GetParam().status);
  EXPECT_NE(parts.answer.get(cmd::kSyndrome), 0u);
}

// Hardware has such keys: EOPNOTSUPP tells the caller that the call itself is correct.
TEST(RefusedMailboxes, KeysThatAreNotEmulatedAreNotSupported) {
  Parts parts;
  EXPECT_EQ(parts.create(parts.create_mkey(kKlms)), EOPNOTSUPP);
  EXPECT_EQ(parts.create(parts.create_mkey(kPages)), EOPNOTSUPP);
}

TEST(RefusedMailboxes, AreCorrectBeforeTheyAreSpoilt) {
  Parts parts;
  EXPECT_EQ(parts.create(parts.create_cq()), 0);
  EXPECT_EQ(parts.create(parts.create_qp()), 0);
}

// An object that another one uses cannot be destroyed.
TEST(RefusedMailboxes, QueuesInUseAreNotDestroyed) {
  DevxEndpoint pair({"", true, false, 64}, Options{});
  EXPECT_NE(mlx5dv_devx_obj_destroy(pair.send_cq()), 0);
  check_zero(pair.to_init(), "the queue pair is whole");
}

TEST(RefusedMailboxes, MemoryOfAQueueIsNotGivenBack) {
  Parts parts;
  Owned<mlx5dv_devx_obj> queue(
      check(mlx5dv_devx_obj_create(Hca::instance().context(), parts.create_cq().bytes.data(),
                                   sizeof(Command::bytes), parts.answer.bytes.data(),
                                   parts.answer.bytes.size()),
            "CREATE_CQ"));
  EXPECT_EQ(mlx5dv_devx_umem_dereg(parts.ring.umem.get()), EBUSY);
  EXPECT_EQ(mlx5dv_devx_umem_dereg(parts.records.umem.get()), EBUSY);
}

// A program may allow large pages, as mlx5dv_devx_umem_reg does. A 64th of such a page may be more
// than 4096 bytes.
TEST(RefusedMailboxes, QueuesBeginAt64thsOfAPageOfTheirMemory) {
  constexpr std::size_t kLarge = 2 << 20;
  Parts parts;
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(kLarge, kLarge),
                                                      std::free);
  const auto registered = [&](std::uint64_t pages) {
    mlx5dv_devx_umem_in in{};
    in.addr = memory.get();
    in.size = kLarge;
    in.access = IBV_ACCESS_LOCAL_WRITE;
    in.pgsz_bitmap = pages;
    return Owned<mlx5dv_devx_umem>(mlx5dv_devx_umem_reg_ex(Hca::instance().context(), &in));
  };
  const auto cq_at = [&](const Owned<mlx5dv_devx_umem>& umem, std::uint64_t offset) {
    return parts.create(
        parts.create_cq().set(cqf::kUmemId, umem->umem_id).set64(cqf::kUmemOffset, offset));
  };
  const auto large = registered(~std::uint64_t{4095});
  ASSERT_TRUE(large);
  EXPECT_EQ(cq_at(large, 32 << 10), 0);
  EXPECT_EQ(cq_at(large, 4096), EREMOTEIO);
  EXPECT_EQ(parts.answer.get(cmd::kStatus), kBadParameter);
  const auto small = registered(4096);
  ASSERT_TRUE(small);
  EXPECT_EQ(cq_at(small, 4096), 0);
  EXPECT_FALSE(registered(kLarge * 2)) << "it is longer than the memory";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_FALSE(registered(2048 | 32)) << "no page of the device is so small";
  EXPECT_EQ(errno, EINVAL);
}

TEST(RefusedMailboxes, CompletionsNeedMemoryThatTheDeviceMayWrite) {
  Parts parts;
  Owned<mlx5dv_devx_umem> read_only(check(
      mlx5dv_devx_umem_reg(Hca::instance().context(), parts.ring.base, kRing, 0), "umem_reg"));
  EXPECT_EQ(parts.create(parts.create_cq().set(cqf::kUmemId, read_only->umem_id)), EREMOTEIO);
  EXPECT_EQ(parts.answer.get(cmd::kStatus), kBadResource);
  EXPECT_EQ(parts.create(parts.create_qp().set(qpf::kUmemId, read_only->umem_id)), 0);
}

// The kernel frees the page even if a queue pair uses it; later doorbells have no effect.
TEST(RefusedMailboxes, ADoorbellPageMayGoBeforeItsQueuePair) {
  Parts parts;
  Owned<mlx5dv_devx_obj> pair(
      check(mlx5dv_devx_obj_create(Hca::instance().context(), parts.create_qp().bytes.data(),
                                   sizeof(Command::bytes), parts.answer.bytes.data(),
                                   parts.answer.bytes.size()),
            "CREATE_QP"));
  parts.uar.reset();
  EXPECT_EQ(mlx5dv_devx_obj_destroy(pair.release()), 0);
}

}  // namespace
}  // namespace direct
