#include "host/transport/channels/known_buffers.hpp"

#include <atomic>
#include <utility>

#include "chime/abi/wqe.h"

namespace chime::host {
namespace {

// Release: who reads the new word finds the generation that was in use before it (load_buffer in
// device/path/local_memory.cuh).
template <class T>
void put(T& word, T value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

std::unique_ptr<KnownBuffers::Known> KnownBuffers::add(const std::byte* memory, std::size_t bytes,
                                                       std::uint32_t key) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  all_[begin] = {begin + bytes, key};
  tell();
  return std::make_unique<Known>(*this, begin);
}

void KnownBuffers::forget(std::uint64_t begin) {
  if (all_.erase(begin) != 0) tell();
}

void KnownBuffers::forget_all() {
  if (!std::exchange(all_, {}).empty()) tell();
}

void KnownBuffers::tell() {
  const std::uint64_t next = told_.generation + 1;  // one thread at a time changes it
  abi::NicBufferTable& table = told_.tables[next % 2];
  std::uint64_t count = 0;
  for (const auto& [begin, buffer] : all_) {
    abi::NicBuffer& row = table.buffers[count++];
    put(row.begin, begin);
    put(row.end, buffer.end);
    put(row.nic, begin);
    put(row.lkey_be, abi::be32(buffer.key));
  }
  put(table.count, count);
  // Pairs with the acquire load in find_registered: the table is whole.
  put(told_.generation, next);
}

}  // namespace chime::host
