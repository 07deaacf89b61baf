#include "host/ops/memory/register_symmetric.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "host/errors/error.hpp"
#include "host/memory/lent_pages.hpp"
#include "host/ops/memory/own_part.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

[[noreturn]] void refuse(chimex_status code, const std::string& why) {
  throw Error("symmetric heap", code, why);
}

// A GPU's heap is one allocation of its driver, and a part of that cannot be mapped a second time.
void check_device(const Gpu& gpu) {
  if (!gpu.is_cpu())
    refuse(CHIMEX_ERR_UNSUPPORTED,
           fmt::format("memory of a program's own becomes symmetric on the CPU device alone; on a "
                       "GPU allocate it by {}",
                       spoken("chime_malloc")));
}

void check_flags(int flags) {
  if (flags != 0)
    refuse(CHIMEX_ERR_INVALID, fmt::format("there are no flags {:#x}; give 0", flags));
}

// A NIC may have pinned these pages; remapping them would leave it with the old ones.
void check_is_registered_nowhere(const DeviceStage& device, const Pages& pages) {
  device.registered_buffers.check_overlaps_none(pages.first, pages.bytes);
}

void check_is_lent(const DeviceStage& device, const void* address, std::size_t offset,
                   std::size_t bytes) {
  const LentPages* const lent = device.symmetric_buffers.at(offset);
  if (lent == nullptr)
    refuse(CHIMEX_ERR_INVALID, fmt::format("{} is not what {} returned", address,
                                           spoken("chimex_buffer_register_symmetric")));
  if (lent->pages().bytes != bytes)
    refuse(CHIMEX_ERR_INVALID, fmt::format("the buffer at {} has {} bytes, not {}", address,
                                           lent->pages().bytes, bytes));
  if (!lent->are_there())
    refuse(CHIMEX_ERR_INVALID,
           fmt::format("the buffer at {} that became symmetric was unmapped before {}",
                       static_cast<const void*>(lent->pages().first),
                       spoken("chimex_buffer_unregister_symmetric")));
  check_is_registered_nowhere(device, lent->pages());
}

}  // namespace

void* collective_register(void* buffer, std::size_t bytes, int flags) {
  const Pages pages = {static_cast<std::byte*>(buffer), bytes};
  SymmetricBuffers* lender = nullptr;  // null: nothing is lent
  std::size_t offset = 0;
  const auto lend = [&](DeviceStage& device, Taken& taken) {
    check_device(*device.gpu);
    check_flags(flags);
    check_is_registered_nowhere(device, pages);
    taken.take(bytes, page_bytes());
    offset = taken.place();
    device.symmetric_buffers.lend(pages,
                                  {taken.memory(), device.heap.memory()->share_fd(), offset});
    lender = &device.symmetric_buffers;
  };
  try {
    return meet_and_allocate(
        {CollectiveCall::Kind::kRegister, bytes, static_cast<std::uint64_t>(flags)}, lend);
  } catch (...) {
    if (lender != nullptr) lender->give_back(offset);
    throw;
  }
}

void collective_unregister(void* address, std::size_t bytes) {
  DeviceStage& device = device_for_a_call();
  const std::size_t offset = device.heap.offset_of(address).value_or(CollectiveCall::kOutside);
  OwnPart part;
  part.attempt([&] { check_is_lent(device, address, offset, bytes); });
  part.meet(*device.rendezvous, {CollectiveCall::Kind::kUnregister, offset, bytes}, 0);
  device.symmetric_buffers.give_back(offset);
  device.heap.free(offset);
}

}  // namespace chime::host
