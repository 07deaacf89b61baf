// The memory of cuMemAlloc: pieces of one file of a device. Each is mapped at addresses of its own,
// with a faulting page after it. A file, so that other devices can map it (dma-buf).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace softgpu::driver {

class Device;
class Pool;

// Gives its memory back when it ends.
class PoolPiece {
 public:
  PoolPiece(Pool& pool, std::size_t offset, std::size_t bytes);
  PoolPiece(const PoolPiece&) = delete;
  ~PoolPiece();

  std::byte* address() const { return address_; }
  std::size_t offset() const { return offset_; }  // in the pool's file
  int fd() const;

 private:
  Pool& pool_;
  const std::size_t offset_, bytes_;  // whole pages
  std::byte* address_ = nullptr;
};

class Pool {
 public:
  explicit Pool(Device& device) : device_(device) {}
  Pool(const Pool&) = delete;
  ~Pool();

  // Not cleared: bytes that are read before they are written are not zero. Fails with
  // out-of-memory.
  std::shared_ptr<PoolPiece> allocate(std::size_t bytes);

 private:
  friend class PoolPiece;
  void open();  // REQUIRES: mutex_
  std::size_t take_room(std::size_t bytes);
  void give_back(std::size_t offset, std::size_t bytes);

  Device& device_;
  std::mutex mutex_;
  int fd_ = -1;
  std::map<std::size_t, std::size_t> free_;  // offset, bytes; neighbours are joined
};

}  // namespace softgpu::driver
