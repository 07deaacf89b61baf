#include "host/memory/memory.hpp"

#include <fmt/format.h>

#include <bit>

#include "chime/abi/launch_status.h"
#include "host/errors/error.hpp"
#include "host/pe/init.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kDefaultAlignment = 512;
constexpr std::size_t kNotInHeap = ~std::size_t{0};

std::byte* meet_and_allocate(const CollectiveCall& call, std::size_t alignment) {
  exec::detail::tell_unseen_launch_errors();
  DeviceStage& device = *ready_runtime().device;
  device.rendezvous->meet(call);
  if (call.first == 0) return nullptr;
  return device.heap.allocate(call.first, alignment);
}

// Whose memory an address that is not in this PE's heap is, in words.
std::string owner_of(const Runtime& runtime, const void* address) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int pe = 0; pe < runtime.n_pes(); ++pe) {
    auto start = reinterpret_cast<std::uintptr_t>(runtime.device->peers.heap(pe));
    if (start != 0 && at >= start && at - start < runtime.device->heap.bytes())
      return fmt::format(
          "in the mapped heap of PE {}; free the address that chime_malloc returned here", pe);
  }
  return "outside the symmetric heap; chime_free takes only what chime_malloc returned";
}

}  // namespace

void* collective_malloc(std::size_t bytes) {
  return meet_and_allocate({CollectiveCall::Kind::kMalloc, bytes}, kDefaultAlignment);
}

void* collective_calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, bytes, &total))
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("{} elements of {} bytes overflow size_t", count, bytes));
  CollectiveCall call{CollectiveCall::Kind::kCalloc, total};
  std::byte* memory = meet_and_allocate(call, kDefaultAlignment);
  if (!memory) return nullptr;
  DeviceStage& device = *ready_runtime().device;
  device.gpu->set(memory, 0, total);
  // Nobody may write into it before it is clear everywhere.
  device.rendezvous->meet(call);
  return memory;
}

void* collective_align(std::size_t alignment, std::size_t bytes) {
  if (!std::has_single_bit(alignment))
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is not a power of two", alignment));
  if (alignment > kHeapAlignment)
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is larger than the heap's own, {}", alignment,
                            kHeapAlignment));
  return meet_and_allocate({CollectiveCall::Kind::kAlign, bytes, alignment}, alignment);
}

void collective_free(void* address) {
  if (!address) return;
  exec::detail::tell_unseen_launch_errors();
  Runtime& runtime = ready_runtime();
  DeviceStage& device = *runtime.device;
  std::size_t offset = device.heap.offset_of(address).value_or(kNotInHeap);
  if (offset == kNotInHeap)
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("{} is {}", address, owner_of(runtime, address)));
  device.rendezvous->meet({CollectiveCall::Kind::kFree, offset});
  device.heap.free(offset);
}

}  // namespace chime::host
