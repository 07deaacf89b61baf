// Golden bytes: what device code writes into a send queue is what libmlx5 writes for the same
// request, but for listed differences; what libmlx5 cannot post is what the PRM describes, and what
// UCX posts. All of it is taken from traces of the softnic, whose strict mode is on.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "chime/device/path/nic/transfer.cuh"
#include "recording.hpp"

namespace chime::tests {

extern std::string trace_path;  // main.cpp

namespace {

constexpr std::size_t kHere = 0x1000, kThere = 0x8000, kWord = 0x4008;
constexpr std::uint32_t kBytes = 4096;
constexpr std::uint64_t kValue = 0x0102030405060708, kOther = 0x1112131415161718;
constexpr std::uint32_t kValue4 = 0x21222324, kOther4 = 0x31323334;
constexpr std::uint32_t kImmediate = 0x41424344;

std::uint64_t address_of(const std::uint64_t& value) {
  return reinterpret_cast<std::uint64_t>(&value);
}

void record_writes(Recording& recording) {
  TwoQueues& q = recording.queues();
  const auto put = [&](std::uint32_t bytes) {
    return [&q, bytes](const Context& d) {
      q.ops().put<1>(Thread{}, {q.at(kThere), q.at(kHere), bytes, Until::kLocal});
    };
  };
  const auto write = [&](std::uint32_t bytes, unsigned flags) {
    return TwoQueues::Request{IBV_WR_RDMA_WRITE,
                              q.address(kThere),
                              flags & IBV_SEND_INLINE ? q.strict_rkey() : q.data_rkey(),
                              q.address(kHere),
                              q.lkey(),
                              bytes,
                              flags};
  };
  recording.like_libmlx5("write 4096 B", {write(kBytes, 0)}, put(kBytes));
  for (std::uint32_t bytes = 1; bytes <= 28; ++bytes)
    recording.like_libmlx5("inline write " + std::to_string(bytes) + " B",
                           {write(bytes, IBV_SEND_INLINE)}, put(bytes));
  recording.like_libmlx5(
      "element of 8 B",
      {{IBV_WR_RDMA_WRITE, q.address(kWord), q.strict_rkey(), address_of(kValue), 0, 8,
        IBV_SEND_INLINE}},
      [&](const Context&) { q.ops().p(reinterpret_cast<std::uint64_t*>(q.at(kWord)), kValue); });
  recording.like_libmlx5(
      "read 4096 B",
      {{IBV_WR_RDMA_READ, q.address(kThere), q.data_rkey(), q.address(kHere), q.lkey(), kBytes}},
      [&](const Context&) {
        q.ops().get<1>(Thread{}, {q.at(kHere), q.at(kThere), kBytes, Until::kLocal});
      });
}

// Each lane puts its own element, and libmlx5 writes all of them from memory.
template <class Word>
void record_gathered(Recording& recording, unsigned lanes) {
  TwoQueues& q = recording.queues();
  const auto bytes = static_cast<std::uint32_t>(lanes * sizeof(Word));
  recording.like_libmlx5(
      std::to_string(lanes) + " elements of " + std::to_string(sizeof(Word)) + " B side by side",
      {{IBV_WR_RDMA_WRITE, q.address(kThere), q.strict_rkey(), q.address(kHere), q.lkey(), bytes,
        IBV_SEND_INLINE}},
      [&q](const Context&) {
        const auto* const here = reinterpret_cast<const Word*>(q.at(kHere)) + exec::lane_id();
        q.ops().p(reinterpret_cast<Word*>(q.at(kThere)) + exec::lane_id(), *here);
      },
      lanes);
}

void record_elements_of_warps(Recording& recording) {
  for (const unsigned lanes : {2u, 5u, 31u, 32u}) {
    record_gathered<std::uint8_t>(recording, lanes);
    record_gathered<std::uint16_t>(recording, lanes);
    record_gathered<std::uint32_t>(recording, lanes);
    record_gathered<std::uint64_t>(recording, lanes);
  }
}

// No operation of Chime's has an immediate: the format's own builders, handed in as kernels do it.
void record_immediate(Recording& recording) {
  TwoQueues& q = recording.queues();
  q.post_receives();
  recording.like_libmlx5("write with immediate (builders only)",
                         {{IBV_WR_RDMA_WRITE_WITH_IMM, q.address(kThere), q.data_rkey(),
                           q.address(kHere), q.lkey(), kBytes, 0, htobe32(kImmediate)}},
                         [&](const Context& ctx) {
                           nic::submit(
                               ctx, Thread{}, q.queue(), {.units = 1},
                               [&](const nic::QueueView& view, std::uint64_t index, bool is_last) {
                                 nic::Request request(view, index, is_last);
                                 request.remote(nic::remote_data(ctx, q.queue(), q.at(kThere)));
                                 request.data({q.address(kHere), htobe32(q.lkey()), true}, kBytes);
                                 request.end(abi::WqeOpcode::kWriteImm, abi::AtomicSize::kPlain,
                                             abi::be32(kImmediate));
                               });
                         });
}

void record_atomics(Recording& recording) {
  TwoQueues& q = recording.queues();
  const auto atomic = [&](ibv_wr_opcode opcode, std::uint64_t result, std::uint64_t compare_add,
                          std::uint64_t swap) {
    return TwoQueues::Request{
        opcode, q.address(kWord), q.strict_rkey(), result, q.result_lkey(), 8, 0, 0, compare_add,
        swap};
  };
  recording.like_libmlx5("fetch-add",
                         {atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, q.next_result(), kValue, 0)},
                         [&](const Context&) { q.fetch(q.at(kWord), nic::add_request(kValue)); });
  recording.like_libmlx5("add without a result",
                         {atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, q.sink(), kValue, 0)},
                         [&](const Context&) {
                           q.ops().amo(Amo<AmoOp::kAdd, std::uint64_t>{
                               reinterpret_cast<std::uint64_t*>(q.at(kWord)), kValue});
                         });
  recording.like_libmlx5(
      "compare-swap", {atomic(IBV_WR_ATOMIC_CMP_AND_SWP, q.next_result(), kOther, kValue)},
      [&](const Context&) { q.fetch(q.at(kWord), nic::compare_swap_request(kOther, kValue)); });
}

