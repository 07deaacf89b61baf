// This process's device, opened once: context, protection domain, port, path to itself. Also memory
// that is registered with it.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace direct {

constexpr unsigned kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// Throws with `what` and the error number's text.
[[noreturn]] void throw_errno(const std::string& what, int error);
template <class T>
T* check(T* object, const char* what) {
  if (!object) throw_errno(what, errno);
  return object;
}
inline void check_zero(int error, const char* what) {
  if (error) throw_errno(what, error);
}

class Hca {
 public:
  Hca();
  ~Hca();
  Hca(const Hca&) = delete;

  ibv_context* context() const { return context_; }
  ibv_pd* pd() const { return pd_; }
  std::uint32_t pdn() const { return pdn_; }
  bool is_ethernet() const { return port_.link_layer == IBV_LINK_LAYER_ETHERNET; }
  const ibv_port_attr& port() const { return port_; }
  unsigned gid_index() const { return is_ethernet() ? 3 : 0; }  // RoCE v2 by IPv4
  const ibv_gid& gid() const { return gid_; }
  // The path from this port to itself.
  ibv_ah_attr path() const;
  // Bytes 12..47 of a WQE's address vector, as ibv_create_ah makes it for path().
  std::vector<std::uint8_t> address_vector() const;

  // The process's device: tests share it, as threads of a program do.
  static Hca& instance();

 private:
  ibv_context* context_;
  ibv_pd* pd_;
  std::uint32_t pdn_;
  ibv_port_attr port_{};
  ibv_gid gid_{};
};

// Page-aligned, zeroed, registered memory.
class Memory {
 public:
  explicit Memory(std::size_t bytes, unsigned access = kAllAccess, ibv_pd* pd = nullptr);
  ~Memory();
  Memory(const Memory&) = delete;

  std::uint8_t* at(std::size_t offset) const { return data_ + offset; }
  template <class T>
  T* as(std::size_t offset = 0) const {
    return reinterpret_cast<T*>(data_ + offset);
  }
  // A word that the NIC wrote. Call this after the completion that covers it.
  std::uint64_t word(std::size_t offset) const;
  void set_word(std::size_t offset, std::uint64_t value) const;
  std::uint32_t lkey() const { return mr_->lkey; }
  std::uint32_t rkey() const { return mr_->rkey; }
  std::size_t bytes() const { return bytes_; }
  std::span<std::uint8_t> span(std::size_t offset, std::size_t count) const {
    return {data_ + offset, count};
  }
  // Fills with pseudo-random bytes, different for each `seed`.
  void fill(std::size_t offset, std::size_t count, unsigned seed) const;

 private:
  std::size_t bytes_;
  std::uint8_t* data_;
  ibv_mr* mr_;
};

}  // namespace direct
