// Memory of the user that the NIC may read and write in place: what chimex_buffer_register knows of
// a PE. Kernels look it up in abi::NicBuffers (device/path/nic/memory.cuh), also while it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "chime/abi/nic_memory.h"
#include "host/transport/mlx5/mlx5_transport.hpp"

namespace chime::host {

class RegisteredBuffers {
 public:
  // `heap`: what no buffer may overlap. `is_gpu`: its driver may wait for kernels. `nic` and
  // `told`: null without a NIC; then buffers are checked and remembered only.
  RegisteredBuffers(std::span<const std::byte> heap, bool is_gpu, Mlx5Transport* nic,
                    abi::NicBuffers* told);

  // From any thread. They throw Error.
  void add(std::byte* memory, std::size_t bytes);
  void remove(const std::byte* memory);
  void remove_all();

 private:
  struct Buffer {
    std::uint64_t end;
    std::unique_ptr<NicRegistration> registration;  // null without a NIC
  };
  using Sorted = std::map<std::uint64_t, Buffer>;  // by the first address

  std::unique_ptr<NicRegistration> make_known(std::byte* memory, std::size_t bytes);
  void check_is_free(std::uint64_t begin, std::uint64_t end) const;
  void tell();  // REQUIRES: mutex_

  const std::span<const std::byte> heap_;
  const bool is_gpu_;
  Mlx5Transport* const nic_;
  abi::NicBuffers* const told_;
  std::mutex mutex_;
  Sorted buffers_;
};

}  // namespace chime::host