auto put_signal(TwoQueues& q, SignalOp op) {
  return [&q, op](const Context&) {
    auto* const word = reinterpret_cast<std::uint64_t*>(q.at(kWord));
    q.ops().put_signal<1>(Thread{}, {q.at(kThere), q.at(kHere), kBytes, Until::kLocal},
                          {word, kValue, op});
  };
}

void record_signals(Recording& recording) {
  TwoQueues& q = recording.queues();
  const TwoQueues::Request data{IBV_WR_RDMA_WRITE, q.address(kThere), q.data_rkey(),
                                q.address(kHere),  q.lkey(),          kBytes};
  recording.like_libmlx5("put_signal, set",
                         {data,
                          {IBV_WR_RDMA_WRITE, q.address(kWord), q.strict_rkey(), address_of(kValue),
                           0, 8, IBV_SEND_INLINE}},
                         put_signal(q, SignalOp::kSet));
  recording.like_libmlx5("put_signal, add",
                         {data,
                          {IBV_WR_ATOMIC_FETCH_AND_ADD, q.address(kWord), q.strict_rkey(), q.sink(),
                           q.result_lkey(), 8, 0, 0, kValue, 0}},
                         put_signal(q, SignalOp::kAdd));
}

// verbs have no masked atomics.
void record_masked(Recording& recording) {
  TwoQueues& q = recording.queues();
  using direct::Wqe;
  constexpr std::uint32_t kAll4 = 0xffffffff;
  constexpr std::uint64_t kAll8 = ~std::uint64_t{0};
  const auto masked = [&](std::uint8_t opcode, std::uint8_t size) {
    return Wqe(opcode, size).remote(q.at(kWord), q.strict_rkey());
  };
  const auto add4 = masked(direct::kMaskedFetchAdd, direct::kExtended4);
  const auto add8 = masked(direct::kMaskedFetchAdd, direct::kExtended8);
  const auto swap4 = masked(direct::kMaskedCompareSwap, direct::kExtended4);
  const auto swap8 = masked(direct::kMaskedCompareSwap, direct::kExtended8);
  const auto record = [&](const char* name, Wqe wqe, std::uint32_t bytes, const auto& atomic) {
    const auto* const result = reinterpret_cast<const void*>(q.next_result());
    recording.like_prm(name, {wqe.data(result, bytes, q.result_lkey())},
                       [&](const Context&) { q.fetch(q.at(kWord), atomic); });
  };
  record("masked fetch-add 4 B", Wqe(add4).u32(kValue4).u32(0).u64(0), 4,
         nic::add_request(kValue4));
  record("masked fetch-add 4 B, xor", Wqe(add4).u32(kValue4).u32(kAll4).u64(0), 4,
         nic::xor_request(kValue4));
  record("masked fetch-add 8 B, xor", Wqe(add8).u64(kValue).u64(kAll8), 8,
         nic::xor_request(kValue));
  record("masked compare-swap 4 B", Wqe(swap4).u32(kValue4).u32(kOther4).u32(kAll4).u32(kAll4), 4,
         nic::compare_swap_request(kOther4, kValue4));
  record("masked compare-swap 4 B, swap", Wqe(swap4).u32(kValue4).u32(0).u32(kAll4).u32(0), 4,
         nic::swap_request(kValue4));
  record("masked compare-swap 8 B, and", Wqe(swap8).u64(0).u64(0).u64(~kValue).u64(0), 8,
         nic::and_request(kValue));
  record("masked compare-swap 8 B, or", Wqe(swap8).u64(kValue).u64(0).u64(kValue).u64(0), 8,
         nic::or_request(kValue));
}

