// One uverbs ioctl as the kernel sees it: a header, then attributes. Values of up to 8 bytes lie in
// the attribute itself, longer ones at its pointer.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "mappings.hpp"
#include "softnic/engine/gpu_memory.hpp"

namespace softnic {

// Pins memory for objects of the device, of the program or of a GPU. Returns 0, or EFAULT if there
// is none.
inline int pin(std::uint64_t start, std::uint64_t bytes, Use use, GpuHold& gpu) {
  if (!is_gpu_memory(start)) return can_pin(start, bytes, use) ? 0 : EFAULT;
  gpu = hold_gpu_memory(start, bytes);
  return gpu ? 0 : EFAULT;
}

class Message {
 public:
  explicit Message(ib_uverbs_ioctl_hdr* header) : header_(header) {}

  // 0, or the kernel's answer to a message that cannot be read. check_attributes() (attributes.hpp)
  // checks the memory that attributes point to.
  int check() const {
    const auto at = reinterpret_cast<std::uint64_t>(header_);
    if (!is_readable(at, sizeof *header_)) return EFAULT;
    if (header_->length > kLongest ||
        header_->length != sizeof *header_ + header_->num_attrs * sizeof(ib_uverbs_attr))
      return EINVAL;
    if (header_->reserved1 || header_->reserved2) return EPROTONOSUPPORT;
    if (header_->driver_id != RDMA_DRIVER_MLX5) return EINVAL;
    return is_readable(at, header_->length) ? 0 : EFAULT;
  }
  // Whether an answer could not be written.
  bool faulted() const { return faulted_; }

  std::span<const ib_uverbs_attr> attributes() const {
    return {header_->attrs, header_->num_attrs};
  }
  unsigned object() const { return header_->object_id; }
  unsigned method() const { return header_->method_id; }
  bool has(unsigned id) const { return find(id) != nullptr; }

  // The bytes of an input attribute; empty when it is absent.
  std::span<const std::byte> bytes(unsigned id) const {
    const ib_uverbs_attr* a = find(id);
    if (!a) return {};
    const void* at = a->len <= 8 ? static_cast<const void*>(&a->data) : pointer(a);
    return {static_cast<const std::byte*>(at), a->len};
  }

  // Whether an input attribute has only zeros after its first `known` bytes.
  bool is_zero_behind(std::size_t known, unsigned id) const {
    const auto all = bytes(id);
    const auto tail = all.subspan(std::min(known, all.size()));
    return std::ranges::all_of(tail, [](std::byte b) { return b == std::byte{}; });
  }

  // An input structure; filled with zeros if the program's is shorter.
  template <class T>
  T in(unsigned id) const {
    T value{};
    const auto from = bytes(id);
    if (!from.empty()) std::memcpy(&value, from.data(), std::min(sizeof value, from.size()));
    return value;
  }
  std::uint64_t number(unsigned id, std::uint64_t otherwise = 0) const {
    return has(id) ? in<std::uint64_t>(id) : otherwise;
  }

  // Handles and file descriptors lie in the data word for every `len`.
  std::uint32_t handle(unsigned id) const {
    return has(id) ? static_cast<std::uint32_t>(find(id)->data) : 0;
  }
  int fd(unsigned id) const { return has(id) ? static_cast<int>(find(id)->data_s64) : -1; }
  void set_handle(unsigned id, std::uint32_t handle) {
    if (ib_uverbs_attr* a = find(id)) a->data = handle;
  }
  void set_fd(unsigned id, int fd) {
    if (ib_uverbs_attr* a = find(id)) a->data_s64 = fd;
  }

  // Writes an output attribute: cuts what does not fit, and clears the rest.
  void out(unsigned id, const void* from, std::size_t size) {
    ib_uverbs_attr* a = find(id);
    if (!a || a->len == 0) return;
    std::vector<std::byte> answer(a->len);
    std::memcpy(answer.data(), from, std::min(size, answer.size()));
    if (copy_out(a->data, answer.data(), answer.size()))
      a->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    else
      faulted_ = true;
  }
  template <class T>
  void out(unsigned id, const T& value) {
    out(id, &value, sizeof value);
  }
  std::size_t out_size(unsigned id) const { return has(id) ? find(id)->len : 0; }

 private:
  static constexpr unsigned kLongest = 4096;

  static void* pointer(const ib_uverbs_attr* a) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(a->data));
  }
  ib_uverbs_attr* find(unsigned id) const {
    for (unsigned i = 0; i < header_->num_attrs; ++i)
      if (header_->attrs[i].attr_id == id) return &header_->attrs[i];
    return nullptr;
  }

  ib_uverbs_ioctl_hdr* header_;
  bool faulted_ = false;
};

}  // namespace softnic
