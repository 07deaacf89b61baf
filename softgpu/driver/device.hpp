// The devices: as many as CHIME_SOFTGPU_DEVICES says, else one for each PE of the node. All of them
// run on this machine's processors, and divide half of its memory.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <mutex>

namespace softgpu::driver {

class Context;
class Pool;

class Device {
 public:
  Device(int ordinal, std::size_t bytes);
  ~Device();

  int ordinal() const { return ordinal_; }
  int attribute(CUdevice_attribute which) const;
  std::size_t total_bytes() const { return total_bytes_; }
  std::size_t free_bytes() const;

  // Counts memory as used. Fails with the driver's out-of-memory beyond total_bytes().
  void take(std::size_t bytes);
  void give_back(std::size_t bytes);

  Pool& pool() { return *pool_; }  // the memory of cuMemAlloc

  // ---- The primary context ----

  std::shared_ptr<Context> retain_primary();
  void release_primary();
  void reset_primary();
  bool primary_is_active() const;
  bool is_primary(const Context& context) const;

 private:
  const int ordinal_;
  const std::size_t total_bytes_;
  const std::unique_ptr<Pool> pool_;
  mutable std::mutex mutex_;
  std::size_t used_bytes_ = 0;
  std::shared_ptr<Context> primary_;
  int retained_ = 0;
};

// Fails if there is no device.
void initialise();
int device_count();

// Fails if no device has this number.
Device& device_of(CUdevice ordinal);

// The executor's limits, for all devices.
inline constexpr int kMaxBlockThreads = 1024, kWarpSize = 32;
inline constexpr std::size_t kSharedBytesWithoutAsking = 48 * 1024;
int multiprocessors();
int blocks_per_multiprocessor();
std::size_t most_shared_bytes();

}  // namespace softgpu::driver
