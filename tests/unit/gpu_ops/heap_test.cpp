// A heap in used memory.
#include "host/memory/heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chime/abi/context.h"
#include "gpu_on_cpu.hpp"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

TEST(Heap, ClearsWhatChimeKeepsInItAndNothingElse) {
  const std::unique_ptr<Gpu> gpu = open_gpu_on_cpu();
  const Heap heap(*gpu, std::size_t{1} << 20);
  const std::span memory(heap.base(), heap.bytes());
  const auto is = [](int byte) { return [=](std::byte b) { return b == std::byte(byte); }; };
  EXPECT_TRUE(std::ranges::all_of(memory.first(abi::kHeapReserved), is(0)));
  EXPECT_TRUE(std::ranges::all_of(memory.subspan(abi::kHeapReserved), is(kUsedBefore)));
}

// ---- Bounds of allocations ----------------------------------------------------------------------

using Rows = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

const abi::AllocationTable& table_in_use(const Heap& heap) {
  const abi::Allocations& all = *heap.known_allocations();
  return all.tables[all.generation % 2];
}

Rows known_to_kernels(const Heap& heap) {
  const abi::AllocationTable& table = table_in_use(heap);
  Rows rows;
  for (std::uint64_t i = 0; i < table.count; ++i)
    rows.emplace_back(table.rows[i].begin, table.rows[i].end);
  return rows;
}

class HeapWithBounds : public testing::Test {
 protected:
  HeapWithBounds() {
    room = heap.allocate_own(4096, 4096);
    heap.check_bounds(*gpu);
  }

  std::size_t offset(const std::byte* address) const { return *heap.offset_of(address); }
  std::string why(const std::byte* address, std::size_t bytes) const {
    EXPECT_FALSE(heap.is_in_bounds(address, bytes));
    return heap.why_out_of_bounds(address, bytes, 3);
  }

  std::unique_ptr<Gpu> gpu = open_gpu_on_cpu();
  Heap heap{*gpu, std::size_t{1} << 20};
  std::byte* room;
};

TEST_F(HeapWithBounds, TellsKernelsOfWhatTheProgramHas) {
  EXPECT_EQ(known_to_kernels(heap), Rows{}) << "Chime's own is nobody's object";
  const std::byte* const a = heap.allocate(100, 512);
  const std::pair of_a(offset(a), offset(a) + 100);
  EXPECT_EQ(known_to_kernels(heap), Rows{of_a}) << "what was asked for, not what was taken";
  const std::byte* const b = heap.allocate(8, 16);
  const std::pair of_b(offset(b), offset(b) + 8);
  EXPECT_EQ(known_to_kernels(heap), (Rows{of_a, of_b}));
  heap.take_back(b);
  EXPECT_EQ(known_to_kernels(heap), Rows{of_a});
  const std::byte* const c = heap.allocate(24, 16);
  heap.free(offset(a));
  EXPECT_EQ(known_to_kernels(heap), (Rows{{offset(c), offset(c) + 24}}));
}

TEST_F(HeapWithBounds, LeavesTheTableThatIsReadAlone) {
  const auto image = [](const abi::AllocationTable& table) {
    Rows rows{{table.count, 0}};
    for (std::size_t i = 0; i < 8; ++i) rows.emplace_back(table.rows[i].begin, table.rows[i].end);
    return rows;
  };
  std::vector<const std::byte*> all;
  for (const std::size_t bytes : {100, 200, 300}) {
    const abi::AllocationTable& read = table_in_use(heap);
    const Rows before = image(read);
    all.push_back(heap.allocate(bytes, 16));
    EXPECT_EQ(image(read), before) << "the table in use was written";
  }
  const abi::AllocationTable& read = table_in_use(heap);
  const Rows before = image(read);
  heap.free(offset(all[0]));
  EXPECT_EQ(image(read), before) << "the table in use was written";
}

