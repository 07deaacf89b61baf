// Memory of this PE in requests: whether it is registered, and where. Registered are the heap, and
// the program's buffers in a table that the host may change meanwhile.
#ifndef CHIME_DEVICE_PATH_LOCAL_MEMORY_CUH_
#define CHIME_DEVICE_PATH_LOCAL_MEMORY_CUH_

#include <cstddef>
#include <cstdint>

#include "chime/abi/context.h"
#include "chime/abi/nic_memory.h"
#include "chime/device/exec/exec.cuh"

namespace chime {

struct Local {
  std::uint64_t address;
  std::uint32_t lkey_be;
  bool is_known;  // registered; else it must be staged
};

// The same memory from `bytes` on.
CHIME_DEVICE Local advanced(const Local& local, std::uint64_t bytes) {
  return {local.address + bytes, local.lkey_be, local.is_known};
}

namespace detail {

CHIME_DEVICE bool holds(const abi::NicBuffer& buffer, std::uint64_t begin, std::size_t bytes) {
  return begin >= buffer.begin && begin < buffer.end && bytes <= buffer.end - begin;
}
CHIME_DEVICE Local place_in(const abi::NicBuffer& buffer, std::uint64_t begin) {
  return {buffer.nic + (begin - buffer.begin), buffer.lkey_be, true};
}

CHIME_DEVICE Local unknown() { return {0, 0, false}; }

// How many of a table's buffers begin at or before `begin`. Acquire: as in load_buffer, so that the
// count never includes a buffer beyond the table in use.
CHIME_DEVICE std::uint64_t count_before(const abi::NicBufferTable& table, std::uint64_t begin) {
  std::uint64_t low = 0, high = exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&table.count);
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (exec::ld<exec::Order::kRelaxed, exec::Scope::kSystem>(&table.buffers[middle].begin) <=
        begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Acquire: pairs with the release of the host when it fills a table that was in use before. A
// thread that reads one of the new words then finds the later generation
// (host/transport/channels/buffer_tables.cpp).
CHIME_DEVICE abi::NicBuffer load_buffer(const abi::NicBuffer& buffer) {
  return {exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&buffer.begin),
          exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&buffer.end),
          exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&buffer.nic),
          exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&buffer.lkey_be), 0};
}

// Looks among registered buffers. A buffer that is not found can always be staged, so only a found
// one must be right: the table must not have been refilled meanwhile.
CHIME_DEVICE_OUT_OF_LINE Local find_registered(const Context& ctx, std::uint64_t begin,
                                               std::size_t bytes) {
  constexpr int kLooks = 4;  // the host registers buffers during the search
  const abi::NicBuffers& all = *ctx.nic.buffers;
  for (int look = 0; look < kLooks; ++look) {
    // Pairs with the release of the host's step to a new table.
    const auto generation = exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(&all.generation);
    const abi::NicBufferTable& table = all.tables[generation % 2];
    const std::uint64_t before = count_before(table, begin);
    if (before == 0) return unknown();
    const abi::NicBuffer buffer = load_buffer(table.buffers[before - 1]);
    if (!holds(buffer, begin, bytes)) return unknown();
    if (exec::ld<exec::Order::kRelaxed, exec::Scope::kSystem>(&all.generation) == generation) {
      return place_in(buffer, begin);
    }
  }
  return unknown();
}

}  // namespace detail

CHIME_DEVICE Local find_local(const Context& ctx, const void* p, std::size_t bytes) {
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(p);
  if (detail::holds(ctx.nic.heap, begin, bytes)) return detail::place_in(ctx.nic.heap, begin);
  return detail::find_registered(ctx, begin, bytes);
}

}  // namespace chime

#endif  // CHIME_DEVICE_PATH_LOCAL_MEMORY_CUH_
