// The kernel: objects of DevX programs: doorbell pages, memory for queues, firmware objects.

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "softnic/attach/identity.hpp"
#include "softnic/firmware/commands.hpp"
#include "softnic/firmware/prm.hpp"
#include "uverbs_call.hpp"

namespace softnic {
namespace {

using namespace prm;

// The opcode of a mailbox, or 0 if it is too short to have one.
std::uint32_t opcode_of(Call& call, unsigned attribute) {
  const auto in = call.message.bytes(attribute);
  return in.size() < command::kOutBytes ? 0 : command::kOpcode.get(in.data());
}

// The kernel lets each method pass its own kind of command. The firmware refuses commands that the
// softnic does not know.
bool is_of_class(Call& call, unsigned attribute, CommandClass wanted) {
  const std::uint32_t opcode = opcode_of(call, attribute);
  const CommandClass found = class_of(opcode);
  return opcode != 0 && (found == wanted || found == CommandClass::kUnknown);
}

// Whether the command concerns the object whose handle came with it.
bool names_its_object(Call& call, unsigned handle_attribute, unsigned command_attribute) {
  const Handle* object = call.handles.find(call.message.handle(handle_attribute), call.file);
  const auto in = call.message.bytes(command_attribute);
  return object && object->kind == Kind::kQp &&
         object->number == command::kObjectNumber.get(in.data());
}

// 0 or an error number; EREMOTEIO: the firmware refused, for the reasons in the output.
int run_command(Call& call, unsigned in, unsigned out, CommandResult& result) {
  if (call.message.out_size(out) < command::kOutBytes) return EINVAL;
  result = execute(call.nic, call.message.bytes(in), call.message.out_size(out));
  if (result.not_emulated) return EOPNOTSUPP;
  call.message.out(out, result.out.data(), result.out.size());
  return result.failed() ? EREMOTEIO : 0;
}

// Objects that hardware refuses to destroy while others use them.
bool is_in_use(Device& device, const Handle& object) {
  return (object.kind == Kind::kCq && is_cq_in_use(device, object.number)) ||
         (object.kind == Kind::kSrq && is_srq_in_use(device, object.number));
}

Kind kind_of(Created created) {
  switch (created) {
    case Created::kQp:
      return Kind::kQp;
    case Created::kCq:
      return Kind::kCq;
    case Created::kSrq:
      return Kind::kSrq;
    case Created::kRegion:
      return Kind::kRegion;
    default:
      return Kind::kDevxOther;
  }
}

}  // namespace

bool is_made_by_command(Device& device, const Handle& object) {
  switch (object.kind) {
    case Kind::kQp:
      return device.qp(object.number)->owner.is_devx;
    case Kind::kCq:
      return device.cq(object.number)->owner.is_devx;
    case Kind::kSrq:
      return device.srq(object.number)->owner.is_devx;
    case Kind::kRegion:
      return !device.region(object.number)->pieces.empty();
    default:
      return object.kind == Kind::kDevxOther;
  }
}

int alloc_uar(Call& call) {
  const std::uint64_t type = call.message.number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
  if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
    return EOPNOTSUPP;
  const Uar* uar = call.device.add_uar();
  if (!uar) return ENOMEM;
  const std::uint64_t offset = static_cast<std::uint64_t>(uar->page) << 12;
  const std::uint32_t length = 4096;
  call.message.set_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE,
                          call.handles.add(Kind::kUar, uar->page, call.file));
  call.message.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, offset);
  call.message.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, length);
  call.message.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->page);
  return 0;
}

