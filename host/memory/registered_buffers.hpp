// Memory of the user that the NIC may read and write in place: the buffers that a PE has passed to
// chimex_buffer_register. Each transport makes a buffer known by its own means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "host/transport/channels/known_buffers.hpp"
#include "host/transport/transport.hpp"

namespace chime::host {

class RegisteredBuffers {
 public:
  // `heap`: what no buffer may overlap. `is_gpu`: its driver may wait for kernels. `transports` may
  // still be added to; where none wants to know of them, buffers are checked and remembered only.
  RegisteredBuffers(std::span<const std::byte> heap, bool is_gpu, const Transports& transports);
  ~RegisteredBuffers() { remove_all(); }

  // Where kernels look them up. Before the first is added; null: nowhere. It outlives this.
  void tell_kernels_by(KnownBuffers* known) { known_ = known; }

  // From any thread. Throw Error.
  void add(std::byte* memory, std::size_t bytes);
  void remove(const std::byte* memory);
  void remove_all();
  bool holds(const void* memory, std::size_t bytes) const;
  // Throws Error{INVALID} that names the buffer, or the heap, that these bytes overlap.
  void check_overlaps_none(const std::byte* memory, std::size_t bytes) const;

 private:
  struct Buffer {
    std::uint64_t end;
    std::vector<std::unique_ptr<Registration>> registrations;
    std::unique_ptr<KnownBuffers::Known> known;  // last: nobody finds it when those above go
  };
  using Sorted = std::map<std::uint64_t, Buffer>;  // by the first address

  std::vector<std::unique_ptr<Registration>> register_at_transports(std::byte* memory,
                                                                    std::size_t bytes);
  Buffer make_known(std::byte* memory, std::size_t bytes);
  void check_is_free(std::uint64_t begin, std::uint64_t end) const;

  const std::span<const std::byte> heap_;
  const bool is_gpu_;
  const Transports& transports_;
  KnownBuffers* known_ = nullptr;
  mutable std::mutex mutex_;
  Sorted buffers_;
};

}  // namespace chime::host
