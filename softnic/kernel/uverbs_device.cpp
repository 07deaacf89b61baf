// The kernel: properties of the device and its port.

#include <net/if.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "softnic/attach/identity.hpp"
#include "softnic/observe/log.hpp"
#include "softnic/observe/settings.hpp"
#include "softnic/wire/path.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

ib_uverbs_query_device_resp device_attributes() {
  ib_uverbs_query_device_resp r{};
  r.fw_ver = identity::kFirmware;
  r.node_guid = r.sys_image_guid = htobe64(identity::kGuid);
  r.max_mr_size = ~0ull;
  r.page_size_cap = ~0xfffull;
  r.vendor_id = identity::kVendorId;
  r.vendor_part_id = identity::kVendorPartId;
  r.max_qp = kQpsPerNic;
  r.max_qp_wr = identity::kMaxWr;
  r.device_cap_flags =
      1 << 0 | 1 << 17 |
      1 << 21;  // resize of queues, memory windows type 2B off, management extensions
  r.max_sge = r.max_sge_rd = identity::kMaxSge;
  r.max_cq = 1 << 20;
  r.max_cqe = identity::kMaxCqe;
  r.max_mr = 1 << 20;
  r.max_pd = 1 << 16;
  r.max_qp_rd_atom = r.max_qp_init_rd_atom = identity::kMaxReads;
  r.max_res_rd_atom = 1 << 21;
  r.atomic_cap = 1;  // IBV_ATOMIC_HCA: atomic among this device's atomics, not with the CPU's
  r.max_ah = 1 << 20;
  r.max_srq = 1 << 16;
  r.max_srq_wr = identity::kMaxWr - 1;
  r.max_srq_sge = identity::kMaxSrqSge;
  r.max_pkeys = 128;
  r.local_ca_ack_delay = 16;
  r.phys_port_cnt = 1;
  return r;
}

ib_uverbs_query_port_resp port_attributes() {
  ib_uverbs_query_port_resp r{};
  r.port_cap_flags = 0x2651e848;
  r.max_msg_sz = 1 << 30;
  r.gid_tbl_len = identity::kGids;
  r.pkey_tbl_len = 1;
  r.lid = settings().ethernet ? 0 : identity::kLid;
  r.sm_lid = settings().ethernet ? 0 : 1;
  r.state = 4;                   // active
  r.phys_state = 5;              // link up
  r.max_mtu = r.active_mtu = 5;  // 4096
  r.max_vl_num = 4;
  r.active_width = 2;    // 4x
  r.active_speed = 128;  // NDR
  r.link_layer = settings().ethernet ? 2 : 1;
  return r;
}

// Checks what the program's library can do. A library that wants all its doorbell pages at once, or
// completions of the form before ConnectX-4, would misread the answers.
int check_library(const Message& m) {
  using Request = mlx5_ib_alloc_ucontext_req_v2;
  constexpr std::uint32_t kRegistersOfAPage = 2;
  const auto library = m.in<Request>(UVERBS_ATTR_UHW_IN);
  const std::size_t bytes = m.bytes(UVERBS_ATTR_UHW_IN).size();
  if (bytes != sizeof(mlx5_ib_alloc_ucontext_req) && bytes < offsetof(Request, max_cqe_version))
    return EINVAL;
  if (library.flags & ~std::uint32_t{MLX5_IB_ALLOC_UCTX_DEVX}) return EOPNOTSUPP;
  if (library.comp_mask || library.reserved0 || library.reserved1 || library.reserved2)
    return EOPNOTSUPP;
  const std::uint32_t registers =
      (library.total_num_bfregs + kRegistersOfAPage - 1) / kRegistersOfAPage * kRegistersOfAPage;
  if (library.num_low_latency_bfregs > registers - 1) return EINVAL;
  if (library.lib_caps & MLX5_LIB_CAP_DYN_UAR && library.max_cqe_version >= 1) return 0;
  SOFTNIC_LOG_AT(1,
                 "softnic: this libmlx5 is too old: it does not take doorbell pages one by one\n");
  return EOPNOTSUPP;
}

