// What the host of a PE does with its GPU's memory while kernels run: begun here, looked at by
// poll(), never waited for. By one thread.
//
//   out     copies from the device                 }  by its copy engines, and by what feeds its
//   in      copies to it, and words that are set   }  streams: they need no room among kernels
//   words   all other updates, by a kernel of one thread, behind all that `in` was given before
//
// What only kernels can do stands apart, so that a kernel of the program that leaves no room, and
// waits for a put or a signal that is set, is not waited for by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/gpu/device_queue.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::ofi {

class DeviceWork {
 public:
  // What follows when it is over: called by poll().
  using Then = std::function<void()>;

  using MakeQueue = std::function<std::unique_ptr<DeviceQueue>()>;
  explicit DeviceWork(const MakeQueue& make) : out_{make()}, in_{make()}, words_{make()} {}

  void copy_out(std::byte* to, const std::byte* from, std::size_t bytes, Then then) {
    out_.queue->copy(to, from, bytes);
    out_.add(std::move(then));
  }
  void copy_in(std::byte* to, const std::byte* from, std::size_t bytes, Then then) {
    in_.queue->copy(to, from, bytes);
    in_.add(std::move(then));
  }
  // By one store of 4 or 8 bytes.
  void set(std::byte* word, std::uint64_t value, unsigned bytes, Then then) {
    in_.queue->set(word, value, bytes);
    in_.add(std::move(then));
  }
  // `before`: where the device may write it; null: nobody wants it.
  void update(std::byte* word, const WordUpdate& update, std::uint64_t* before, Then then);

  // Words are updated by this PE's NIC from here on: by a kernel that has this context of kernels.
  // `scratch`: kScratchBytes that the device writes and the host reads; zero.
  static constexpr std::size_t kScratchBytes = 1024;
  void use_nic(const Context& kernels, std::byte* scratch);
  bool has_nic() const { return by_nic_.has_value(); }

  // Whether anything was over. Throws Error where the device, or the NIC, does nothing any more.
  bool poll();
  bool is_idle() const { return out_.is_idle() && in_.is_idle() && words_.is_idle() && !gathered_; }

 private:
  struct Line {
    std::unique_ptr<DeviceQueue> queue;
    std::deque<std::pair<std::uint64_t, Then>> waiting = {};

    void add(Then then) { waiting.emplace_back(queue->begun(), std::move(then)); }
    bool is_idle() const { return waiting.empty(); }
    // `look` is called before anybody is told of what has ended.
    bool poll(const std::function<void()>& look = [] {});
  };

  void launch_updates();
  void check_nic() const;

  Line out_, in_, words_;
  UpdateCall call_{};  // updates that go by one launch
  std::vector<Then> thens_;
  bool gathered_ = false;
  std::uint64_t followed_ = 0;  // of `in`
  std::optional<Context> by_nic_;
};

}  // namespace chime::host::ofi
