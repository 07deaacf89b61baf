// For the programs of this folder that have kernels: a GPU or a skip, results, and bounded waits.
#pragma once

#include "check.hpp"
#include "chime/device/exec/exec.cuh"

namespace chime::tests {

inline void need_gpu() {
  if (exec::device_count() == 0) skip(exec::last_error());
}

// A value that kernels write and the host reads afterwards.
template <class T>
class Result {
 public:
  Result() {
    CHIME_NEED(exec::device_malloc(reinterpret_cast<void**>(&device_), sizeof(T)) == CHIMEX_OK);
    const T zero{};
    CHIME_NEED(exec::copy(device_, &zero, sizeof(T)) == CHIMEX_OK);
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { exec::device_free(device_); }

  T* device() { return device_; }
  T read() const {
    T value{};
    const exec::Status status = exec::copy(&value, device_, sizeof(T));
    if (status != CHIMEX_OK) std::printf("%s\n", exec::last_error());
    CHIME_CHECK(status == CHIMEX_OK);
    return value;
  }

 private:
  T* device_ = nullptr;
};

inline constexpr std::uint64_t kPatienceNs = 5'000'000'000;

// Waits for `*word` to become `wanted`, acquiring; false after kPatienceNs.
CHIME_DEVICE bool await_word(const std::uint64_t* word, std::uint64_t wanted) {
  const std::uint64_t start = exec::clock_ns();
  while (exec::ld<exec::Order::kAcquire, exec::Scope::kSystem>(word) != wanted) {
    if (exec::clock_ns() - start > kPatienceNs) return false;
    exec::pause();
  }
  return true;
}

}  // namespace chime::tests
