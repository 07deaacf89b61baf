#include "uverbs.hpp"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>
#include <cstddef>

#include "attributes.hpp"
#include "softnic/observe/trace.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

// ---- the older write commands, wrapped in an ioctl

constexpr std::uint32_t extended(std::uint32_t command) {
  return IB_USER_VERBS_CMD_FLAG_EXTENDED | command;
}

struct WriteCommand {
  std::uint32_t number;
  const char* name;
  std::size_t in, out;  // bytes, at least
  int (*serve)(Call&);
};
// The first form of an extended command: later kernels only added to the end of its structures.
constexpr std::size_t kFirstQueryDeviceEx =
    offsetof(ib_uverbs_ex_query_device_resp, response_length) + 4;
constexpr WriteCommand kWriteCommands[] = {
    {IB_USER_VERBS_CMD_QUERY_DEVICE, "QUERY_DEVICE", sizeof(ib_uverbs_query_device),
     sizeof(ib_uverbs_query_device_resp), query_device},
    {extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), "QUERY_DEVICE_EX",
     sizeof(ib_uverbs_ex_query_device), kFirstQueryDeviceEx, query_device_ex},
    {IB_USER_VERBS_CMD_ALLOC_PD, "ALLOC_PD", sizeof(ib_uverbs_alloc_pd),
     sizeof(ib_uverbs_alloc_pd_resp), alloc_pd},
    {IB_USER_VERBS_CMD_REG_MR, "REG_MR", sizeof(ib_uverbs_reg_mr), sizeof(ib_uverbs_reg_mr_resp),
     reg_mr},
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "CREATE_COMP_CHANNEL",
     sizeof(ib_uverbs_create_comp_channel), sizeof(ib_uverbs_create_comp_channel_resp),
     create_comp_channel},
    {IB_USER_VERBS_CMD_MODIFY_QP, "MODIFY_QP", sizeof(ib_uverbs_modify_qp), 0, modify_qp},
    {extended(IB_USER_VERBS_EX_CMD_MODIFY_QP), "MODIFY_QP_EX", sizeof(ib_uverbs_modify_qp),
     sizeof(ib_uverbs_ex_modify_qp_resp), modify_qp},
    {IB_USER_VERBS_CMD_QUERY_QP, "QUERY_QP", sizeof(ib_uverbs_query_qp),
     sizeof(ib_uverbs_query_qp_resp), query_qp},
    {IB_USER_VERBS_CMD_CREATE_AH, "CREATE_AH", sizeof(ib_uverbs_create_ah),
     sizeof(ib_uverbs_create_ah_resp), create_ah},
    {IB_USER_VERBS_CMD_MODIFY_SRQ, "MODIFY_SRQ", sizeof(ib_uverbs_modify_srq), 0, modify_srq},
    {IB_USER_VERBS_CMD_QUERY_SRQ, "QUERY_SRQ", sizeof(ib_uverbs_query_srq),
     sizeof(ib_uverbs_query_srq_resp), query_srq},
    {extended(IB_USER_VERBS_EX_CMD_MODIFY_CQ), "MODIFY_CQ_EX", sizeof(ib_uverbs_ex_modify_cq), 0,
     modify_cq},
};

// libibverbs recognises by the ENOSPC of an empty one that commands may come by ioctl.
int run_write_command(Call& call, const WriteCommand& command) {
  if (call.message.bytes(UVERBS_ATTR_CORE_IN).size() < command.in ||
      call.message.out_size(UVERBS_ATTR_CORE_OUT) < command.out)
    return ENOSPC;
  return command.serve(call);
}

int invoke_write(Call& call) {
  const auto number = static_cast<std::uint32_t>(call.message.number(UVERBS_ATTR_WRITE_CMD));
  constexpr std::uint32_t kKnownBits =
      IB_USER_VERBS_CMD_COMMAND_MASK | IB_USER_VERBS_CMD_FLAG_EXTENDED;
  if (number & ~kKnownBits) return EINVAL;
  for (const WriteCommand& command : kWriteCommands) {
    if (command.number != number) continue;
    const int error = run_write_command(call, command);
    trace::message("write", command.name, number, error);
    return error;
  }
  trace::message("write", "unsupported", number, EOPNOTSUPP);
  return EOPNOTSUPP;
}

// ---- the table

struct Method {
  std::uint32_t object;
  std::uint32_t method;
  const char* name;
  int (*serve)(Call&);
};
constexpr Method kMethods[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, "INVOKE_WRITE", invoke_write},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", get_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "QUERY_PORT", query_port},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "QUERY_GID_TABLE", query_gid_table},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "QUERY_GID_ENTRY", query_gid_entry},
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT_ALLOC",
     create_async_channel},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ_CREATE", create_cq},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", destroy_cq},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP_CREATE", create_qp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", destroy_qp},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, "SRQ_CREATE", create_srq},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "SRQ_DESTROY", destroy_srq},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", destroy_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, "REG_DMABUF_MR", reg_dmabuf_mr},
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", dealloc_pd},
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH_DESTROY", destroy_ah},
    {MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
     "DEVX_ASYNC_EVENT_FD_ALLOC", create_devx_event_channel},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, "DEVX_SUBSCRIBE_EVENT",
     subscribe_event},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, "DEVX_OTHER", devx_other},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, "DEVX_QUERY_EQN", query_eqn},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, "DEVX_OBJ_CREATE", devx_create},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "DEVX_OBJ_MODIFY", devx_modify},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, "DEVX_OBJ_QUERY", devx_query},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, "DEVX_OBJ_DESTROY", devx_destroy},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, "DEVX_UMEM_REG", reg_umem},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEVX_UMEM_DEREG", dereg_umem},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, "UAR_ALLOC", alloc_uar},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, "UAR_DESTROY", destroy_uar},
};

}  // namespace

int serve(Nic& nic, int fd, ib_uverbs_ioctl_hdr* header) {
  find_gpu_driver();
  const std::lock_guard guard(nic.device().lock());
  Call call{Message(header), nic, nic.device(), nic.handles(), fd};
  if (const int error = call.message.check()) return error;
  for (const Method& method : kMethods) {
    if (method.object != call.message.object() || method.method != call.message.method()) continue;
    int error = check_attributes(call.message);
    if (error == 0) error = method.serve(call);
    if (error == 0 && call.message.faulted()) error = EFAULT;
    trace::message("ioctl", method.name, header->object_id << 16 | header->method_id, error);
    return error;
  }
  trace::message("ioctl", "unsupported", header->object_id << 16 | header->method_id,
                 EPROTONOSUPPORT);
  return EPROTONOSUPPORT;  // the answer of a kernel without the method; libibverbs then falls back
}

void release(Nic& nic, int fd) {
  const std::lock_guard guard(nic.device().lock());
  for (const Handle& handle : nic.handles().take_all(fd)) destroy(nic.device(), handle);
  nic.device().forget_file(fd);
}

}  // namespace softnic
