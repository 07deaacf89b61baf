// Memory of the user that requests may name, as kernels look it up (abi::NicBuffers,
// device/path/local_memory.cuh), also while it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "host/transport/channels/buffer_tables.hpp"

namespace chime::host {

class KnownBuffers {
 public:
  explicit KnownBuffers(std::unique_ptr<BufferTables> tables) : tables_(std::move(tables)) {}

  // Kernels know it until what is returned is destroyed. `key`: of a NIC, 0 where requests take
  // none. It overlaps no other. One call at a time. Throws Error if the GPU does not take it.
  class Known;
  std::unique_ptr<Known> add(const std::byte* memory, std::size_t bytes, std::uint32_t key);
  // Kernels know none of them any more, by one new table for all.
  void forget_all();

 private:
  struct Buffer {
    std::uint64_t end;
    std::uint32_t key;
  };

  void forget(std::uint64_t begin);
  void tell();
  void tell_if_possible();
  void use_filled();

  const std::unique_ptr<BufferTables> tables_;
  std::uint64_t generation_ = 0;         // of the table that was filled last
  bool is_used_ = true;                  // by kernels: the host's last write there succeeded
  std::map<std::uint64_t, Buffer> all_;  // by the first address
};

class KnownBuffers::Known {
 public:
  Known(KnownBuffers& all, std::uint64_t begin) : all_(all), begin_(begin) {}
  Known(const Known&) = delete;
  ~Known() { all_.forget(begin_); }

 private:
  KnownBuffers& all_;
  const std::uint64_t begin_;
};

}  // namespace chime::host
