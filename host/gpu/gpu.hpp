// The seam to the device that runs kernels: a GPU through the CUDA driver (cuda/cuda_gpu.cpp,
// loaded at run time) or the SIMT executor (simt_gpu.cpp). One object per PE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chime/abi/context.h"
#include "host/gpu/device_queue.hpp"
#include "host/gpu/library_kernel.hpp"
#include "host/gpu/stream_mark.hpp"

namespace chime::host {

// The alignment of a heap's first address, and so the largest alignment inside it: the granule of
// GPUs' address spaces, and a huge page.
inline constexpr std::size_t kHeapAlignment = std::size_t{2} << 20;

// Memory that other processes can map. Owns the mapping; frees it on destruction.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual std::byte* address() const = 0;
  virtual std::size_t bytes() const = 0;
  // A file descriptor that names this memory to another process (memfd, or a CUDA posix handle).
  // Borrowed. -1 when the memory travels by fabric handle instead.
  virtual int share_fd() const = 0;
  // The fabric handle (64 bytes) when share_fd() is -1.
  virtual const std::byte* fabric_handle() const = 0;
};

// The heaps of several GPUs at one address, for multimem instructions (device/coll/multimem.cuh).
// One PE creates it, the others join it. On destruction this PE's part ends.
class Multicast {
 public:
  virtual ~Multicast() = default;
  // Names it to the PEs that join. Borrowed.
  virtual int share_fd() const = 0;
  // This PE's GPU takes part.
  virtual void add_device() = 0;
  // Puts the heap of this PE there, whole, and returns the address at which kernels of its GPU
  // reach all heaps that are there. REQUIRES: all devices are added, else the driver waits.
  virtual std::byte* bind(const DeviceMemory& heap) = 0;
};

// Another device's registers, mapped so that kernels store to them. Unmaps on destruction.
class IoMapping {
 public:
  virtual ~IoMapping() = default;
  virtual std::byte* address() const = 0;  // for kernels
};

// Device memory as a descriptor that another device's driver can import.
struct DmaBuf {
  int fd = -1;               // the receiver closes it; -1 if there is none
  std::string why_not;       // then
  std::uint64_t offset = 0;  // of the memory in it: it holds whole pages
};

// A module that the program has loaded by the driver's API: a CUmodule or a CUlibrary.
struct ProgramModule {
  enum class Kind { kModule, kLibrary };
  Kind kind;
  void* handle;
};

// A variable of such a module, on the device.
struct ModuleVariable {
  std::byte* address;
  std::size_t bytes;
};

