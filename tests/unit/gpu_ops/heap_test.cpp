// A heap in memory that was used before.
#include "host/memory/heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "chime/abi/context.h"
#include "gpu_on_cpu.hpp"

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

}  // namespace
}  // namespace chime::host
