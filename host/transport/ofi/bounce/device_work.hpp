// The host's work with its GPU's memory while kernels run: begun here, looked at by poll(), never
// waited for. By one thread.
//
//   out     copies from the device                 }  by its copy engines, and by what feeds its
//   in      copies to it, and words that are set   }  streams: they need no room among kernels
//   words   all other updates, by a kernel of one thread, behind all that `in` was given before
//
// Work that only kernels can do stands apart. A kernel of the program may leave no room for it, and
// may wait for a put or a signal that is set: these do not wait for that work.
//
// A queue has at most kWindow pieces of work: the driver's call for one too many would wait, and
// the proxy's thread with it. poll() begins later pieces, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "host/gpu/device_queue.hpp"
#include "host/transport/transport.hpp"

namespace chime::host::ofi {

class DeviceWork {
 public:
  // The next step when it is over: called by poll().
  using Then = std::function<void()>;

  // A stream takes some hundreds.
  static constexpr std::uint64_t kWindow = 128;

  using MakeQueue = std::function<std::unique_ptr<DeviceQueue>()>;
  explicit DeviceWork(const MakeQueue& make) : out_{make()}, in_{make()}, words_{make()} {}

  void copy_out(std::byte* to, const std::byte* from, std::size_t bytes, Then then) {
    out_.give([=](DeviceQueue& queue) { queue.copy(to, from, bytes); }, std::move(then));
  }
  void copy_in(std::byte* to, const std::byte* from, std::size_t bytes, Then then) {
    in_.give([=](DeviceQueue& queue) { queue.copy(to, from, bytes); }, std::move(then));
  }
  // By one store of 4 or 8 bytes.
  void set(std::byte* word, std::uint64_t value, unsigned bytes, Then then) {
    in_.give([=](DeviceQueue& queue) { queue.set(word, value, bytes); }, std::move(then));
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
  bool is_idle() const {
    return out_.is_idle() && in_.is_idle() && words_.is_idle() && gathered_.empty();
  }

 private:
  struct Line {
    std::unique_ptr<DeviceQueue> queue;
    std::deque<std::pair<std::uint64_t, Then>> waiting = {};
    std::deque<std::pair<std::function<void(DeviceQueue&)>, Then>> held = {};  // by the window
    std::uint64_t ended = 0;  // when it was last looked at

    template <class Work>
    void give(Work work, Then then) {
      if (!held.empty() || !has_room()) return held.push_back({work, std::move(then)});
      work(*queue);
      add(std::move(then));
    }
    void add(Then then) { waiting.emplace_back(queue->begun(), std::move(then)); }
    bool has_room() const { return queue->begun() - ended < kWindow; }
    std::uint64_t come() const { return queue->begun() + held.size(); }
    bool is_idle() const { return waiting.empty() && held.empty(); }
    // `look` is called before anybody learns which work has ended.
    bool poll(const std::function<void()>& look = [] {});
    void begin_held();
  };
  struct Gathered {
    UpdateCall::Update update;
    Then then;
    std::uint64_t behind;  // so much of `in`
  };

  void launch_updates();
  bool launch_some();
  void check_nic() const;

  Line out_, in_, words_;
  UpdateCall call_{};
  std::deque<Gathered> gathered_;  // for a launch
  std::uint64_t followed_ = 0;     // of `in`
  std::optional<Context> by_nic_;
};

}  // namespace chime::host::ofi
