// The same bytes against the structs and setters of the installed rdma-core. (It has no masked
// atomics and no DUMP: only vectors test those.)
#include <endian.h>
#include <gtest/gtest.h>
#include <infiniband/mlx5dv.h>

#include "bytes.hpp"
#include "chime/abi/wqe.h"

namespace chime::tests {
namespace {

using namespace abi;

// Values with all bytes different, to reveal a swapped pair.
constexpr std::uint64_t kAddress = 0x0102030405060708;
constexpr std::uint32_t kKey = 0x11121314, kQpn = 0x212223;

TEST(WqeAgainstMlx5dv, ControlSegment) {
  for (const std::uint8_t flags : {kCqeOnFirstError, kCqeAlways, kFenceReads}) {
    for (const unsigned index : {0u, 0x1234u, 0xffffu}) {
      mlx5_wqe_ctrl_seg theirs{};  // the function leaves two reserved bytes unchanged
      mlx5dv_set_ctrl_seg(&theirs, static_cast<std::uint16_t>(index), MLX5_OPCODE_RDMA_WRITE_IMM, 9,
                          kQpn, flags, 3, 0, htobe32(kKey));
      const WqeControl ours{WqeOpcode::kWriteImm, 3, flags, AtomicSize::k8, be32(kKey)};
      EXPECT_EQ(hex_of(control_segment(ours, index, be32(kQpn << 8))), hex_of(theirs));
    }
  }
}

TEST(WqeAgainstMlx5dv, RemoteAddress) {
  const mlx5_wqe_raddr_seg theirs{htobe64(kAddress), htobe32(kKey), 0};
  EXPECT_EQ(hex_of(remote_segment(kAddress, be32(kKey))), hex_of(theirs));
}

TEST(WqeAgainstMlx5dv, Data) {
  mlx5_wqe_data_seg theirs{};
  mlx5dv_set_data_seg(&theirs, 0x31323334, kKey, kAddress);
  EXPECT_EQ(hex_of(data_segment(0x31323334, be32(kKey), kAddress)), hex_of(theirs));
}

TEST(WqeAgainstMlx5dv, InlineHeader) {
  const mlx5_wqe_inl_data_seg theirs{htobe32(MLX5_INLINE_SEG | 28)};
  EXPECT_EQ(inline_segment(28, {}).word[0], theirs.byte_count);
}

TEST(WqeAgainstMlx5dv, Atomics) {
  const mlx5_wqe_atomic_seg swap{htobe64(kAddress), htobe64(kAddress + 1)};
  EXPECT_EQ(hex_of(compare_swap_segment(kAddress, kAddress + 1)), hex_of(swap));
  const mlx5_wqe_atomic_seg add{htobe64(kAddress), 0};
  EXPECT_EQ(hex_of(fetch_add_segment(kAddress)), hex_of(add));
}

TEST(WqeAgainstMlx5dv, Names) {
  EXPECT_EQ(int(WqeOpcode::kNop), int(MLX5_OPCODE_NOP));
  EXPECT_EQ(int(WqeOpcode::kWrite), int(MLX5_OPCODE_RDMA_WRITE));
  EXPECT_EQ(int(WqeOpcode::kRead), int(MLX5_OPCODE_RDMA_READ));
  EXPECT_EQ(int(WqeOpcode::kCompareSwap), int(MLX5_OPCODE_ATOMIC_CS));
  EXPECT_EQ(int(WqeOpcode::kFetchAdd), int(MLX5_OPCODE_ATOMIC_FA));
  EXPECT_EQ(int(WqeOpcode::kMaskedCompareSwap), int(MLX5_OPCODE_ATOMIC_MASKED_CS));
  EXPECT_EQ(int(WqeOpcode::kMaskedFetchAdd), int(MLX5_OPCODE_ATOMIC_MASKED_FA));
  EXPECT_EQ(int(kCqeAlways), int(MLX5_WQE_CTRL_CQ_UPDATE));
  EXPECT_EQ(int(kFenceReads), int(MLX5_WQE_CTRL_FENCE));
  EXPECT_EQ(int(CqeSyndrome::kFlushed), int(MLX5_CQE_SYNDROME_WR_FLUSH_ERR));
  EXPECT_EQ(int(CqeSyndrome::kTransportRetry), int(MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR));
}

TEST(CqeAgainstMlx5dv, WordsLieWhereTheirFieldsDo) {
  EXPECT_EQ(offsetof(mlx5_cqe64, wqe_counter), kCqeTailWord);
  EXPECT_EQ(offsetof(mlx5_cqe64, op_own), kCqeTailWord + 3u);
  EXPECT_EQ(offsetof(mlx5_cqe64, sop_drop_qpn), kCqeOpcodeWord);
  EXPECT_EQ(offsetof(mlx5_err_cqe, vendor_err_synd), kCqeSyndromeWord + 2u);
  EXPECT_EQ(offsetof(mlx5_err_cqe, syndrome), kCqeSyndromeWord + 3u);
  EXPECT_EQ(sizeof(mlx5_cqe64), kCqeBytes);
}

TEST(CqeAgainstMlx5dv, TailReadsAsTheirAccessorsDo) {
  mlx5_cqe64 cqe{};
  cqe.wqe_counter = htobe16(0xabcd);
  cqe.op_own = MLX5_CQE_REQ_ERR << 4 | 1;
  std::uint32_t word;
  std::memcpy(&word, reinterpret_cast<char*>(&cqe) + kCqeTailWord, sizeof word);
  EXPECT_EQ(int(cqe_tail(word).opcode), mlx5dv_get_cqe_opcode(&cqe));
  EXPECT_EQ(int(cqe_tail(word).owner), mlx5dv_get_cqe_owner(&cqe));
  EXPECT_EQ(cqe_tail(word).counter, 0xabcd);
}

}  // namespace
}  // namespace chime::tests
