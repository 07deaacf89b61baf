// Work requests, completions and doorbells, byte by byte, against vectors: the first is a capture
// from libmlx5, the masked atomics and DUMP are derived from NVSHMEM, UCX and the PRM.
#include "chime/abi/wqe.h"

#include <gtest/gtest.h>

#include "bytes.hpp"

namespace chime::tests {
namespace {

using namespace abi;

constexpr std::uint32_t kQpn = 0x1bb;
constexpr std::uint32_t kQpnBe = be32(kQpn << 8);
constexpr std::uint64_t kRemote = 0x7fa66a1ee000, kLocal = 0x7ffa4ac3d000;
constexpr std::uint32_t kRkeyBe = be32(0x10ab), kLkeyBe = be32(0x12cd);

WqeSegment control(WqeOpcode opcode, std::uint8_t segments, AtomicSize size = AtomicSize::kPlain) {
  return control_segment({opcode, segments, kCqeAlways, size}, 0x25, kQpnBe);
}

constexpr char kRemoteBytes[] = "00 00 7f a6 6a 1e e0 00 00 00 10 ab 00 00 00 00\n";
constexpr char kResultBytes[] = "00 00 00 08 00 00 12 cd 00 00 7f fa 4a c3 d0 00";

// A whole atomic: control, remote address, operands, the address of the result.
std::string atomic(const char* head, std::initializer_list<const char*> operands) {
  std::string text = std::string(head) + "\n" + kRemoteBytes;
  for (const char* operand : operands) text += std::string(operand) + "\n";
  return text + kResultBytes;
}
WqeSegment remote() { return remote_segment(kRemote, kRkeyBe); }
WqeSegment result() { return data_segment(8, kLkeyBe, kLocal); }

TEST(Wqe, WriteIsWhatLibmlx5Wrote) {
  EXPECT_EQ(dump({control(WqeOpcode::kWrite, 3), remote(), data_segment(65536, kLkeyBe, kLocal)}),
            "00 00 25 08 00 01 bb 03 00 00 00 08 00 00 00 00\n"
            "00 00 7f a6 6a 1e e0 00 00 00 10 ab 00 00 00 00\n"
            "00 01 00 00 00 00 12 cd 00 00 7f fa 4a c3 d0 00");
}

TEST(Wqe, IndexHas16Bits) {
  EXPECT_EQ(dump({control_segment({WqeOpcode::kWrite, 3}, 0x5'fffe, kQpnBe)}),
            "00 ff fe 08 00 01 bb 03 00 00 00 00 00 00 00 00");
}

TEST(Wqe, FlagsAndImmediate) {
  const WqeControl control{.opcode = WqeOpcode::kWriteImm,
                           .segments = 3,
                           .flags = kCqeOnFirstError | kFenceReads,
                           .immediate_be = be32(0x01020304)};
  EXPECT_EQ(dump({control_segment(control, 0, kQpnBe)}),
            "00 00 00 09 00 01 bb 03 00 00 00 84 01 02 03 04");
}

TEST(Wqe, InlineDataFollowsItsLength) {
  const InlineData data = inline_data("abcdefgh");
  EXPECT_EQ(dump({inline_segment(8, data)}), "80 00 00 08 61 62 63 64 65 66 67 68 00 00 00 00");
  const InlineData most = inline_data("abcdefghijklmnopqrstuvwxyzAB");
  EXPECT_EQ(dump({inline_segment(28, most), inline_rest_segment(most)}),
            "80 00 00 1c 61 62 63 64 65 66 67 68 69 6a 6b 6c\n"
            "6d 6e 6f 70 71 72 73 74 75 76 77 78 79 7a 41 42");
}

TEST(Wqe, Read) {
  EXPECT_EQ(dump({control(WqeOpcode::kRead, 3)}),
            "00 00 25 10 00 01 bb 03 00 00 00 08 00 00 00 00");
}

TEST(Wqe, FetchAdd) {
  EXPECT_EQ(dump({control(WqeOpcode::kFetchAdd, 4), remote(), fetch_add_segment(1), result()}),
            atomic("00 00 25 12 00 01 bb 04 00 00 00 08 00 00 00 00",
                   {"00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00"}));
}

TEST(Wqe, CompareSwap) {
  EXPECT_EQ(dump({control(WqeOpcode::kCompareSwap, 4), remote(),
                  compare_swap_segment(0x0102030405060708, 0x1112131415161718), result()}),
            atomic("00 00 25 11 00 01 bb 04 00 00 00 08 00 00 00 00",
                   {"01 02 03 04 05 06 07 08 11 12 13 14 15 16 17 18"}));
}

TEST(Wqe, MaskedFetchAddOf4Bytes) {
  EXPECT_EQ(dump({control(WqeOpcode::kMaskedFetchAdd, 4, AtomicSize::k4), remote(),
                  masked_add4_segment(0x01020304, 0xffffffff), result()}),
            atomic("08 00 25 15 00 01 bb 04 00 00 00 08 00 00 00 00",
                   {"01 02 03 04 ff ff ff ff 00 00 00 00 00 00 00 00"}));
}

TEST(Wqe, MaskedFetchAddOf8Bytes) {
  EXPECT_EQ(dump({control(WqeOpcode::kMaskedFetchAdd, 4, AtomicSize::k8), remote(),
                  masked_add8_segment(5, ~0ull), result()}),
            atomic("09 00 25 15 00 01 bb 04 00 00 00 08 00 00 00 00",
                   {"00 00 00 00 00 00 00 05 ff ff ff ff ff ff ff ff"}));
}

TEST(Wqe, MaskedCompareSwapOf4Bytes) {
  EXPECT_EQ(
      dump({control(WqeOpcode::kMaskedCompareSwap, 4, AtomicSize::k4), remote(),
            masked_swap4_segment({0x01020304, 0x11121314, 0xffff0000, 0x0000ffff}), result()}),
      atomic("08 00 25 14 00 01 bb 04 00 00 00 08 00 00 00 00",
             {"01 02 03 04 11 12 13 14 ff ff 00 00 00 00 ff ff"}));
}

TEST(Wqe, MaskedCompareSwapOf8BytesTakesTwoWqebbs) {
  const MaskedSwap<std::uint64_t> swap{1, 2, ~0ull, 0};
  EXPECT_EQ(dump({control(WqeOpcode::kMaskedCompareSwap, 5, AtomicSize::k8), remote(),
                  masked_swap8_segment(swap), masked_swap8_masks_segment(swap), result()}),
            atomic("09 00 25 14 00 01 bb 05 00 00 00 08 00 00 00 00",
                   {"00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 02",
                    "ff ff ff ff ff ff ff ff 00 00 00 00 00 00 00 00"}));
  EXPECT_EQ(wqebbs_of(5), 2u);
  EXPECT_EQ(wqebbs_of(4), 1u);
}

TEST(Wqe, NopAndDump) {
  EXPECT_EQ(dump({control(WqeOpcode::kNop, 1)}), "00 00 25 00 00 01 bb 01 00 00 00 08 00 00 00 00");
  EXPECT_EQ(dump({control(WqeOpcode::kDump, 2), result()}),
            "00 00 25 23 00 01 bb 02 00 00 00 08 00 00 00 00\n"
            "00 00 00 08 00 00 12 cd 00 00 7f fa 4a c3 d0 00");
}

TEST(Doorbell, RecordAndRegisterHaveTheNextIndex) {
  EXPECT_EQ(hex_of(doorbell_record(0x26)), "00 00 00 26");
  EXPECT_EQ(hex_of(doorbell_record(0x1'0000)), "00 00 00 00");
  EXPECT_EQ(hex_of(doorbell_value(0x26, kQpnBe)), "00 00 26 00 00 01 bb 00");
  EXPECT_EQ(hex_of(doorbell_value(0x7'ffff, kQpnBe)), "00 ff ff 00 00 01 bb 00");
}

template <class Word>
Word word_of(std::initializer_list<unsigned char> bytes) {
  Word word;
  std::memcpy(&word, bytes.begin(), sizeof word);
  return word;
}

TEST(Cqe, TailHasCounterOpcodeAndOwner) {
  const CqeTail first = cqe_tail(word_of<std::uint32_t>({0x00, 0x25, 0x77, 0x00}));
  EXPECT_EQ(first.counter, 0x25);
  EXPECT_EQ(first.opcode, CqeOpcode::kRequest);
  EXPECT_FALSE(first.owner);
  const CqeTail error = cqe_tail(word_of<std::uint32_t>({0xff, 0xfe, 0x00, 0xd1}));
  EXPECT_EQ(error.counter, 0xfffe);
  EXPECT_TRUE(cqe_is_error(error.opcode));
  EXPECT_TRUE(error.owner);
  EXPECT_EQ(cqe_tail(~0u).opcode, CqeOpcode::kInvalid);
}

TEST(Cqe, SaysWhyARequestFailed) {
  const auto why = word_of<std::uint32_t>({0, 0, 0x88, 0x13});
  EXPECT_EQ(cqe_syndrome(why), CqeSyndrome::kRemoteAccess);
  EXPECT_EQ(cqe_vendor_error(why), 0x88);
  EXPECT_EQ(cqe_wqe_opcode(word_of<std::uint32_t>({0x08, 0x00, 0x01, 0xbb})), WqeOpcode::kWrite);
}

static_assert(be16(0x0102) == 0x0201 && be32(0x01020304) == 0x04030201);
static_assert(be64(0x0102030405060708) == 0x0807060504030201);

}  // namespace
}  // namespace chime::tests
