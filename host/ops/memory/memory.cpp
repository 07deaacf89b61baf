#include "host/ops/memory/memory.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "host/errors/error.hpp"
#include "host/ops/memory/own_part.hpp"
#include "host/pe/pe.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

constexpr std::size_t kDefaultAlignment = 512;

// Throws Error{INVALID} unless the heap can have it.
void check_alignment(std::size_t alignment) {
  if (!std::has_single_bit(alignment))
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is not a power of two", alignment));
  if (alignment > kHeapAlignment)
    throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                fmt::format("the alignment {} is larger than the heap's own, {}", alignment,
                            kHeapAlignment));
}

// The owner of an address that is not in this PE's heap, in words.
std::string owner_of(const Runtime& runtime, const void* address) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int pe = 0; pe < runtime.n_pes(); ++pe) {
    auto start = reinterpret_cast<std::uintptr_t>(runtime.device->peers.heap(pe));
    if (start != 0 && at >= start && at - start < runtime.device->heap.bytes())
      return fmt::format("in the mapped heap of PE {}; free the address that {} returned here", pe,
                         spoken("chime_malloc"));
  }
  return fmt::format("outside the symmetric heap; {} takes only what {} returned",
                     spoken("chime_free"), spoken("chime_malloc"));
}

}  // namespace

void* collective_malloc(std::size_t bytes) {
  return meet_and_allocate({CollectiveCall::Kind::kMalloc, bytes}, [&](DeviceStage&, Taken& taken) {
    taken.take(bytes, kDefaultAlignment);
  });
}

void* collective_calloc(std::size_t count, std::size_t bytes) {
  std::size_t total = 0;
  const bool overflows = __builtin_mul_overflow(count, bytes, &total);
  if (overflows) total = SIZE_MAX;
  // Clear when PEs meet: from there on others may write into it.
  return meet_and_allocate(
      {CollectiveCall::Kind::kCalloc, total}, [&](DeviceStage& device, Taken& taken) {
        if (overflows)
          throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                      fmt::format("{} elements of {} bytes overflow size_t", count, bytes));
        taken.take(total, kDefaultAlignment);
        if (taken.memory()) device.gpu->set(taken.memory(), 0, total);
      });
}

void* collective_align(std::size_t alignment, std::size_t bytes) {
  return meet_and_allocate({CollectiveCall::Kind::kAlign, bytes, alignment},
                           [&](DeviceStage&, Taken& taken) {
                             check_alignment(alignment);
                             taken.take(bytes, alignment);
                           });
}

void collective_free(void* address) {
  if (!address) return;
  DeviceStage& device = device_for_a_call();
  const std::size_t offset = device.heap.offset_of(address).value_or(CollectiveCall::kOutside);
  OwnPart part;
  part.attempt([&] {
    if (offset == CollectiveCall::kOutside)
      throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                  fmt::format("{} is {}", address, owner_of(current_runtime(), address)));
    device.heap.check_allocation(offset);
    if (device.symmetric_buffers.at(offset) != nullptr)
      throw Error("symmetric heap", CHIMEX_ERR_INVALID,
                  fmt::format("{} is a buffer of the program's own; {} gives it back", address,
                              spoken("chimex_buffer_unregister_symmetric")));
  });
  part.meet(*device.rendezvous, {CollectiveCall::Kind::kFree, offset}, 0);
  device.heap.free(offset);
}

}  // namespace chime::host
