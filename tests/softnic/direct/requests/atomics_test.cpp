// Atomics: the new value in remote memory, and the byte order of the old value that comes back. The
// reference adds field by field, and shares no code with the softnic.

#include <random>

#include "routes.hpp"

namespace direct {
namespace {

constexpr int kRounds = 60;

// Adds the fields of two words: a set bit of `boundaries` is the last bit of its field.
std::uint64_t add_by_fields(std::uint64_t a, std::uint64_t b, std::uint64_t boundaries,
                            unsigned bits) {
  std::uint64_t sum = 0;
  for (unsigned first = 0; first < bits;) {
    unsigned last = first;
    while (last + 1 < bits && !(boundaries >> last & 1)) ++last;
    const unsigned width = last - first + 1;
    const std::uint64_t field = width == 64 ? ~0ull : (1ull << width) - 1;
    sum |= (((a >> first & field) + (b >> first & field)) & field) << first;
    first = last + 1;
  }
  return sum;
}

class Atomics : public Connected {
 protected:
  static constexpr std::size_t kWord = 64, kResult = 128;
  std::mt19937_64 random{7};

  // Runs one atomic on the remote word, which holds `before`; returns the value that comes back.
  std::uint64_t run8(Wqe& wqe, std::uint64_t before) {
    remote.set_word(kWord, before);
    complete(left, wqe.data(local.at(kResult), 8, local.lkey()));
    return local.word(kResult);  // host order: HCA capability 8B_endianness_mode
  }
  std::uint32_t run4(Wqe& wqe, std::uint32_t before, std::size_t at) {
    *remote.as<std::uint32_t>(at) = before;
    complete(left, wqe.data(local.at(kResult), 4, local.lkey()));
    return be32toh(*local.as<std::uint32_t>(kResult));  // extended atomics of 4 bytes: big-endian
  }
  Wqe on_word(std::uint8_t opcode, std::uint8_t opmod = 0) { return on(kWord, opcode, opmod); }
  Wqe on(std::size_t at, std::uint8_t opcode, std::uint8_t opmod) {
    return Wqe(opcode, opmod).remote(remote.at(at), remote.rkey());
  }
  // Masks of all kinds: none, all, bytes, anything.
  std::uint64_t some_mask() {
    switch (random() % 4) {
      case 0:
        return 0;
      case 1:
        return ~0ull;
      case 2:
        return 0xff00ff00ff00ff00ull;
      default:
        return random();
    }
  }
};
CHIME_OVER_ALL_ROUTES(Atomics);

TEST_P(Atomics, FetchAndAddEightBytes) {
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t before = random(), add = i % 3 ? random() : 1;
    EXPECT_EQ(run8(on_word(kFetchAdd).u64(add).u64(0), before), before);
    EXPECT_EQ(remote.word(kWord), before + add);
  }
}

TEST_P(Atomics, CompareAndSwapEightBytes) {
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t before = random(), swap = random();
    const std::uint64_t compare = i % 2 ? before : before ^ 1ull << random() % 64;
    EXPECT_EQ(run8(on_word(kCompareSwap).u64(swap).u64(compare), before), before);
    EXPECT_EQ(remote.word(kWord), compare == before ? swap : before);
  }
}

TEST_P(Atomics, MaskedFetchAndAddStopsCarriesAtBoundaries) {
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t before = random(), add = random(), boundaries = some_mask();
    EXPECT_EQ(run8(on_word(kMaskedFetchAdd, kExtended8).u64(add).u64(boundaries), before), before);
    EXPECT_EQ(remote.word(kWord), add_by_fields(before, add, boundaries, 64));
    const auto before4 = static_cast<std::uint32_t>(before), add4 = static_cast<std::uint32_t>(add);
    const auto boundaries4 = static_cast<std::uint32_t>(boundaries);
    EXPECT_EQ(run4(on_word(kMaskedFetchAdd, kExtended4).u32(add4).u32(boundaries4).u64(0), before4,
                   kWord),
              before4);
    EXPECT_EQ(*remote.as<std::uint32_t>(kWord), add_by_fields(before4, add4, boundaries4, 32));
  }
}

