#include "host/memory/stream_rooms.hpp"

#include <algorithm>
#include <atomic>

namespace chime::host {

StreamRooms::StreamRooms(Gpu& gpu, std::span<std::byte> memory,
                         std::span<std::uint32_t, kRooms> is_left)
    : gpu_(gpu), rooms_(kRooms) {
  const std::size_t bytes = memory.size() / kRooms;
  for (std::size_t i = 0; i < kRooms; ++i) {
    rooms_[i].lent = {memory.subspan(i * bytes, bytes), &is_left[i]};
    rooms_[i].last_use = gpu.make_mark();
  }
}

bool StreamRooms::may_be_lent(const Room& room) {
  return !room.is_taken && std::atomic_ref(*room.lent.is_left).load(std::memory_order_relaxed) == 0;
}

StreamRooms::Room* StreamRooms::take(NativeStream stream) {
  const std::lock_guard lock(mutex_);
  const auto was_its = [&](const Room& room) {
    return may_be_lent(room) && room.stream == stream && room.thread == std::this_thread::get_id();
  };
  auto found = std::ranges::find_if(rooms_, was_its);
  if (found == rooms_.end())
    // In this order: the kernel has set the word before its stream passes the mark.
    found = std::ranges::find_if(
        rooms_, [](const Room& room) { return room.last_use->is_reached() && may_be_lent(room); });
  if (found == rooms_.end()) return nullptr;
  found->is_taken = true;
  found->stream = stream;
  found->thread = std::this_thread::get_id();
  return &*found;
}

void StreamRooms::give_back(Room& room, NativeStream stream) {
  const std::lock_guard lock(mutex_);
  room.last_use->set(stream);
  room.is_taken = false;
}

// The stream may be another one under the handle of one that is gone: it waits, too. A room whose
// work the driver refused is not lent again.
bool StreamRooms::lend(NativeStream stream, const std::function<void(const Lent&)>& use) {
  if (gpu_.is_captured(stream)) return false;
  Room* const room = take(stream);
  if (room == nullptr) return false;
  room->last_use->hold(stream);
  use(room->lent);
  give_back(*room, stream);
  return true;
}

}  // namespace chime::host