TEST_F(HeapWithBounds, SaysWhichAllocationIsLeft) {
  const std::byte* const a = heap.allocate(100, 512);
  const std::byte* const b = heap.allocate(4096, 512);
  const std::string of_a =
      "allocation #1 of 100 bytes (at heap offset " + std::to_string(offset(a)) + ")";
  const std::string of_b =
      "allocation #2 of 4096 bytes (at heap offset " + std::to_string(offset(b)) + ")";
  const auto begins = [&](const std::byte* address, std::size_t bytes) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes") + " at heap + " +
           std::to_string(offset(address)) + " of PE 3 would ";
  };
  EXPECT_EQ(why(a, 101), begins(a, 101) + "end 1 byte after " + of_a +
                             "; allocate more, or move less (CHIME_CHECK=2)");
  EXPECT_EQ(why(a + 50, 4000), begins(a + 50, 4000) + "end 3950 bytes after " + of_a +
                                   "; allocate more, or move less (CHIME_CHECK=2)");
  EXPECT_EQ(why(a + 100, 1), begins(a + 100, 1) + "begin 0 bytes behind the end of " + of_a +
                                 "; is the index in its range? (CHIME_CHECK=2)");
  EXPECT_EQ(why(b - 8, 8), begins(b - 8, 8) + "begin 404 bytes behind the end of " + of_a +
                               "; is the index in its range? (CHIME_CHECK=2)");
  EXPECT_EQ(why(room, 8), begins(room, 8) +
                              "touch memory that is Chime's own; is the address that of an "
                              "allocation? (CHIME_CHECK=2)");
  EXPECT_EQ(why(heap.base(), 8), begins(heap.base(), 8) +
                                     "touch memory that is Chime's own; is the address that of an "
                                     "allocation? (CHIME_CHECK=2)");
  heap.free(offset(b));
  EXPECT_EQ(why(b + 8, 8), begins(b + 8, 8) + "touch " + of_b +
                               ", which is freed; free it after its last use (CHIME_CHECK=2)");
  heap.free(offset(a));
  EXPECT_EQ(why(b + 8192, 8), begins(b + 8192, 8) +
                                  "begin before the first allocation; is the address that of an "
                                  "allocation? (CHIME_CHECK=2)");
}

// Two allocations side by side are two.
TEST_F(HeapWithBounds, HoldsAnAllocationToItsLastByte) {
  const std::byte* const a = heap.allocate(32, 16);
  const std::byte* const b = heap.allocate(32, 16);
  ASSERT_EQ(a + 32, b);
  EXPECT_TRUE(heap.is_in_bounds(a, 32) && heap.is_in_bounds(b + 31, 1));
  EXPECT_FALSE(heap.is_in_bounds(a, 33) || heap.is_in_bounds(a + 31, 2));
  EXPECT_TRUE(heap.is_in_bounds(heap.base() + heap.bytes(), 1)) << "it is not in the heap";
}

TEST_F(HeapWithBounds, RefusesMoreAllocationsThanItsTableHolds) {
  heap.check_bounds(*gpu, 2);
  const std::byte* const a = heap.allocate(1, 1);
  heap.allocate(1, 1);
  EXPECT_EQ(known_to_kernels(heap).size(), 2u);
  try {
    heap.allocate(1, 1);
    FAIL() << "a third has its place in no table";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), CHIMEX_ERR_OUT_OF_MEMORY);
    EXPECT_NE(std::string(error.what()).find("2 allocations are the most"), std::string::npos);
  }
  EXPECT_EQ(known_to_kernels(heap).size(), 2u);
  heap.free(offset(a));
  EXPECT_EQ(offset(heap.allocate(1, 1)), offset(a));
}

TEST(HeapWithoutBounds, LetsAllOfItBeUsed) {
  const std::unique_ptr<Gpu> gpu = open_gpu_on_cpu();
  Heap heap(*gpu, std::size_t{1} << 20);
  const std::byte* const a = heap.allocate(32, 16);
  EXPECT_TRUE(heap.is_in_bounds(a, 33));
  EXPECT_EQ(heap.known_allocations(), nullptr);
}

}  // namespace
}  // namespace chime::host