// ucx_perftest -x rc_mlx5 -t fadd|swap|cswap -s 4|8, taken by softnic-run --trace.
void record_like_ucx(Recording& recording) {
  TwoQueues& q = recording.queues();
  const auto record = [&](const char* name, const char* bytes, const auto& atomic) {
    recording.like_ucx(name, bytes, [&](const Context&) { q.fetch(q.at(kWord), atomic); });
  };
  record("UCX's fadd of 4 B",
         "08000515001041040000000800000000"
         "00007fe115c2b6a80000130000000000"
         "00000000000000000000000000000000"
         "00000004000014ab00007fbed996cf78",
         nic::add_request(std::uint32_t{0}));
  record("UCX's swap of 4 B",
         "08000514001041040000000800000000"
         "00007f83f021a0000000130000000000"
         "0000000000000000ffffffff00000000"
         "00000004000014ab00007fb32007af78",
         nic::swap_request(std::uint32_t{0}));
  record("UCX's cswap of 4 B",
         "08000514001041040000000800000000"
         "00007f0f0a61f1f80000130000000000"
         "0000000000000000ffffffffffffffff"
         "00000004000014ab00007f28e0fccf78",
         nic::compare_swap_request(std::uint32_t{0}, std::uint32_t{0}));
  record("UCX's swap of 8 B",
         "09000a14001041050000000800000000"
         "00007fc06ee1e1880000130000000000"
         "00000000000000000000000000000000"
         "ffffffffffffffff0000000000000000"
         "00000008000014ab00007fa4d0deff78",
         nic::swap_request(std::uint64_t{0}));
}

void record_the_rest(Recording& recording) {
  TwoQueues& q = recording.queues();
  using direct::Wqe;
  recording.like_prm("nop (builders only)", {Wqe(direct::kNop)}, [&](const Context& ctx) {
    nic::submit(ctx, Thread{}, q.queue(), {.units = 1},
                [&](const nic::QueueView& view, std::uint64_t index, bool is_last) {
                  nic::Request(view, index, is_last).end(abi::WqeOpcode::kNop);
                });
  });
  q.set_flags(abi::kNicUnorderedWrites | abi::kNicSwapsSignals);
  recording.like_prm("put_signal, set, where writes arrive in any order",
                     {Wqe(direct::kWrite)
                          .signalled(direct::Ce::kOnFirstError)
                          .remote(q.at(kThere), q.data_rkey())
                          .data(q.at(kHere), kBytes, q.lkey()),
                      Wqe(direct::kMaskedCompareSwap, direct::kExtended8)
                          .remote(q.at(kWord), q.strict_rkey())
                          .u64(kValue)
                          .u64(0)
                          .u64(~std::uint64_t{0})
                          .u64(0)
                          .data(reinterpret_cast<const void*>(q.sink()), 8, q.result_lkey())},
                     put_signal(q, SignalOp::kSet));
  q.set_flags(abi::kNicFlushReads);
  recording.like_prm(
      "read and dump",
      {Wqe(direct::kRead)
           .signalled(direct::Ce::kOnFirstError)
           .remote(q.at(kThere), q.data_rkey())
           .data(q.at(kHere), kBytes, q.lkey()),
       Wqe(direct::kDump).fenced(direct::Fence::kFenceAndSmall).data(q.at(kHere), 1, q.lkey())},
      [&](const Context&) {
        q.ops().get<1>(Thread{}, {q.at(kHere), q.at(kThere), kBytes, Until::kLocal});
      });
  q.set_flags(0);
}

