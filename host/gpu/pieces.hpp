// Tables that kernels read, written by the host: laid out piece by piece, here and there.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// A table where the host writes it, and where it is read.
template <class T>
struct Piece {
  T* here;   // null: nobody writes it from here; it is zero at first
  T* there;  // for device code
};

// Hands out typed pieces of memory from front to back; without memory it only counts.
class Pieces {
 public:
  Pieces() = default;
  Pieces(std::byte* here, std::byte* there) : here_(here), there_(there) {}

  template <class T>
  Piece<T> take(std::size_t count) {
    const std::size_t at = (used_ + kLine - 1) & ~(kLine - 1);
    used_ = at + count * sizeof(T);
    return {here_ ? new (here_ + at) T[count]() : nullptr,
            there_ ? reinterpret_cast<T*>(there_ + at) : nullptr};
  }
  std::size_t used() const { return used_; }

  static constexpr std::size_t kLine = 128;

 private:
  std::byte* here_ = nullptr;
  std::byte* there_ = nullptr;
  std::size_t used_ = 0;
};

// Bytes that `take(pieces)` takes.
template <class Take>
std::size_t counted(Take take) {
  Pieces pieces;
  take(pieces);
  return pieces.used();
}

// Content for memory of the device that the host may be unable to touch.
class DeviceImage {
 public:
  explicit DeviceImage(DeviceMemory& memory)
      : memory_(memory), lines_((memory.bytes() + Pieces::kLine - 1) / Pieces::kLine) {}

  Pieces pieces() { return {lines_.front().bytes, memory_.address()}; }
  void copy_to_device(Gpu& gpu) const {
    gpu.copy(memory_.address(), lines_.front().bytes, memory_.bytes());
  }

 private:
  struct alignas(Pieces::kLine) Line {
    std::byte bytes[Pieces::kLine];
  };
  DeviceMemory& memory_;
  std::vector<Line> lines_;
};

}  // namespace chime::host
