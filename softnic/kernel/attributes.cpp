#include "attributes.hpp"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <algorithm>
#include <bitset>
#include <cerrno>
#include <span>

#include "message.hpp"

namespace softnic {
namespace {

enum class Sort : std::uint8_t { kIn, kOut, kHandle };

struct Rule {
  std::uint16_t id;
  Sort sort;
  std::uint16_t least, most;  // bytes; 0 for handles and file descriptors
  bool is_mandatory = true;
  bool may_grow = false;  // longer ones are accepted if zeros follow the known part
};

constexpr std::uint16_t kAny = 0xffff;

constexpr Rule in(unsigned id, std::size_t least, std::size_t most) {
  return {static_cast<std::uint16_t>(id), Sort::kIn, static_cast<std::uint16_t>(least),
          static_cast<std::uint16_t>(most)};
}
template <class T>
constexpr Rule in(unsigned id) {
  return in(id, sizeof(T), sizeof(T));
}
constexpr Rule constant(unsigned id) { return in(id, 8, 8); }  // of an enumeration
constexpr Rule flags(unsigned id) { return in(id, 4, 8); }
constexpr Rule out(unsigned id, std::size_t least, std::size_t most) {
  return {static_cast<std::uint16_t>(id), Sort::kOut, static_cast<std::uint16_t>(least),
          static_cast<std::uint16_t>(most)};
}
template <class T>
constexpr Rule out(unsigned id) {
  return out(id, sizeof(T), sizeof(T));
}
constexpr Rule handle(unsigned id) { return {static_cast<std::uint16_t>(id), Sort::kHandle, 0, 0}; }
constexpr Rule optional(Rule rule) {
  rule.is_mandatory = false;
  return rule;
}
constexpr Rule growing(Rule rule) {
  rule.may_grow = true;
  return rule;
}

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr Rule kDriverIn = optional(in(UVERBS_ATTR_UHW_IN, 0, kAny));
constexpr Rule kDriverOut = optional(out(UVERBS_ATTR_UHW_OUT, 0, kAny));
constexpr std::size_t kMailbox = 16;  // a header, of either direction

constexpr Rule kInvokeWrite[] = {
    constant(UVERBS_ATTR_WRITE_CMD), optional(in(UVERBS_ATTR_CORE_IN, 4, kAny)),
    optional(out(UVERBS_ATTR_CORE_OUT, 0, kAny)), kDriverIn, kDriverOut};
constexpr Rule kGetContext[] = {optional(out<U32>(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS)),
                                optional(out<U64>(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT)), kDriverIn,
                                kDriverOut};
constexpr Rule kQueryPort[] = {
    constant(UVERBS_ATTR_QUERY_PORT_PORT_NUM),
    growing(out<ib_uverbs_query_port_resp_ex>(UVERBS_ATTR_QUERY_PORT_RESP))};
constexpr Rule kQueryGidTable[] = {constant(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE),
                                   optional(flags(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS)),
                                   out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0, kAny),
                                   out<U64>(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES)};
constexpr Rule kQueryGidEntry[] = {
    constant(UVERBS_ATTR_QUERY_GID_ENTRY_PORT), constant(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX),
    flags(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS),
    growing(out<ib_uverbs_gid_entry>(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY))};
constexpr Rule kAsyncEvent[] = {handle(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)};

constexpr Rule kCreateCq[] = {handle(UVERBS_ATTR_CREATE_CQ_HANDLE),
                              in<U32>(UVERBS_ATTR_CREATE_CQ_CQE),
                              in<U64>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE),
                              optional(handle(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)),
                              in<U32>(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
                              optional(flags(UVERBS_ATTR_CREATE_CQ_FLAGS)),
                              optional(handle(UVERBS_ATTR_CREATE_CQ_EVENT_FD)),
                              out<U32>(UVERBS_ATTR_CREATE_CQ_RESP_CQE),
                              kDriverIn,
                              kDriverOut};
constexpr Rule kDestroyCq[] = {handle(UVERBS_ATTR_DESTROY_CQ_HANDLE),
                               out<ib_uverbs_destroy_cq_resp>(UVERBS_ATTR_DESTROY_CQ_RESP)};

constexpr Rule kCreateQp[] = {handle(UVERBS_ATTR_CREATE_QP_HANDLE),
                              optional(handle(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE)),
                              in<U64>(UVERBS_ATTR_CREATE_QP_USER_HANDLE),
                              growing(in<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP)),
                              constant(UVERBS_ATTR_CREATE_QP_TYPE),
                              optional(flags(UVERBS_ATTR_CREATE_QP_FLAGS)),
                              optional(in<U32>(UVERBS_ATTR_CREATE_QP_SOURCE_QPN)),
                              optional(handle(UVERBS_ATTR_CREATE_QP_EVENT_FD)),
                              growing(out<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_RESP_CAP)),
                              out<U32>(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM),
                              kDriverIn,
                              kDriverOut};
constexpr Rule kDestroyQp[] = {handle(UVERBS_ATTR_DESTROY_QP_HANDLE),
                               out<ib_uverbs_destroy_qp_resp>(UVERBS_ATTR_DESTROY_QP_RESP)};

constexpr Rule kCreateSrq[] = {handle(UVERBS_ATTR_CREATE_SRQ_HANDLE),
                               handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE),
                               constant(UVERBS_ATTR_CREATE_SRQ_TYPE),
                               in<U64>(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE),
                               in<U32>(UVERBS_ATTR_CREATE_SRQ_MAX_WR),
                               in<U32>(UVERBS_ATTR_CREATE_SRQ_MAX_SGE),
                               in<U32>(UVERBS_ATTR_CREATE_SRQ_LIMIT),
                               optional(handle(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE)),
                               optional(handle(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE)),
                               optional(in<U32>(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS)),
                               optional(handle(UVERBS_ATTR_CREATE_SRQ_EVENT_FD)),
                               out<U32>(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR),
                               out<U32>(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE),
                               optional(out<U32>(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM)),
                               kDriverIn,
                               kDriverOut};