int destroy_uar(Call& call) {
  const std::uint32_t page = call.named(Kind::kUar, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
  if (page == 0) return call.refusal(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
  call.device.remove_uar(page);
  call.handles.remove(call.message.handle(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE));
  return 0;
}

int query_eqn(Call& call) {
  if (call.message.number(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC) >= identity::kCompletionVectors)
    return ENOENT;
  call.message.out(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, identity::kEqn);
  return 0;
}

int devx_other(Call& call) {
  CommandResult result;
  if (!is_of_class(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, CommandClass::kGeneral)) return EINVAL;
  return run_command(call, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, result);
}

int devx_create(Call& call) {
  CommandResult result;
  if (!is_of_class(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, CommandClass::kCreate)) return EINVAL;
  const int error = run_command(call, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
                                MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, result);
  if (error) return error;
  call.message.set_handle(
      MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE,
      call.handles.add(kind_of(result.created), std::max(1u, result.number), call.file));
  return 0;
}

int devx_modify(Call& call) {
  CommandResult result;
  if (!is_of_class(call, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, CommandClass::kModify) ||
      !names_its_object(call, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
                        MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN))
    return EINVAL;
  return run_command(call, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
                     MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, result);
}

int devx_query(Call& call) {
  CommandResult result;
  if (!is_of_class(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, CommandClass::kQuery) ||
      !names_its_object(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
                        MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN))
    return EINVAL;
  return run_command(call, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT,
                     result);
}

void destroy(Device& device, const Handle& handle) {
  switch (handle.kind) {
    case Kind::kPd:
      return device.remove_pd(handle.number);
    case Kind::kRegion:
      return device.remove_region(handle.number);
    case Kind::kCq:
      return device.remove_cq(handle.number);
    case Kind::kQp:
      return device.remove_qp(handle.number);
    case Kind::kSrq:
      return device.remove_srq(handle.number);
    case Kind::kUmem:
      return device.remove_umem(handle.number);
    case Kind::kUar:
      return device.remove_uar(handle.number);
    default:
      return;
  }
}

int devx_destroy(Call& call) {
  const std::uint32_t handle = call.message.handle(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
  const Handle* found = call.handles.find(handle, call.file);
  if (!found || !is_made_by_command(call.device, *found))
    return call.refusal(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
  if (is_in_use(call.device, *found)) return EBUSY;
  if (found->kind == Kind::kQp) call.nic.engine().settle(*call.device.qp(found->number));
  destroy(call.device, *found);
  call.handles.remove(handle);
  return 0;
}

// The largest page that the program allows and that the memory fills; 0: there is none. The kernel
// takes a smaller page if the memory's own pages are scattered. That depends on chance, so the
// worst case is used.
std::uint64_t largest_page(std::uint64_t bytes, std::uint64_t allowed) {
  constexpr std::uint64_t kSmallest = 4096;
  const std::uint64_t filled = std::max(std::bit_ceil(bytes), kSmallest);
  return std::bit_floor(allowed & (2 * filled - 1) & ~(kSmallest - 1));
}

int reg_umem(Call& call) {
  const Message& m = call.message;
  Umem umem{reinterpret_cast<std::byte*>(m.number(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR)),
            m.number(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN)};
  if (m.has(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)) return EOPNOTSUPP;  // as reg_dmabuf_mr
  const auto start = reinterpret_cast<std::uint64_t>(umem.base);
  const auto access = static_cast<std::uint32_t>(m.number(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS));
  if (access & ~(kLocalWrite | kRemoteWrite | kRemoteRead)) return EINVAL;
  if (access & kRemoteWrite && !(access & kLocalWrite)) return EINVAL;
  if (umem.bytes == 0 || start + umem.bytes < start) return EINVAL;
  if (m.has(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP))
    umem.page = largest_page(umem.bytes, m.number(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP));
  if (umem.page == 0) return EINVAL;
  umem.is_writable = access & kLocalWrite;
  const Use use = umem.is_writable ? Use::kWrite : Use::kRead;
  if (const int error = pin(start, umem.bytes, use, umem.gpu)) return error;
  const std::uint32_t id = call.device.add_umem(umem);
  call.message.set_handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE,
                          call.handles.add(Kind::kUmem, id, call.file));
  call.message.out(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, id);
  return 0;
}

int dereg_umem(Call& call) {
  const std::uint32_t id = call.named(Kind::kUmem, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
  if (id == 0) return call.refusal(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
  if (call.device.is_umem_in_use(id)) return EBUSY;
  call.device.remove_umem(id);
  call.handles.remove(call.message.handle(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE));
  return 0;
}

}  // namespace softnic
