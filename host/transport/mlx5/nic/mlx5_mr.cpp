#include "host/transport/mlx5/nic/mlx5_mr.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <functional>

#include "host/errors/error.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::host::mlx5 {
namespace {

constexpr int kRemoteAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int kRelaxedAccess = kRemoteAccess | IBV_ACCESS_RELAXED_ORDERING;

// Kernels that do not know the flag ignore it, and verbs does not tell: where firmware cannot be
// asked, auto is strict.
bool wants_relaxed(const Device& device) {
  const NicOrdering ordering = device.options().ordering;
  return ordering == NicOrdering::kAuto ? device.capabilities().relaxed_ordering
                                        : ordering == NicOrdering::kRelaxed;
}

std::string locked_memory_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "unlimited";
  return fmt::format("{} KiB", limit.rlim_cur >> 10);
}

// A method to register the heap: `bytes` under the access flags given.
using Register = std::function<ibv_mr*(int access)>;

struct Keys {
  MemoryKey data, strict;
  bool is_relaxed = false;
  explicit operator bool() const { return data && (strict || !is_relaxed); }
};

// Leaves errno as the call that failed set it.
Keys register_heap(bool is_relaxed, const Register& make) {
  Keys keys;
  keys.is_relaxed = is_relaxed;
  keys.data.reset(make(is_relaxed ? kRelaxedAccess : kRemoteAccess));
  if (keys.data && is_relaxed) keys.strict.reset(make(kRemoteAccess));
  return keys;
}

constexpr char kGpuAdvice[] =
    "the GPU's memory needs dma-buf (Linux 5.12, the open NVIDIA kernel modules) or the module "
    "nvidia-peermem";

[[noreturn]] void fail_to_register(const std::string& tried, int error_number, bool is_host,
                                   std::size_t bytes) {
  std::string advice = fmt::format(
      "locked memory is bounded to {} (ulimit -l), which all registered memory counts "
      "against; raise it or make CHIME_SYMMETRIC_SIZE smaller",
      locked_memory_limit());
  if (!is_host) advice = std::string(kGpuAdvice) + "; " + advice;
  fail_nic(fmt::format("the symmetric heap ({} MiB) cannot be registered: {}", bytes >> 20, tried),
           error_number, advice);
}

}  // namespace

RegisteredHeap::RegisteredHeap(const Device& device, Gpu& gpu, const DeviceMemory& heap) {
  const bool is_relaxed = wants_relaxed(device);
  std::string tried;
  Keys keys;
  const DmaBuf exported = gpu.export_dma_buf(heap.address(), heap.bytes());
  const net::Descriptor dma_buf(exported.fd);
  if (dma_buf) {
    keys = register_heap(is_relaxed, [&](int access) {
      return rdma_core().ibv_reg_dmabuf_mr(device.pd(), 0, heap.bytes(), kStart, dma_buf.get(),
                                           access);
    });
    how_ = "dma-buf";
    if (!keys) tried = "by dma-buf: " + std::generic_category().message(errno) + "; ";
  } else if (!gpu.is_cpu()) {
    tried = "no dma-buf: " + exported.why_not + "; ";
  }
  if (!keys) {
    keys = register_heap(is_relaxed, [&](int access) {
      return rdma_core().ibv_reg_mr_iova2(device.pd(), heap.address(), heap.bytes(), kStart,
                                          static_cast<unsigned>(access));
    });
    how_ = gpu.is_cpu() ? "host memory" : "nvidia-peermem";
  }
  if (!keys) fail_to_register(tried + "by address", errno, gpu.is_cpu(), heap.bytes());
  if (is_relaxed) how_ += ", writes of data unordered";
  data_ = std::move(keys.data);
  strict_ = std::move(keys.strict);
}

MemoryKey register_buffer(const Device& device, Gpu& gpu, std::byte* memory, std::size_t bytes) {
  const auto start = reinterpret_cast<std::uint64_t>(memory);
  const DmaBuf exported = gpu.export_dma_buf(memory, bytes);
  const net::Descriptor dma_buf(exported.fd);
  MemoryKey key;
  if (dma_buf)
    key.reset(rdma_core().ibv_reg_dmabuf_mr(device.pd(), exported.offset, bytes, start,
                                            dma_buf.get(), IBV_ACCESS_LOCAL_WRITE));
  if (!key)
    key.reset(
        rdma_core().ibv_reg_mr_iova2(device.pd(), memory, bytes, start, IBV_ACCESS_LOCAL_WRITE));
  if (key) return key;
  const int error = errno;
  std::string why = error == EFAULT
                        ? "all of it must be there and writable"
                        : "locked memory is bounded to " + locked_memory_limit() +
                              " (ulimit -l), which all registered memory counts against";
  if (!gpu.is_cpu()) why = fmt::format("{}; {}", why, kGpuAdvice);
  fail_nic(
      fmt::format("{} bytes at {} cannot be registered", bytes, static_cast<const void*>(memory)),
      error, why);
}

}  // namespace chime::host::mlx5
