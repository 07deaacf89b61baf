#include "host/transport/mlx5/queues/mlx5_umem.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "host/errors/error.hpp"
#include "net/socket/descriptor.hpp"

namespace chime::host::mlx5 {
namespace {

#ifdef CHIME_HAS_DMA_BUF_UMEM

mlx5dv_devx_umem_in description_of(const Slab& slab) {
  mlx5dv_devx_umem_in in{};
  in.size = slab.bytes();
  in.access = IBV_ACCESS_LOCAL_WRITE;
  in.pgsz_bitmap = Slab::kPage;  // in a larger page queues may begin at few places only
  return in;
}

DevxUmem registered(const Device& device, mlx5dv_devx_umem_in in) {
  device_activity::allocates("mlx5dv_devx_umem_reg_ex");
  return DevxUmem(rdma_core().mlx5dv_devx_umem_reg_ex(device.context(), &in));
}

#endif

// Both return null with errno set if it cannot be had.
DevxUmem by_dma_buf([[maybe_unused]] const Device& device, [[maybe_unused]] const Slab& slab,
                    [[maybe_unused]] const DmaBuf& exported) {
#ifdef CHIME_HAS_DMA_BUF_UMEM
  if (rdma_core().mlx5dv_devx_umem_reg_ex != nullptr) {
    mlx5dv_devx_umem_in in = description_of(slab);
    in.addr = reinterpret_cast<void*>(exported.offset);
    in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
    in.dmabuf_fd = exported.fd;
    return registered(device, in);
  }
#endif
  errno = EOPNOTSUPP;  // rdma-core before 43
  return nullptr;
}

DevxUmem by_address(const Device& device, const Slab& slab) {
#ifdef CHIME_HAS_DMA_BUF_UMEM
  if (rdma_core().mlx5dv_devx_umem_reg_ex != nullptr) {
    mlx5dv_devx_umem_in in = description_of(slab);
    in.addr = slab.address();
    return registered(device, in);
  }
#endif
  return DevxUmem(rdma_core().mlx5dv_devx_umem_reg(device.context(), slab.address(), slab.bytes(),
                                                   IBV_ACCESS_LOCAL_WRITE));
}

}  // namespace

DevxUmem make_umem(const Device& device, const Slab& slab) {
  const DmaBuf exported = slab.export_dma_buf();
  const net::Descriptor dma_buf(exported.fd);
  std::string tried;
  DevxUmem umem;
  if (dma_buf) {
    umem = by_dma_buf(device, slab, exported);
    if (!umem) tried = "by dma-buf: " + std::generic_category().message(errno) + "; ";
  } else if (slab.place() == QueuePlace::kDevice) {
    tried = "no dma-buf: " + exported.why_not + "; ";
  }
  if (!umem) umem = by_address(device, slab);
  if (!umem)
    fail_nic(fmt::format("{} KiB of queue memory cannot be handed to the NIC: {}by address",
                         slab.bytes() >> 10, tried),
             errno,
             "see ulimit -l; the GPU's memory needs dma-buf (libchime built with rdma-core 43 or "
             "newer) or the module nvidia-peermem");
  return umem;
}

}  // namespace chime::host::mlx5
