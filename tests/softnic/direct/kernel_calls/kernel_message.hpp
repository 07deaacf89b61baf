// A message to the kernel's uverbs interface, by hand: rdma-core does not send most wrong ones.
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "hca.hpp"

namespace direct {

class KernelMessage {
 public:
  KernelMessage(std::uint16_t object, std::uint16_t method) : object_(object), method_(method) {}

  // An attribute inside the message: a number, or with no length a handle or file descriptor.
  KernelMessage& number(unsigned id, std::uint64_t value, unsigned bytes = 8) {
    ib_uverbs_attr& a = attribute(id);
    a.len = static_cast<std::uint16_t>(bytes);
    a.data = value;
    return *this;
  }
  KernelMessage& handle(unsigned id, std::uint64_t value) { return number(id, value, 0); }
  // An attribute behind a pointer; it must live until send().
  KernelMessage& pointer(unsigned id, const void* at, std::size_t bytes) {
    return number(id, reinterpret_cast<std::uint64_t>(at), static_cast<unsigned>(bytes));
  }
  template <class T>
  KernelMessage& structure(unsigned id, const T& value) {
    static_assert(sizeof value > 8, "the message itself holds shorter ones");
    return pointer(id, &value, sizeof value);
  }
  KernelMessage& without(unsigned id) {
    std::erase_if(attributes_, [id](const ib_uverbs_attr& a) { return a.attr_id == id; });
    return *this;
  }

  // The attribute itself, which the message must have.
  ib_uverbs_attr& raw(unsigned id) { return *find(id); }
  // Adds the same attribute again.
  KernelMessage& twice(unsigned id) {
    attributes_.push_back(*find(id));
    return *this;
  }

  // 0, or the error number.
  int send() {
    const std::size_t list = attributes_.size() * sizeof(ib_uverbs_attr);
    std::vector<std::uint64_t> words((sizeof(ib_uverbs_ioctl_hdr) + list) / 8);
    auto* header = reinterpret_cast<ib_uverbs_ioctl_hdr*>(words.data());
    header->length = static_cast<std::uint16_t>(sizeof *header + list + excess);
    header->object_id = object_;
    header->method_id = method_;
    header->num_attrs = static_cast<std::uint16_t>(attributes_.size());
    header->reserved1 = reserved1;
    header->driver_id = driver;
    if (list) std::memcpy(header->attrs, attributes_.data(), list);
    const int error =
        ::ioctl(Hca::instance().context()->cmd_fd, RDMA_VERBS_IOCTL, header) ? errno : 0;
    if (list) std::memcpy(attributes_.data(), header->attrs, list);
    return error;
  }

  // The value of attribute `id`: after send(), a handle from the kernel.
  std::uint64_t value(unsigned id) { return find(id)->data; }

  std::size_t excess = 0;       // of the length in the header over the true one
  std::uint64_t reserved1 = 0;  // of the header
  std::uint32_t driver = RDMA_DRIVER_MLX5;

 private:
  std::vector<ib_uverbs_attr>::iterator find(unsigned id) {
    return std::ranges::find(attributes_, id, &ib_uverbs_attr::attr_id);
  }
  ib_uverbs_attr& attribute(unsigned id) {
    without(id);
    attributes_.push_back({});
    attributes_.back().attr_id = static_cast<std::uint16_t>(id);
    return attributes_.back();
  }

  std::uint16_t object_, method_;
  std::vector<ib_uverbs_attr> attributes_;
};

// One of the older commands, which the kernel takes wrapped in a message. `in` must live until
// send(); command_answer then has the kernel's answer.
inline char command_answer[512];
template <class T>
KernelMessage write_command(std::uint32_t number, const T& in) {
  return KernelMessage(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE)
      .number(UVERBS_ATTR_WRITE_CMD, number)
      .structure(UVERBS_ATTR_CORE_IN, in)
      .pointer(UVERBS_ATTR_CORE_OUT, command_answer, sizeof command_answer);
}

}  // namespace direct