class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual std::string describe()
      const = 0;  // "CPU device (SIMT executor, 2 cores)" | "NVIDIA H200, driver ..."
  virtual bool is_cpu() const = 0;

  // Whether a kernel finds data that another device has written into this one's memory, once other
  // memory tells the kernel that the write was made. If not, the data may still be in transit.
  virtual bool orders_device_writes() const = 0;

  // "0000:81:00.0"; empty for the CPU.
  virtual std::string pci_address() const = 0;

  // Calls `body` with this the calling thread's current device, for the CUDA runtime too.
  virtual void with_device(const std::function<void()>& body) { body(); }

  // The symmetric heap: reserved, mapped at a multiple of kHeapAlignment and exportable. Throws
  // Error with the limit or variable to change.
  virtual std::unique_ptr<DeviceMemory> allocate_heap(std::size_t bytes) = 0;

  // Maps a peer's heap into this PE's address space. `fd` stays the caller's.
  virtual std::unique_ptr<DeviceMemory> map_peer_heap(int fd, std::size_t bytes) = 0;
  virtual std::unique_ptr<DeviceMemory> map_peer_heap(const std::byte* fabric_handle,
                                                      std::size_t bytes) = 0;

  // Lets this PE's device use the heap of another PE of this process at the address that PE mapped
  // it at.
  virtual void share_mapping(const DeviceMemory&) {}

  // Why the heap cannot be in a multicast of so many GPUs; empty: it can.
  virtual std::string why_no_multicast(const DeviceMemory& /*heap*/, unsigned /*gpus*/) {
    return "its device is the CPU, which has no multicast";
  }
  // For heaps of `bytes`, of so many GPUs. Throws Error, as its calls do. REQUIRES: nothing forbids
  // it. `fd`, of another PE's, stays the caller's.
  virtual std::unique_ptr<Multicast> create_multicast(std::size_t /*bytes*/, unsigned /*gpus*/) {
    return nullptr;
  }
  virtual std::unique_ptr<Multicast> join_multicast(int /*fd*/, std::size_t /*bytes*/) {
    return nullptr;
  }

  // Memory of the host that host and kernels both read and write coherently: what the host looks at
  // while kernels run. `address()` is valid on both sides.
  virtual std::unique_ptr<DeviceMemory> allocate_host_visible(std::size_t bytes) = 0;

  // Memory that kernels alone use while they run, near them; zero. The host reaches it by copy()
  // and set(): it could touch the CPU device's, but not a GPU's.
  virtual std::unique_ptr<DeviceMemory> allocate_device(std::size_t bytes) = 0;

  // Maps whole pages of a NIC's registers, which this process has mapped at `pages`, for kernels.
  // Throws Error saying what the driver needs.
  virtual std::unique_ptr<IoMapping> map_io_memory(std::byte* pages, std::size_t bytes) = 0;

  // Memory of the device, for a NIC to register.
  virtual DmaBuf export_dma_buf(const std::byte* memory, std::size_t bytes) = 0;

  // Whether kernels may load and store at `memory`. Kernels may not use pageable memory of the
  // host, nor all memory that copy() reaches.
  virtual bool kernels_reach(const void* memory) = 0;

  // The variable `name` of a module; none if it has no such one that can be seen. Throws Error
  // where the module is another's. The CPU device has no modules.
  virtual std::optional<ModuleVariable> find_variable(const ProgramModule& module,
                                                      const char* name) = 0;

  // Loads all kernels of a module now, or of the one that `kernel`, a CUfunction, is of. A driver
  // that loads each at its first launch may wait for kernels that run then, and these for it.
  // Throws Error saying why it cannot be; nothing where drivers load at once, or are none.
  virtual void load_kernels(const ProgramModule&) {}
  virtual void load_kernels_beside(void* /*kernel*/) {}

  // Copies between any two addresses this PE can reach; returns when done.
  virtual void copy(void* dst, const void* src, std::size_t bytes) = 0;
  virtual void set(void* dst, int byte, std::size_t bytes) = 0;
  // *address = value (or += value), atomically with kernels; returns when it is visible to the
  // whole system. Waits for no stream of the program.
  virtual void signal(std::uint64_t* address, std::uint64_t value, bool add) = 0;
  // Runs a kernel of the library; returns when it has ended. Waits for no stream of the program.
  // Only a GPU has them: for the CPU device, host code runs the same templates.
  virtual void launch(LibraryKernel kernel, void** arguments) = 0;

  // Stream-ordered work of this PE.
  virtual void copy_async(void* dst, const void* src, std::size_t bytes, NativeStream stream) = 0;
  // *address = value (or += value), after all work queued before it is visible to the whole system.
  virtual void signal_async(std::uint64_t* address, std::uint64_t value, bool add,
                            NativeStream stream) = 0;
  // The arguments are copied. See launch().
  virtual void launch_async(LibraryKernel kernel, void** arguments, NativeStream stream) = 0;
  virtual void host_call_async(void (*call)(void*), void* argument, NativeStream stream) = 0;
  virtual void synchronize(NativeStream stream) = 0;
  // Whether what it is given is recorded, for a graph, instead of run.
  virtual bool is_captured(NativeStream stream) = 0;
  // Null where the library has no kernels.
  virtual std::unique_ptr<StreamMark> make_mark() = 0;

  // For work that begins while kernels run. Made before any of them does.
  virtual std::unique_ptr<DeviceQueue> make_queue() = 0;

  // Waits until all that PE `pe` has queued on any stream has ended (on a GPU: all that the process
  // has). False if `deadline` came before. Throws nothing: what failed has ended.
  virtual bool wait_for_all_work(int pe, std::chrono::steady_clock::time_point deadline) = 0;
};

}  // namespace chime::host