ib_uverbs_gid_entry gid_entry(std::uint32_t index) {
  ib_uverbs_gid_entry entry{};
  const Gid gid = gid_of_port(index);
  std::memcpy(entry.gid, gid.data(), gid.size());
  entry.gid_index = index;
  entry.port_num = 1;
  if (!settings().ethernet) return entry;
  entry.gid_type = is_roce_v2(index) ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_ROCE_V1;
  entry.netdev_ifindex = if_nametoindex("lo");  // as in sysfs
  return entry;
}

}  // namespace

int get_context(Call& call) {
  if (const int refusal = check_library(call.message)) return refusal;
  const std::uint32_t completion_vectors = identity::kCompletionVectors;
  // Without it libibverbs drops relaxed ordering and other optional flags.
  const std::uint64_t core_support = IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
  call.message.out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, completion_vectors);
  call.message.out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, core_support);
  mlx5_ib_alloc_ucontext_resp r{};
  r.qp_tab_size = 1 << 17;
  r.bf_reg_size = 512;
  r.tot_bfregs = 0;  // makes libmlx5 allocate doorbell pages one by one
  r.cache_line_size = 64;
  r.max_sq_desc_sz = 1024;
  r.max_rq_desc_sz = 512;
  r.max_send_wqebb = r.max_recv_wr = r.max_srq_recv_wr = identity::kMaxWr;
  r.num_ports = 1;
  r.response_length = sizeof r;
  r.cqe_version = 1;
  r.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  r.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  r.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
  r.log_uar_size = 12;
  r.num_uars_per_page = 1;
  call.message.out(UVERBS_ATTR_UHW_OUT, r);
  return 0;
}

int query_port(Call& call) {
  if (call.message.number(UVERBS_ATTR_QUERY_PORT_PORT_NUM) != 1) return EINVAL;
  ib_uverbs_query_port_resp_ex r{};
  r.legacy_resp = port_attributes();
  call.message.out(UVERBS_ATTR_QUERY_PORT_RESP, r);
  return 0;
}

int query_gid_table(Call& call) {
  const Message& m = call.message;
  const std::uint64_t stride = m.number(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  const std::size_t bytes = m.out_size(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
  if (m.number(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) != 0) return EINVAL;
  if (stride == 0 || bytes % stride != 0 || bytes / stride < gids_in_use()) return EINVAL;
  std::vector<std::byte> table(gids_in_use() * stride);
  for (unsigned i = 0; i < gids_in_use(); ++i) {
    const ib_uverbs_gid_entry entry = gid_entry(i);
    std::memcpy(&table[i * stride], &entry, std::min<std::size_t>(stride, sizeof entry));
  }
  call.message.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, table.data(), table.size());
  call.message.out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, std::uint64_t{gids_in_use()});
  return 0;
}

int query_gid_entry(Call& call) {
  const Message& m = call.message;
  const std::uint64_t index = m.number(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
  if (m.number(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS) != 0) return EINVAL;
  if (m.number(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != 1 || index >= identity::kGids) return EINVAL;
  if (index >= gids_in_use()) return ENODATA;
  call.message.out(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
                   gid_entry(static_cast<std::uint32_t>(index)));
  return 0;
}

int query_device(Call& call) {
  call.message.out(UVERBS_ATTR_CORE_OUT, device_attributes());
  return 0;
}

int query_device_ex(Call& call) {
  const Message& m = call.message;
  const auto wanted = m.in<ib_uverbs_ex_query_device>(UVERBS_ATTR_CORE_IN);
  const std::size_t room = m.out_size(UVERBS_ATTR_UHW_OUT);
  if (wanted.comp_mask || wanted.reserved) return EINVAL;
  if (room != 0 && room < offsetof(mlx5_ib_query_device_resp, tso_caps)) return EINVAL;
  if (!m.is_zero_behind(0, UVERBS_ATTR_UHW_IN)) return EINVAL;
  ib_uverbs_ex_query_device_resp r{};
  r.base = device_attributes();
  r.response_length = sizeof r;
  r.device_cap_flags_ex = r.base.device_cap_flags;
  r.hca_core_clock = 1'000'000;
  r.timestamp_mask = ~0ull;
  call.message.out(UVERBS_ATTR_CORE_OUT, r);
  mlx5_ib_query_device_resp driver{};
  driver.response_length = sizeof driver;
  call.message.out(UVERBS_ATTR_UHW_OUT, driver);
  return 0;
}

}  // namespace softnic
