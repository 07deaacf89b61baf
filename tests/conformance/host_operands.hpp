// The kinds of memory of an operand of a host call: it may name any memory of its PE.
#pragma once

#include <span>
#include <vector>

#include "support/world.hpp"

namespace chime::tests {

// The program's own memory, unregistered. The system may move each page.
class Pageable {
 public:
  explicit Pageable(std::size_t bytes) : bytes_(bytes) {}
  std::byte* data() { return bytes_.data(); }
  void write(std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }
  std::vector<std::byte> read() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

using OfDevice = Private<std::byte>;
using InHeap = Symmetric<std::byte>;

// Memory of the device that requests may name.
struct Registered : Private<std::byte> {
  explicit Registered(std::size_t bytes) : Private(bytes) {
    EXPECT_EQ(CHIMEX_OK, chimex_buffer_register(data(), bytes));
  }
  ~Registered() { EXPECT_EQ(CHIMEX_OK, chimex_buffer_unregister(data())); }
};

template <class M>
struct MemoryTag {
  using Memory = M;
};
// Calls body(MemoryTag<M>) for each kind. Collective, because memory in the heap is.
template <class Body>
void for_each_operand(Body body) {
  const auto run = [&]<class M>(const char* name, MemoryTag<M> tag) {
    SCOPED_TRACE(name);
    body(tag);
  };
  run("pageable memory", MemoryTag<Pageable>{});
  run("device memory", MemoryTag<OfDevice>{});
  run("the heap", MemoryTag<InHeap>{});
  run("a registered buffer", MemoryTag<Registered>{});
}

}  // namespace chime::tests
