#include "host/transport/channels/known_buffers.hpp"

#include <utility>
#include <vector>

#include "chime/abi/wqe.h"
#include "host/errors/error.hpp"

namespace chime::host {

std::unique_ptr<KnownBuffers::Known> KnownBuffers::add(const std::byte* memory, std::size_t bytes,
                                                       std::uint32_t key) {
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  auto known = std::make_unique<Known>(*this, begin);  // forgets it if it cannot be told
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
  told_->fill(generation_ + 1, rows);
  told_->use(++generation_);
}

// Where the GPU is lost, no kernel looks any more.
void KnownBuffers::tell_if_possible() {
  try {
    tell();
  } catch (const Error&) {
  }
}

}  // namespace chime::host
