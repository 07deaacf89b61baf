// Memory with an owner: symmetric arrays, and arrays that only this PE's device and host use.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "chime/chime.h"

namespace particles {

namespace exec = chime::exec;

// Reports a failed call of the platform layer.
inline void check(int status, const char* what) {
  if (status == CHIMEX_OK) return;
  const std::string why = chimex_last_error();
  throw std::runtime_error(fmt::format("{} failed: {}{}", what, chimex_status_string(status),
                                       why.empty() ? "" : " (" + why + ")"));
}

// Checks a call that waited for this PE's kernels: the call and the kernels must have succeeded. A
// kernel whose wait or put failed still completes, but its result is not the answer (a PE may have
// died).
inline void check_kernels(int status, const char* what) {
  check(status, what);
  chimex_async_error_t error;
  check(chimex_get_async_error(&error), "asking for the kernels' errors");
  if (error.status == CHIMEX_OK) return;
  throw std::runtime_error(
      fmt::format("PE {}: {}; its results are given up", chimex_host_my_pe(), error.message));
}

// Zeroed at the start. Construction and destruction are collective: every PE makes the same arrays
// in the same order.
template <class T>
class SymmetricArray {
 public:
  SymmetricArray() = default;
  explicit SymmetricArray(std::size_t count)
      : data_(static_cast<T*>(chime_calloc(count, sizeof(T)))) {
    if (data_ == nullptr) throw std::runtime_error(chimex_last_error());
  }
  SymmetricArray(SymmetricArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  SymmetricArray& operator=(SymmetricArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  // While an exception unwinds this PE, the other PEs may never come: then the end of the job frees
  // the heap.
  ~SymmetricArray() {
    if (data_ != nullptr && std::uncaught_exceptions() == 0) chime_free(data_);
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// Not cleared.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) { reserve(count); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) exec::device_free(data_);
  }

  // Makes room for `count` items; if it grows, the contents are lost.
  void reserve(std::size_t count, const char* items = "items") {
    if (count <= count_) return;
    if (data_ != nullptr) exec::device_free(std::exchange(data_, nullptr));
    void* address = nullptr;
    const int status = exec::device_malloc(&address, count * sizeof(T));
    if (status != CHIMEX_OK) {
      check(status,
            fmt::format("allocating device memory for {} {} of {} bytes", count, items, sizeof(T))
                .c_str());
    }
    data_ = static_cast<T*>(address);
    count_ = count;
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Copies between host and device; wait for the default stream.
template <class T>
void upload(T* to, const T* from, std::size_t count) {
  if (count > 0) check_kernels(exec::copy(to, from, count * sizeof(T)), "copying to the device");
}
template <class T>
void download(T* to, const T* from, std::size_t count) {
  if (count > 0) check_kernels(exec::copy(to, from, count * sizeof(T)), "copying from the device");
}

}  // namespace particles
