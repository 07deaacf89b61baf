// Registered memory for data of a GPU's streams that requests cannot name: the driver copies and a
// kernel posts, in the stream's order, so that the call waits for nothing.
//
// A room is lent to a stream whose thread had it last, or when its last user has passed it. So no
// stream waits for another, which may itself wait for a signal that the first one is to send. Where
// no room is free, kernels stage by themselves, more slowly (host/ops/gpu/by_kernel.hpp).
//
// A room is not lent any more if a given-up request may still read or write it: the kernel that
// moves the data finds out and sets the room's word. Earlier work of its stream still goes through
// the room, and may meet late data; by then the PE has an error to report.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "host/gpu/gpu.hpp"

namespace chime::host {

class StreamRooms {
 public:
  static constexpr std::size_t kRooms = 4;

  struct Lent {
    std::span<std::byte> memory;
    std::uint32_t* is_left;  // for the kernels that move (MoveCall::room_is_left)
  };

  // Divides `memory`, which is this PE's heap's, among them. `is_left`: a word for each, 0.
  StreamRooms(Gpu& gpu, std::span<std::byte> memory, std::span<std::uint32_t, kRooms> is_left);

  // Calls use(room), which gives `stream` work; the room is the stream's until it has passed that.
  // False, and nothing is done: none is free, or the stream is captured into a graph, which could
  // run at any time. From any thread.
  bool lend(NativeStream stream, const std::function<void(const Lent&)>& use);

 private:
  struct Room {
    Lent lent;
    std::unique_ptr<StreamMark> last_use;
    NativeStream stream = nullptr;
    std::thread::id thread = {};  // whose: the null stream is each thread's own
    bool is_taken = false;        // by a thread that gives its stream work
  };
  static bool may_be_lent(const Room& room);
  Room* take(NativeStream stream);
  void give_back(Room& room, NativeStream stream);

  Gpu& gpu_;
  std::mutex mutex_;
  std::vector<Room> rooms_;
};

}  // namespace chime::host
