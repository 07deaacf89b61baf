#include "host/transport/channels/known_buffers.hpp"

#include <utility>
#include <vector>

#include "chime/abi/wqe.h"
#include "host/errors/error.hpp"

namespace chime::host {

std::unique_ptr<KnownBuffers::Known> KnownBuffers::add(const std::byte* memory, std::size_t bytes,
                                                       std::uint32_t key) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  auto known =
      std::make_unique<Known>(*this, begin);  // forgets it if the kernels' table cannot be written
  all_[begin] = {begin + bytes, key};
  tell();
  return known;
}

void KnownBuffers::forget(std::uint64_t begin) {
  if (all_.erase(begin) != 0) tell_if_possible();
}

void KnownBuffers::forget_all() {
  if (!std::exchange(all_, {}).empty()) tell_if_possible();
}

void KnownBuffers::tell() {
  std::vector<abi::NicBuffer> rows;
  for (const auto& [begin, buffer] : all_)
    rows.push_back({begin, buffer.end, begin, abi::be32(buffer.key), 0});
  if (!is_used_) use_filled();
  tables_->fill(generation_ + 1, rows);
  ++generation_;
  use_filled();
}

// Fails where the GPU takes no write. It is tried again before the next table is filled, which may
// be the one in use until then.
void KnownBuffers::use_filled() {
  is_used_ = false;
  tables_->use(generation_);
  is_used_ = true;
}

// Where the GPU is lost, no kernel looks any more.
void KnownBuffers::tell_if_possible() {
  try {
    tell();
  } catch (const Error&) {
  }
}

}  // namespace chime::host
