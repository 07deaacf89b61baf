// The kernel: protection domains, memory regions, address handles.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dma_buf.hpp"
#include "mappings.hpp"
#include "softnic/attach/identity.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/wire/path.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

// enum ib_uverbs_access_flags; the upper ones are hints, which an older kernel ignores.
constexpr std::uint32_t kAccessFlags =
    0x3f | IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
constexpr std::uint32_t kWritable =
    kLocalWrite | kRemoteWrite | kRemoteAtomic | IB_UVERBS_ACCESS_MW_BIND;
// For memory by a descriptor the kernel accepts fewer flags.
constexpr std::uint32_t kDmaBufFlags =
    kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic | IB_UVERBS_ACCESS_RELAXED_ORDERING;

bool is_possible(std::uint32_t access) {
  return !(access & (kRemoteWrite | kRemoteAtomic)) || access & kLocalWrite;
}
Use use_of(std::uint32_t access) { return access & kWritable ? Use::kWrite : Use::kRead; }

void log_region(const MemoryRegion& region, const char* kind) {
  SOFTNIC_LOG_AT(2, "softnic: region %#x%s: %llu bytes, access %#x\n", region.key, kind,
                 static_cast<unsigned long long>(region.bytes), region.access);
}
}  // namespace

int alloc_pd(Call& call) {
  const std::uint32_t pdn = call.device.add_pd();
  call.message.out(UVERBS_ATTR_CORE_OUT,
                   ib_uverbs_alloc_pd_resp{call.handles.add(Kind::kPd, pdn, call.file)});
  call.message.out(UVERBS_ATTR_UHW_OUT, mlx5_ib_alloc_pd_resp{pdn});
  return 0;
}

int dealloc_pd(Call& call) {
  const std::uint32_t pdn = call.named(Kind::kPd, UVERBS_ATTR_DESTROY_PD_HANDLE);
  if (pdn == 0) return call.refusal(UVERBS_ATTR_DESTROY_PD_HANDLE);
  if (call.device.is_pd_in_use(pdn) || call.handles.has(Kind::kAh, pdn)) return EBUSY;
  call.device.remove_pd(pdn);
  call.handles.remove(call.message.handle(UVERBS_ATTR_DESTROY_PD_HANDLE));
  return 0;
}

int reg_mr(Call& call) {
  const auto r = call.message.in<ib_uverbs_reg_mr>(UVERBS_ATTR_CORE_IN);
  MemoryRegion region;
  region.pd = call.number(Kind::kPd, r.pd_handle);
  region.start = r.start;
  region.bytes = r.length;
  region.iova = r.hca_va;
  region.access = r.access_flags;
  if (region.pd == 0) return EINVAL;
  if (region.access & ~kAccessFlags) return EINVAL;
  if (!is_possible(region.access)) return EINVAL;
  if (region.access & IB_UVERBS_ACCESS_ON_DEMAND) return EOPNOTSUPP;
  if (region.bytes == 0 || region.start + region.bytes < region.start) return EINVAL;
  if (region.start % kPageBytes != region.iova % kPageBytes) return EINVAL;
  if (const int error = pin(region.start, region.bytes, use_of(region.access), region.gpu))
    return error;
  const MemoryRegion* made = call.device.add_region(region);
  if (!made) return ENOMEM;
  const std::uint32_t key = made->key;
  log_region(*made, "");
  ib_uverbs_reg_mr_resp o{};
  o.mr_handle = call.handles.add(Kind::kRegion, key, call.file);
  o.lkey = o.rkey = key;
  call.message.out(UVERBS_ATTR_CORE_OUT, &o, 12);
  return 0;
}

int destroy_mr(Call& call) {
  const std::uint32_t key = call.named(Kind::kRegion, UVERBS_ATTR_DESTROY_MR_HANDLE);
  if (key == 0) return call.refusal(UVERBS_ATTR_DESTROY_MR_HANDLE);
  call.device.remove_region(key);
  call.handles.remove(call.message.handle(UVERBS_ATTR_DESTROY_MR_HANDLE));
  return 0;
}

int reg_dmabuf_mr(Call& call) {
  const Message& m = call.message;
  const std::uint64_t offset = m.number(UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
  MemoryRegion region;
  region.pd = call.named(Kind::kPd, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
  region.bytes = m.number(UVERBS_ATTR_REG_DMABUF_MR_LENGTH);
  region.iova = m.number(UVERBS_ATTR_REG_DMABUF_MR_IOVA);
  region.access = static_cast<std::uint32_t>(m.number(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS));
  if (region.pd == 0) return call.refusal(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
  if (region.access & ~kDmaBufFlags || !is_possible(region.access)) return EINVAL;
  if (region.bytes == 0 || offset % kPageBytes != region.iova % kPageBytes) return EINVAL;
  const int fd = m.in<std::int32_t>(UVERBS_ATTR_REG_DMABUF_MR_FD);
  DmaBufMemory memory;
  if (const int error = map_dma_buf(fd, offset, region.bytes, use_of(region.access), memory))
    return error;
  region.start = memory.start;
  region.gpu = std::move(memory.hold);
  const MemoryRegion* made = call.device.add_region(region);
  if (!made) return ENOMEM;
  const std::uint32_t key = made->key;
  log_region(*made, " of a dma-buf");
  call.message.set_handle(UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
                          call.handles.add(Kind::kRegion, key, call.file));
  call.message.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, key);
  call.message.out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, key);
  return 0;
}

int create_ah(Call& call) {
  const auto a = call.message.in<ib_uverbs_create_ah>(UVERBS_ATTR_CORE_IN);
  const std::uint32_t pdn = call.number(Kind::kPd, a.pd_handle);
  if (pdn == 0 || a.attr.port_num != 1) return EINVAL;
  if (settings().ethernet && !a.attr.is_global) return EINVAL;
  if (a.attr.is_global && a.attr.grh.sgid_index >= gids_in_use()) return EINVAL;
  const std::size_t room = call.message.out_size(UVERBS_ATTR_UHW_OUT);
  if (settings().ethernet && room < offsetof(mlx5_ib_create_ah_resp, reserved)) return EINVAL;
  ib_uverbs_create_ah_resp r{};
  r.ah_handle = call.handles.add(Kind::kAh, pdn, call.file);
  call.message.out(UVERBS_ATTR_CORE_OUT, &r, 4);
  mlx5_ib_create_ah_resp driver{};
  driver.response_length = sizeof driver;
  std::ranges::copy(identity::kMac, driver.dmac);
  call.message.out(UVERBS_ATTR_UHW_OUT, driver);
  return 0;
}

int destroy_ah(Call& call) {
  if (call.named(Kind::kAh, UVERBS_ATTR_DESTROY_AH_HANDLE) == 0)
    return call.refusal(UVERBS_ATTR_DESTROY_AH_HANDLE);
  call.handles.remove(call.message.handle(UVERBS_ATTR_DESTROY_AH_HANDLE));
  return 0;
}

}  // namespace softnic
