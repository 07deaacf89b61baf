// A file descriptor that closes itself.
#pragma once

#include <utility>

namespace chime::net {

class Descriptor {
 public:
  // The number in a child of fork(): a copy, or nothing (net/socket/fork.hpp makes such
  // descriptors).
  enum class InChild { kCopied, kReplaced };

  Descriptor() = default;
  explicit Descriptor(int fd, InChild in_child = InChild::kCopied) : fd_(fd), in_child_(in_child) {}
  Descriptor(Descriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), in_child_(other.in_child_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(in_child_, other.in_child_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
  InChild in_child_ = InChild::kCopied;
};

}  // namespace chime::net
