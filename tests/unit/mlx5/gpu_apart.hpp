// A GPU whose memory the host cannot touch: a read or write there other than by copy() and set() is
// a segmentation fault. The CPU device does the rest.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <utility>

#include "host/errors/error.hpp"
#include "host/gpu/at_once_queue.hpp"
#include "host/gpu/factory.hpp"

namespace chime::host {

class GpuApart : public Gpu {
 public:
  struct Traits {
    bool orders_writes = true;
    bool can_be_registered = true;  // its memory, by a NIC
    bool maps_registers = true;     // of a NIC, for its kernels
  };
  explicit GpuApart(const Traits& traits) : traits_(traits) {}

  // A NIC registers only memory that it can reach, so the protection starts after that; later
  // allocations are protected from the start.
  void wall_off() {
    is_walled_ = true;
    for (const auto& [begin, memory] : all_) ::mprotect(begin, memory->bytes(), PROT_NONE);
  }
  // Whether this GPU owns the memory.
  bool holds(const void* at) const { return find(at) != nullptr; }

  std::string describe() const override { return "a GPU apart"; }
  bool is_cpu() const override { return false; }
  bool orders_device_writes() const override { return traits_.orders_writes; }
  bool kernels_reach(const void*) override { return true; }
  std::optional<ModuleVariable> find_variable(const ProgramModule&, const char*) override {
    return std::nullopt;
  }
  std::string pci_address() const override { return {}; }
  std::unique_ptr<DeviceMemory> allocate_heap(std::size_t bytes) override {
    return cpu_->allocate_heap(bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(int fd, std::size_t bytes) override {
    return cpu_->map_peer_heap(fd, bytes);
  }
  std::unique_ptr<DeviceMemory> map_peer_heap(const std::byte* handle, std::size_t n) override {
    return cpu_->map_peer_heap(handle, n);
  }
  std::unique_ptr<DeviceMemory> allocate_host_visible(std::size_t bytes) override {
    return cpu_->allocate_host_visible(bytes);
  }
  std::unique_ptr<DeviceMemory> allocate_device(std::size_t bytes) override {
    auto memory = std::make_unique<Apart>(*this, bytes);
    if (is_walled_ || !traits_.can_be_registered) ::mprotect(memory->address(), bytes, PROT_NONE);
    return memory;
  }
  std::unique_ptr<IoMapping> map_io_memory(std::byte* pages, std::size_t bytes) override {
    if (!traits_.maps_registers) throw Error("GPU", CHIMEX_ERR_SYSTEM, "no PeerMappingOverride");
    return cpu_->map_io_memory(pages, bytes);
  }
  DmaBuf export_dma_buf(const std::byte*, std::size_t) override {
    return {-1, "it has no dma-buf"};
  }
  void copy(void* dst, const void* src, std::size_t bytes) override {
    cpu_->copy(seen_by_the_gpu(dst), seen_by_the_gpu(src), bytes);
  }
  void set(void* dst, int byte, std::size_t bytes) override {
    cpu_->set(seen_by_the_gpu(dst), byte, bytes);
  }
  void signal(std::uint64_t* word, std::uint64_t value, bool add) override {
    void* const there = seen_by_the_gpu(static_cast<void*>(word));
    cpu_->signal(static_cast<std::uint64_t*>(there), value, add);
  }
  void launch(LibraryKernel kernel, void** arguments) override { cpu_->launch(kernel, arguments); }
  void copy_async(void* dst, const void* src, std::size_t n, NativeStream stream) override {
    cpu_->copy_async(dst, src, n, stream);
  }
  void signal_async(std::uint64_t* word, std::uint64_t value, bool add, NativeStream s) override {
    cpu_->signal_async(word, value, add, s);
  }
  void launch_async(LibraryKernel kernel, void** arguments, NativeStream stream) override {
    cpu_->launch_async(kernel, arguments, stream);
  }
  void host_call_async(void (*call)(void*), void* argument, NativeStream stream) override {
    cpu_->host_call_async(call, argument, stream);
  }
  void synchronize(NativeStream stream) override { cpu_->synchronize(stream); }
  bool is_captured(NativeStream) override { return false; }
  std::unique_ptr<StreamMark> make_mark() override { return cpu_->make_mark(); }
  std::unique_ptr<DeviceQueue> make_queue() override {
    return std::make_unique<AtOnceQueue>(*this);
  }
  bool wait_for_all_work(int pe, std::chrono::steady_clock::time_point deadline) override {
    return cpu_->wait_for_all_work(pe, deadline);
  }

 private:
  // Mapped twice: at the host's address, and at the GPU's own.
  class Apart final : public DeviceMemory {
   public:
    Apart(GpuApart& gpu, std::size_t bytes)
        : gpu_(gpu), bytes_(bytes), fd_(::memfd_create("chime-apart", MFD_CLOEXEC)) {
      if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) std::abort();
      address_ = map();
      inside_ = map();
      gpu_.all_[address_] = this;
    }
    ~Apart() override {
      gpu_.all_.erase(address_);
      ::munmap(address_, bytes_);
      ::munmap(inside_, bytes_);
      ::close(fd_);
    }
    std::byte* address() const override { return address_; }
    std::byte* inside() const { return inside_; }
    std::size_t bytes() const override { return bytes_; }
    int share_fd() const override { return -1; }
    const std::byte* fabric_handle() const override { return nullptr; }

   private:
    std::byte* map() const {
      return static_cast<std::byte*>(
          ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    }
    GpuApart& gpu_;
    const std::size_t bytes_;
    const int fd_;
    std::byte* address_ = nullptr;
    std::byte* inside_ = nullptr;
  };

  const Apart* find(const void* at) const {
    auto* const byte = static_cast<std::byte*>(const_cast<void*>(at));
    auto behind = all_.upper_bound(byte);
    if (behind == all_.begin()) return nullptr;
    const Apart* const memory = std::prev(behind)->second;
    return byte < memory->address() + memory->bytes() ? memory : nullptr;
  }
  template <class T>
  T* seen_by_the_gpu(T* at) const {
    const Apart* const memory = find(at);
    if (memory == nullptr) return at;
    return memory->inside() + (static_cast<const std::byte*>(at) - memory->address());
  }

  const Traits traits_;
  const std::unique_ptr<Gpu> cpu_ = open_simt_gpu();
  bool is_walled_ = false;
  std::map<std::byte*, Apart*> all_;
};

}  // namespace chime::host