constexpr Rule kDestroySrq[] = {handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE),
                                out<ib_uverbs_destroy_srq_resp>(UVERBS_ATTR_DESTROY_SRQ_RESP)};

constexpr Rule kRegisterDmaBuf[] = {
    handle(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),      handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE),
    in<U64>(UVERBS_ATTR_REG_DMABUF_MR_OFFSET),     in<U64>(UVERBS_ATTR_REG_DMABUF_MR_LENGTH),
    in<U64>(UVERBS_ATTR_REG_DMABUF_MR_IOVA),       in<U32>(UVERBS_ATTR_REG_DMABUF_MR_FD),
    flags(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS), out<U32>(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY),
    out<U32>(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY)};
constexpr Rule kDestroyMr[] = {handle(UVERBS_ATTR_DESTROY_MR_HANDLE)};
constexpr Rule kDestroyPd[] = {handle(UVERBS_ATTR_DESTROY_PD_HANDLE)};
constexpr Rule kDestroyAh[] = {handle(UVERBS_ATTR_DESTROY_AH_HANDLE)};

constexpr Rule kDevxEventChannel[] = {handle(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE),
                                      flags(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS)};
constexpr Rule kSubscribe[] = {handle(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE),
                               optional(handle(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE)),
                               in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2, kAny),
                               optional(in<U64>(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE)),
                               optional(in<U32>(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM))};
constexpr Rule kDevxOther[] = {in(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, kMailbox, kAny),
                               out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, kMailbox, kAny)};
constexpr Rule kQueryEqn[] = {in<U32>(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC),
                              out<U32>(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN)};
constexpr Rule kDevxCreate[] = {handle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE),
                                in(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, kMailbox, kAny),
                                out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, kMailbox, kAny)};
constexpr Rule kDevxModify[] = {handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE),
                                in(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, kMailbox, kAny),
                                out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, kMailbox, kAny)};
constexpr Rule kDevxQuery[] = {handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE),
                               in(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, kMailbox, kAny),
                               out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, kMailbox, kAny)};
constexpr Rule kDevxDestroy[] = {handle(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE)};
constexpr Rule kRegisterUmem[] = {handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE),
                                  in<U64>(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR),
                                  in<U64>(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN),
                                  optional(flags(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS)),
                                  optional(constant(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP)),
                                  optional(handle(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)),
                                  out<U32>(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID)};
constexpr Rule kDeregisterUmem[] = {handle(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE)};
constexpr Rule kAllocUar[] = {
    handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE), constant(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE),
    out<U64>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET),
    out<U32>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH), out<U32>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID)};
constexpr Rule kDestroyUar[] = {handle(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE)};

struct Taken {
  unsigned object, method;
  std::span<const Rule> rules;
};
constexpr Taken kTaken[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, kInvokeWrite},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, kGetContext},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, kQueryPort},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, kQueryGidTable},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, kQueryGidEntry},
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, kAsyncEvent},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, kCreateCq},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, kDestroyCq},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, kCreateQp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, kDestroyQp},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, kCreateSrq},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, kDestroySrq},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, kDestroyMr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, kRegisterDmaBuf},
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, kDestroyPd},
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, kDestroyAh},
    {MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
     kDevxEventChannel},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, kSubscribe},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, kDevxOther},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, kQueryEqn},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, kDevxCreate},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, kDevxModify},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, kDevxQuery},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, kDevxDestroy},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, kRegisterUmem},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, kDeregisterUmem},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, kAllocUar},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, kDestroyUar},
};
constexpr std::size_t kMostRules = 24;

std::span<const Rule> rules_of(const Message& message) {
  const auto* found = std::ranges::find_if(kTaken, [&](const Taken& t) {
    return t.object == message.object() && t.method == message.method();
  });
  return found == std::end(kTaken) ? std::span<const Rule>{} : found->rules;
}

// Values of up to 8 bytes lie in the attribute, longer ones must be readable.
int check_input(const ib_uverbs_attr& a, const Rule& rule) {
  if (a.len <= sizeof a.data) return 0;
  if (!is_readable(a.data, a.len)) return EFAULT;
  const auto* bytes = reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(a.data));
  const auto is_set = [](std::byte b) { return b != std::byte{}; };
  const bool is_tail_set =
      a.len > rule.most && std::any_of(bytes + rule.most, bytes + a.len, is_set);
  return is_tail_set ? EOPNOTSUPP : 0;
}

int check_one(const ib_uverbs_attr& a, const Rule& rule) {
  const bool too_long = a.len > rule.most && !rule.may_grow;
  if (a.len < rule.least || too_long || a.attr_data.reserved) return EINVAL;
  return rule.sort == Sort::kIn ? check_input(a, rule) : 0;
}

}  // namespace

int check_attributes(const Message& message) {
  const std::span<const Rule> rules = rules_of(message);
  std::bitset<kMostRules> present;
  for (const ib_uverbs_attr& a : message.attributes()) {
    const auto rule = std::ranges::find(rules, a.attr_id, &Rule::id);
    if (rule == rules.end()) {
      if (a.flags & UVERBS_ATTR_F_MANDATORY) return EPROTONOSUPPORT;
      continue;
    }
    const auto index = static_cast<std::size_t>(rule - rules.begin());
    if (present[index]) return EINVAL;
    if (const int error = check_one(a, *rule)) return error;
    present.set(index);
  }
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (rules[i].is_mandatory && !present[i]) return EINVAL;
  return 0;
}

}  // namespace softnic
