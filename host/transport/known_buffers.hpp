// Memory of the user that requests may name, as kernels look it up (abi::NicBuffers,
// device/path/local_memory.cuh), also while it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "chime/abi/nic_memory.h"
#include "host/transport/transport.hpp"

namespace chime::host {

class KnownBuffers {
 public:
  // `told` has room for abi::kNicMostBuffers in each of its tables.
  explicit KnownBuffers(abi::NicBuffers& told) : told_(told) {}

  // Kernels know it until what is returned is destroyed, and `registration` lives a little longer.
  // `key`: of a NIC, 0 where requests take none. It overlaps no other. One call at a time.
  std::unique_ptr<Registration> add(const std::byte* memory, std::size_t bytes, std::uint32_t key,
                                    std::unique_ptr<Registration> registration);
  // Kernels know none of them any more, by one new table for all.
  void forget_all();

 private:
  class Known;
  struct Buffer {
    std::uint64_t end;
    std::uint32_t key;
  };

  void forget(std::uint64_t begin);
  void tell();

  abi::NicBuffers& told_;
  std::map<std::uint64_t, Buffer> all_;  // by the first address
};

}  // namespace chime::host
