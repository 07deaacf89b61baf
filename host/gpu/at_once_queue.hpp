// The queue of a device whose work is done when a call returns.
#pragma once

#include "host/gpu/gpu.hpp"

namespace chime::host {

class AtOnceQueue final : public DeviceQueue {
 public:
  explicit AtOnceQueue(Gpu& gpu) : gpu_(gpu) {}  // which outlives it

  void copy(void* dst, const void* src, std::size_t bytes) override {
    gpu_.copy(dst, src, bytes);
    ++begun_;
  }
  void set(void* word, std::uint64_t value, unsigned bytes) override {
    if (bytes == sizeof value)
      gpu_.signal(static_cast<std::uint64_t*>(word), value, false);
    else
      gpu_.copy(word, &value, bytes);
    ++begun_;
  }
  void launch(LibraryKernel kernel, void** arguments) override {
    gpu_.launch(kernel, arguments);
    ++begun_;
  }
  void follow(DeviceQueue&) override {}

  std::uint64_t begun() const override { return begun_; }
  std::uint64_t ended() override { return begun_; }

 private:
  Gpu& gpu_;
  std::uint64_t begun_ = 0;
};

}  // namespace chime::host