class GoldenBytes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    recording = std::make_unique<Recording>(trace_path);
    record_writes(*recording);
    record_elements_of_warps(*recording);
    record_immediate(*recording);
    record_atomics(*recording);
    record_signals(*recording);
    record_masked(*recording);
    record_like_ucx(*recording);
    record_the_rest(*recording);
    all = recording->compared();
  }
  static void TearDownTestSuite() { recording.reset(); }

  static inline std::unique_ptr<Recording> recording;
  static inline std::vector<Compared> all;
};

TEST_F(GoldenBytes, AreTheReferencesButForListedDifferences) {
  for (const Compared& c : all) {
    std::printf("%s\n%s", c.name.c_str(),
                side_by_side(c.source, c.reference, c.ours, c.allowed).c_str());
    EXPECT_TRUE(compare(c.reference, c.ours, c.allowed).wrong.empty()) << c.name;
  }
  std::printf("\nallowed differences\n");
  for (const Allowance& a : kAllowances) std::printf("  %-8s %s\n", a.name, a.why);
  std::printf(
      "  %-8s %s\n", "doorbell",
      "libmlx5 stores the last request's first 8 bytes, Chime the next index: the NIC takes "
      "the queue pair's number");
}

// What is allowed to differ between the queues is right in each.
TEST_F(GoldenBytes, IndexAndQueuePairAreTheQueuesOwn) {
  const std::uint32_t qpn = recording->queues().qpn_of_chime();
  unsigned index = 0;
  for (const Compared& c : all) {
    EXPECT_EQ(c.ours[1] << 8 | c.ours[2], static_cast<int>(index)) << c.name;
    EXPECT_EQ(unsigned(c.ours[4] << 16 | c.ours[5] << 8 | c.ours[6]), qpn) << c.name;
    index += (c.ours[7] + 3u) / 4;
  }
}

// Every bit of every request is compared, or is one that may differ.
TEST_F(GoldenBytes, AnyOtherByteIsSeen) {
  for (const Compared& c : all) {
    std::size_t unseen = 0;
    for (std::size_t bit = 0; bit < 8 * c.ours.size(); ++bit) {
      Bytes wrong = c.ours;
      wrong[bit / 8] = static_cast<std::uint8_t>(wrong[bit / 8] ^ 1u << bit % 8);
      unseen += compare(c.reference, wrong, c.allowed).wrong.empty();
    }
    // 16 of the index, 24 of the queue pair, 1 of CE; beside UCX's, two addresses and two keys.
    const bool has_other_addresses = c.allowed.contains(Allow::kAddress);
    EXPECT_LE(unseen, 41u + (has_other_addresses ? 192u : 0u)) << c.name;
    Bytes shorter = c.ours;
    shorter.resize(c.ours.size() - 16);
    EXPECT_FALSE(compare(c.reference, shorter, c.allowed).wrong.empty()) << c.name;
  }
}

// One each, whatever the number of requests.
TEST_F(GoldenBytes, DoorbellsDifferInFormAlone) {
  const TwoQueues& q = recording->queues();
  const Seen theirs = recording->seen(q.qpn_of_libmlx5()), ours = recording->seen(q.qpn_of_chime());
  ASSERT_FALSE(theirs.doorbells.empty());
  const Bytes& first = theirs.requests[0];
  EXPECT_EQ(theirs.doorbells[0], Bytes(first.begin(), first.begin() + 8));
  const Bytes expected{0, 0, 1, 0, ours.requests[0][4], ours.requests[0][5], ours.requests[0][6],
                       0};
  EXPECT_EQ(ours.doorbells[0], expected);
  std::size_t calls = 0;
  for (const Compared& c : all) calls += c.name.find("(2 of ") == std::string::npos;
  EXPECT_EQ(ours.doorbells.size(), calls);
}

}  // namespace
}  // namespace chime::tests
