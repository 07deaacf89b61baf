#include "host/transport/mlx5/view/buffers.hpp"

#include <atomic>
#include <utility>

#include "chime/abi/wqe.h"

namespace chime::host::mlx5 {
namespace {

// Release: who reads the new word finds the generation that was in use before it (load_buffer in
// device/path/nic/memory.cuh).
template <class T>
void put(T& word, T value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

}  // namespace

class Buffers::Known final : public Registration {
 public:
  Known(Buffers& all, std::uint64_t begin, MemoryKey key)
      : all_(all), begin_(begin), key_(std::move(key)) {}
  // Nobody finds it any more when the NIC forgets it.
  ~Known() override { all_.forget(begin_); }

 private:
  Buffers& all_;
  const std::uint64_t begin_;
  const MemoryKey key_;
};

std::unique_ptr<Registration> Buffers::add(const std::byte* memory, std::size_t bytes,
                                           MemoryKey key) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  all_[begin] = {begin + bytes, key->lkey};
  tell();
  return std::make_unique<Known>(*this, begin, std::move(key));
}

void Buffers::forget(std::uint64_t begin) {
  if (all_.erase(begin) != 0) tell();
}

void Buffers::forget_all() {
  if (!std::exchange(all_, {}).empty()) tell();
}

void Buffers::tell() {
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

}  // namespace chime::host::mlx5
