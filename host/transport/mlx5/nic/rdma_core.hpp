// rdma-core as Chime uses it: the functions of libibverbs.so.1 and libmlx5.so.1, found at run time,
// and owners of the objects that these make.
//
// verbs.h defines some calls as inline functions. Calls that go through the device's own table
// (ibv_alloc_td, ibv_alloc_parent_domain) are used as they are. Calls that name a symbol of the
// library (ibv_query_port, ibv_reg_mr, ibv_query_gid_ex) would become a link to it, and so have a
// form of their own here.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host/gpu/device_activity.hpp"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace chime::host::mlx5 {

// The second argument: what a call to it does to memory and objects of the device. An address
// handle is the kernel's own and of no memory, and wanted where a peer is connected while a kernel
// waits for it.
#define CHIME_VERBS_FUNCTIONS(X)  \
  X(ibv_get_device_list, Uses)    \
  X(ibv_free_device_list, Uses)   \
  X(ibv_get_device_name, Uses)    \
  X(ibv_close_device, Uses)       \
  X(ibv_query_device, Uses)       \
  X(ibv_get_async_event, Uses)    \
  X(ibv_ack_async_event, Uses)    \
  X(_ibv_query_gid_ex, Uses)      \
  X(ibv_alloc_pd, Allocates)      \
  X(ibv_dealloc_pd, Uses)         \
  X(ibv_reg_mr_iova2, Allocates)  \
  X(ibv_reg_dmabuf_mr, Allocates) \
  X(ibv_dereg_mr, Uses)           \
  X(ibv_modify_qp, Uses)          \
  X(ibv_destroy_qp, Uses)         \
  X(ibv_destroy_cq, Uses)         \
  X(ibv_create_ah, Uses)          \
  X(ibv_destroy_ah, Uses)

#define CHIME_MLX5DV_FUNCTIONS(X)      \
  X(mlx5dv_is_supported, Uses)         \
  X(mlx5dv_open_device, Allocates)     \
  X(mlx5dv_create_cq, Allocates)       \
  X(mlx5dv_create_qp, Allocates)       \
  X(mlx5dv_init_obj, Uses)             \
  X(mlx5dv_devx_general_cmd, Uses)     \
  X(mlx5dv_devx_obj_create, Allocates) \
  X(mlx5dv_devx_obj_modify, Uses)      \
  X(mlx5dv_devx_obj_query, Uses)       \
  X(mlx5dv_devx_obj_destroy, Uses)     \
  X(mlx5dv_devx_query_eqn, Uses)       \
  X(mlx5dv_devx_alloc_uar, Allocates)  \
  X(mlx5dv_devx_free_uar, Uses)        \
  X(mlx5dv_devx_umem_reg, Allocates)   \
  X(mlx5dv_devx_umem_dereg, Uses)

template <class Function>
using Uses = Function;
template <class Function>
using Allocates = device_activity::Allocating<Function>;

struct RdmaCore {
#define CHIME_RDMA_CORE_MEMBER(name, does) does<decltype(&::name)> name{};
  CHIME_VERBS_FUNCTIONS(CHIME_RDMA_CORE_MEMBER)
  CHIME_MLX5DV_FUNCTIONS(CHIME_RDMA_CORE_MEMBER)
#undef CHIME_RDMA_CORE_MEMBER

  // Null where rdma-core is older than version 36.
  int (*ibv_query_qp_data_in_order)(ibv_qp*, ibv_wr_opcode, std::uint32_t) = nullptr;

  // Null where rdma-core is older than version 43.
  mlx5dv_devx_umem* (*mlx5dv_devx_umem_reg_ex)(ibv_context*, struct mlx5dv_devx_umem_in*) = nullptr;

  // 0 or an errno.
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const;
  int query_gid(ibv_context* context, std::uint8_t port, unsigned index,
                ibv_gid_entry& entry) const;
};

// The libraries, loaded at the first call. Throws Error with the loader's words and the package to
// install, each time.
const RdmaCore& rdma_core();

// ---- Owners. Each releases with the function beside it. ----

#define CHIME_RDMA_OWNER(Owner, Object, release)       \
  struct Release##Owner {                              \
    void operator()(Object* object) const { release; } \
  };                                                   \
  using Owner = std::unique_ptr<Object, Release##Owner>;
CHIME_RDMA_OWNER(Context, ibv_context, rdma_core().ibv_close_device(object))
CHIME_RDMA_OWNER(ProtectionDomain, ibv_pd, rdma_core().ibv_dealloc_pd(object))
CHIME_RDMA_OWNER(ThreadDomain, ibv_td, ::ibv_dealloc_td(object))
CHIME_RDMA_OWNER(MemoryKey, ibv_mr, rdma_core().ibv_dereg_mr(object))
CHIME_RDMA_OWNER(VerbsCq, ibv_cq, rdma_core().ibv_destroy_cq(object))
CHIME_RDMA_OWNER(VerbsQp, ibv_qp, rdma_core().ibv_destroy_qp(object))
CHIME_RDMA_OWNER(AddressHandle, ibv_ah, rdma_core().ibv_destroy_ah(object))
CHIME_RDMA_OWNER(DevxObject, mlx5dv_devx_obj, rdma_core().mlx5dv_devx_obj_destroy(object))
CHIME_RDMA_OWNER(DevxUar, mlx5dv_devx_uar, rdma_core().mlx5dv_devx_free_uar(object))
CHIME_RDMA_OWNER(DevxUmem, mlx5dv_devx_umem, rdma_core().mlx5dv_devx_umem_dereg(object))
#undef CHIME_RDMA_OWNER

// Throws an Error of the NIC: `what`, the system's words for `error_number`, and `advice`.
[[noreturn]] void fail_nic(const std::string& what, int error_number,
                           const std::string& advice = {});

}  // namespace chime::host::mlx5