TEST_P(Atomics, MaskedCompareAndSwapLooksAndChangesThroughItsMasks) {
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t before = random(), swap = random(), swap_mask = some_mask(),
                        compare_mask = some_mask();
    const std::uint64_t compare =
        i % 2 ? (before & compare_mask) | (random() & ~compare_mask) : random();
    const bool matches = ((before ^ compare) & compare_mask) == 0;
    const std::uint64_t after = matches ? (before & ~swap_mask) | (swap & swap_mask) : before;
    EXPECT_EQ(run8(on_word(kMaskedCompareSwap, kExtended8)
                       .u64(swap)
                       .u64(compare)
                       .u64(swap_mask)
                       .u64(compare_mask),
                   before),
              before);
    EXPECT_EQ(remote.word(kWord), after);
    const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    const bool matches4 = low((before ^ compare) & compare_mask) == 0;
    EXPECT_EQ(run4(on_word(kMaskedCompareSwap, kExtended4)
                       .u32(low(swap))
                       .u32(low(compare))
                       .u32(low(swap_mask))
                       .u32(low(compare_mask)),
                   low(before), kWord),
              low(before));
    EXPECT_EQ(*remote.as<std::uint32_t>(kWord),
              matches4 ? low((before & ~swap_mask) | (swap & swap_mask)) : low(before));
  }
}

// The upper word of a pair has its own address, and its neighbour does not change.
TEST_P(Atomics, FourByteAtomicLeavesItsNeighbourAlone) {
  *remote.as<std::uint32_t>(kWord) = 0x01234567;
  *remote.as<std::uint32_t>(kWord + 8) = 0x89abcdef;
  EXPECT_EQ(
      run4(on(kWord + 4, kMaskedFetchAdd, kExtended4).u32(1).u32(0).u64(0), 0xffffffff, kWord + 4),
      0xffffffffu);
  EXPECT_EQ(*remote.as<std::uint32_t>(kWord), 0x01234567u);
  EXPECT_EQ(*remote.as<std::uint32_t>(kWord + 4), 0u);
  EXPECT_EQ(*remote.as<std::uint32_t>(kWord + 8), 0x89abcdefu);
  EXPECT_EQ(*local.as<std::uint32_t>(kResult + 4), 0u);  // four bytes of result, not eight
}

TEST_P(Atomics, CompletionSaysOpcodeAndBytes) {
  const Cqe eight =
      complete(left, on_word(kFetchAdd).u64(1).u64(0).data(local.at(kResult), 8, local.lkey()));
  EXPECT_EQ(eight.wqe_opcode(), kFetchAdd);
  EXPECT_EQ(eight.byte_count(), 8u);
  const Cqe four = complete(left, on_word(kMaskedFetchAdd, kExtended4)
                                      .u32(1)
                                      .u32(0)
                                      .u64(0)
                                      .data(local.at(kResult), 4, local.lkey()));
  EXPECT_EQ(four.wqe_opcode(), kMaskedFetchAdd);
  EXPECT_EQ(four.byte_count(), 4u);
}

// Two queue pairs add to one word at the same time: atomics of one NIC lose no addition.
TEST_P(Atomics, AtomicsOfTwoQueuePairsAddUp) {
  Pair other(route());
  constexpr int kBatches = 20, kBatch = 8;
  for (int i = 0; i < kBatches; ++i) {
    std::uint16_t last[2] = {};
    for (int n = 0; n < kBatch; ++n) {
      Endpoint* senders[2] = {&left, other.left.get()};
      for (int s = 0; s < 2; ++s)
        last[s] =
            senders[s]->sends.post(Wqe(kFetchAdd)
                                       .remote(remote.at(kWord), remote.rkey())
                                       .u64(s ? 0x10000 : 1)
                                       .u64(0)
                                       .data(local.at(kResult), 8, local.lkey())
                                       .signalled(n + 1 == kBatch ? Ce::kAlways : Ce::kOnError));
    }
    left.sends.ring_doorbell();
    other.left->sends.ring_doorbell();
    left.sent.retired(last[0]);
    other.left->sent.retired(last[1]);
  }
  EXPECT_EQ(remote.word(kWord), std::uint64_t{kBatches} * kBatch * 0x10001);
}

}  // namespace
}  // namespace direct
