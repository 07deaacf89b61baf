#include "host/memory/registered_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chime/abi/nic_memory.h"
#include "host/errors/error.hpp"
#include "host/gpu/device_activity.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

[[noreturn]] void refuse(std::string why) {
  throw Error("registered buffers", CHIMEX_ERR_INVALID, std::move(why));
}

}  // namespace

RegisteredBuffers::RegisteredBuffers(std::span<const std::byte> heap, bool is_gpu,
                                     const Transports& transports)
    : heap_(heap), is_gpu_(is_gpu), transports_(transports) {}

// Where kernels run on a GPU its driver takes part, and a checked job knows them: refused then,
// before the driver lets it wait. Registering the CPU device's memory waits for no kernel.
std::vector<std::unique_ptr<Registration>> RegisteredBuffers::register_at_transports(
    std::byte* memory, std::size_t bytes) {
  std::vector<std::unique_ptr<Registration>> registrations;
  const auto posts = [](const auto& transport) { return transport->capabilities().posts; };
  if (std::ranges::none_of(transports_, posts)) return registrations;
  const device_activity::Harmless harmless;
  const std::string kernel = is_gpu_ ? device_activity::running_kernel() : std::string();
  if (!kernel.empty())
    refuse(fmt::format(
        "the kernel {} runs, and the GPU's driver may wait for it; synchronise first", kernel));
  for (const auto& transport : transports_)
    if (auto registration = transport->register_memory(memory, bytes))
      registrations.push_back(std::move(registration));
  return registrations;
}

RegisteredBuffers::Buffer RegisteredBuffers::make_known(std::byte* memory, std::size_t bytes) {
  Buffer buffer{.end = number(memory) + bytes,
                .registrations = register_at_transports(memory, bytes),
                .known = nullptr};
  std::uint32_t key = 0;
  for (const auto& registration : buffer.registrations) key |= registration->key();  // one has one
  if (known_) buffer.known = known_->add(memory, bytes, key);
  return buffer;
}

void RegisteredBuffers::check_is_free(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t heap_begin = number(heap_.data()), heap_end = heap_begin + heap_.size();
  if (begin < heap_end && end > heap_begin)
    refuse(
        fmt::format("{:#x}..{:#x} overlaps the symmetric heap, {:#x}..{:#x}, which is registered "
                    "already",
                    begin, end, heap_begin, heap_end));
  const auto behind = buffers_.lower_bound(end);
  if (behind == buffers_.begin()) return;
  const auto& [other, buffer] = *std::prev(behind);
  if (buffer.end > begin)
    refuse(
        fmt::format("{:#x}..{:#x} overlaps the registered buffer {:#x}..{:#x}; unregister that "
                    "first ({})",
                    begin, end, other, buffer.end, spoken("chimex_buffer_unregister")));
}

void RegisteredBuffers::check_overlaps_none(const std::byte* memory, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  check_is_free(number(memory), number(memory) + bytes);
}

void RegisteredBuffers::add(std::byte* memory, std::size_t bytes) {
  const std::uint64_t begin = number(memory);
  std::uint64_t end = 0;
  if (memory == nullptr) refuse("the address is null");
  if (bytes == 0) refuse(fmt::format("the buffer at {:#x} has no bytes", begin));
  if (__builtin_add_overflow(begin, bytes, &end))
    refuse(fmt::format("{} bytes at {:#x} pass the end of memory", bytes, begin));
  const std::lock_guard lock(mutex_);
  check_is_free(begin, end);
  if (buffers_.size() == abi::kNicMostBuffers)
    throw Error("registered buffers", CHIMEX_ERR_OUT_OF_MEMORY,
                fmt::format("{} are registered, which is the most; register few large ones, or "
                            "unregister some",
                            abi::kNicMostBuffers));
  buffers_.emplace(begin, make_known(memory, bytes));
}

void RegisteredBuffers::remove(const std::byte* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(number(memory));
  if (found == buffers_.end())
    refuse(fmt::format("no registered buffer begins at {:#x}; {} are registered", number(memory),
                       buffers_.size()));
  buffers_.erase(found);
}

bool RegisteredBuffers::holds(const void* memory, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  const auto behind = buffers_.upper_bound(number(memory));
  if (behind == buffers_.begin()) return false;
  const std::uint64_t end = std::prev(behind)->second.end;
  return number(memory) < end && bytes <= end - number(memory);
}

void RegisteredBuffers::remove_all() {
  const std::lock_guard lock(mutex_);
  if (known_) known_->forget_all();
  for (const auto& transport : transports_) transport->forget_all_memory();
  buffers_.clear();
}

}  // namespace chime::host
