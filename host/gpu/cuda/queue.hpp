// A stream of the library's own, with events behind its work that are asked and never waited for.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "host/gpu/cuda/driver.hpp"
#include "host/gpu/cuda/library_kernels.hpp"
#include "host/gpu/device_queue.hpp"

namespace chime::host::cuda {

class Queue final : public DeviceQueue {
 public:
  // `kernels` outlive it. `writes_64_bits`: streams do.
  Queue(CUcontext context, const LibraryKernels& kernels, bool writes_64_bits);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() override;

  void copy(void* dst, const void* src, std::size_t bytes) override;
  void set(void* word, std::uint64_t value, unsigned bytes) override;
  void launch(LibraryKernel kernel, void** arguments) override;
  void follow(DeviceQueue& other) override;

  std::uint64_t begun() const override { return begun_; }
  std::uint64_t ended() override;

 private:
  // An event behind the first `upto` pieces of work.
  struct Mark {
    CUevent event;
    std::uint64_t upto;
  };
  static constexpr std::size_t kEvents = 16;

  void mark_new();

  const CUcontext context_;
  const LibraryKernels& kernels_;
  const bool writes_64_bits_;
  CUstream stream_ = nullptr;
  std::uint64_t begun_ = 0, marked_ = 0, ended_ = 0;
  std::vector<CUevent> free_;
  std::deque<Mark> marks_;
  CUevent gate_ = nullptr;  // what another queue waits for
};

}  // namespace chime::host::cuda
