// One call to the kernel of each kind, correct except for what a test spoils in it; and the objects
// that these calls need.
#pragma once

#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>

#include "devx_endpoint.hpp"
#include "kernel_message.hpp"

namespace direct {

inline constexpr std::uint32_t kNoSuch = 0x7fffff;  // a handle of no object
inline constexpr std::size_t kPage = 4096;

// One object of each kind.
struct Objects {
  Objects() { check_zero(verbs->to_init(), "to INIT"); }
  ~Objects() {
    verbs.reset();  // first: it uses the shared queue
    ibv_destroy_srq(srq);
    ibv_dealloc_pd(stranger);
    ibv_close_device(other);
    ::munmap(unreadable, kPage);
    ::munmap(read_only, kPage);
    ::munmap(fenced, 3 * kPage);
    ::munmap(file_only_read, kPage);
    ::munmap(file_of_ours, kPage);
  }
  static ibv_context* open_again() {
    ibv_device** list = ibv_get_device_list(nullptr);
    ibv_context* context = check(ibv_open_device(list[0]), "ibv_open_device");
    ibv_free_device_list(list);
    return context;
  }
  ibv_srq* make_srq() const {
    ibv_srq_init_attr wanted{nullptr, {15, 1, 0}};
    return check(ibv_create_srq(Hca::instance().pd(), &wanted), "ibv_create_srq");
  }
  // An unmapped address, so low that neither programs nor mmap use it. A page that was unmapped
  // just now would not do: another mapping may take it.
  static std::uint64_t nowhere() { return 2 << 20; }

  // A mapped page that may not be read, or only be read.
  static void* guarded(int protection) {
    return ::mmap(nullptr, kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  void* const unreadable = guarded(PROT_NONE);
  void* const read_only = guarded(PROT_READ);
  static std::uint8_t* three_pages() {
    return static_cast<std::uint8_t*>(
        ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  // Three pages. The middle one may not be accessed.
  std::uint8_t* const fenced = [] {
    std::uint8_t* all = three_pages();
    ::mprotect(all + kPage, kPage, PROT_NONE);
    return all;
  }();
  // A file that may only be read, mapped as itself or as a private copy.
  static void* of_file(int protection, int flags) {
    const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void* at = ::mmap(nullptr, kPage, protection, flags, file, 0);
    ::close(file);
    return at;
  }
  void* const file_only_read = of_file(PROT_READ, MAP_SHARED);
  void* const file_of_ours = of_file(PROT_READ | PROT_WRITE, MAP_PRIVATE);

  ibv_context* other = open_again();
  ibv_pd* stranger = check(ibv_alloc_pd(other), "ibv_alloc_pd");
  ibv_srq* srq = make_srq();
  std::unique_ptr<Endpoint> verbs = make_verbs_endpoint({"", false, false, 64}, with_srq());
  DevxEndpoint devx{{"", true, false, 64}, Options{}};
  Owned<mlx5dv_devx_uar> doorbells{
      check(mlx5dv_devx_alloc_uar(Hca::instance().context(), MLX5DV_UAR_ALLOC_TYPE_BF), "uar")};
  std::unique_ptr<Endpoint> fresh = make_verbs_endpoint({"", false, false, 64}, Options{});
  alignas(kPage) std::uint8_t memory[4 * kPage] = {};
  std::uint32_t pd = Hca::instance().pd()->handle;
  std::uint64_t here = reinterpret_cast<std::uint64_t>(memory);

  Options with_srq() const {
    Options options;
    options.srq = srq;
    return options;
  }
};

inline int destroy(unsigned object, unsigned method, unsigned attribute, std::uint64_t handle) {
  return KernelMessage(static_cast<std::uint16_t>(object), static_cast<std::uint16_t>(method))
      .handle(attribute, handle)
      .send();
}
inline int destroy_pd(std::uint64_t handle) {
  return destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, handle);
}
inline int destroy_cq(std::uint64_t handle) {
  char answer[16];
  return KernelMessage(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY)
      .handle(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle)
      .pointer(UVERBS_ATTR_DESTROY_CQ_RESP, answer, 8)
      .send();
}

inline int destroy_qp(std::uint64_t handle) {
  return KernelMessage(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY)
      .handle(UVERBS_ATTR_DESTROY_QP_HANDLE, handle)
      .pointer(UVERBS_ATTR_DESTROY_QP_RESP, command_answer, sizeof(ib_uverbs_destroy_qp_resp))
      .send();
}
inline int destroy_srq(std::uint64_t handle) {
  return KernelMessage(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY)
      .handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle)
      .pointer(UVERBS_ATTR_DESTROY_SRQ_RESP, command_answer, sizeof(ib_uverbs_destroy_srq_resp))
      .send();
}

inline std::uint64_t address(const void* of) { return reinterpret_cast<std::uint64_t>(of); }

// Three pages. The middle one is unmapped. Good for one call: the next mapping may fill the hole.
struct Broken {
  std::uint8_t* const pages = Objects::three_pages();
  Broken() { ::munmap(pages + kPage, kPage); }
  ~Broken() {
    ::munmap(pages, kPage);
    ::munmap(pages + 2 * kPage, kPage);
  }
};

inline int register_region(Objects& o, const std::function<void(ib_uverbs_reg_mr&)>& spoil) {
  ib_uverbs_reg_mr r{};
  r.start = r.hca_va = o.here;
  r.length = kPage;
  r.pd_handle = o.pd;
  r.access_flags = IBV_ACCESS_LOCAL_WRITE;
  spoil(r);
  return write_command(IB_USER_VERBS_CMD_REG_MR, r).send();
}

// Registers `bytes` at `start` for `access` alone.
inline int register_memory(Objects& o, const void* start, std::uint64_t bytes, unsigned access) {
  return register_region(o, [=](auto& r) {
    r.start = r.hca_va = address(start);
    r.length = bytes;
    r.access_flags = access;
  });
}

using Spoil = std::function<void(KernelMessage&)>;
inline int make_cq(
    Objects& o, const Spoil& spoil,
    const std::function<void(mlx5_ib_create_cq&)>& spoil_driver = [](auto&) {}) {
  mlx5_ib_create_cq driver{};
  driver.buf_addr = o.here;
  driver.db_addr = o.here + kPage;
  driver.cqe_size = 64;
  driver.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
  driver.uar_page_index = static_cast<std::uint16_t>(o.doorbells->page_id);
  spoil_driver(driver);
  KernelMessage m(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
  m.handle(UVERBS_ATTR_CREATE_CQ_HANDLE, 0)
      .number(UVERBS_ATTR_CREATE_CQ_CQE, 31, 4)
      .number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 0)
      .number(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4)
      .pointer(UVERBS_ATTR_CREATE_CQ_RESP_CQE, command_answer, 4)
      .structure(UVERBS_ATTR_UHW_IN, driver);
  spoil(m);
  const int error = m.send();
  if (!error) check_zero(destroy_cq(m.value(UVERBS_ATTR_CREATE_CQ_HANDLE)), "CQ_DESTROY");
  return error;
}

inline int make_qp(
    Objects& o, const Spoil& spoil,
    const std::function<void(mlx5_ib_create_qp&)>& spoil_driver = [](auto&) {}) {
  mlx5_ib_create_qp driver{};
  driver.buf_addr = o.here;
  driver.db_addr = o.here + 2 * kPage;
  driver.sq_wqe_count = 16;
  driver.rq_wqe_count = 16;
  driver.rq_wqe_shift = 6;
  driver.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX;
  driver.bfreg_index = o.doorbells->page_id;
  spoil_driver(driver);
  const std::uint32_t cq = o.verbs->verbs_send_cq()->handle;
  ib_uverbs_qp_cap capabilities{};
  capabilities.max_send_wr = capabilities.max_recv_wr = 16;
  KernelMessage m(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
  m.handle(UVERBS_ATTR_CREATE_QP_HANDLE, 0)
      .handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE, o.pd)
      .handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq)
      .handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq)
      .number(UVERBS_ATTR_CREATE_QP_TYPE, IB_UVERBS_QPT_RC)
      .number(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 0)
      .structure(UVERBS_ATTR_CREATE_QP_CAP, capabilities)
      .pointer(UVERBS_ATTR_CREATE_QP_RESP_CAP, command_answer, sizeof capabilities)
      .pointer(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, command_answer, 4)
      .structure(UVERBS_ATTR_UHW_IN, driver);
  spoil(m);
  const int error = m.send();
  if (!error)  // or its completion queue could not be destroyed
    check_zero(destroy_qp(m.value(UVERBS_ATTR_CREATE_QP_HANDLE)), "QP_DESTROY");
  return error;
}

// Moves the queue pair `of` to `state` with the attributes in `mask`. A test may spoil all of `m`
// and of the message.
inline int modify(
    Endpoint& of, unsigned state, std::uint32_t mask,
    const std::function<void(ib_uverbs_modify_qp&)>& spoil = [](auto&) {},
    const Spoil& spoil_message = [](KernelMessage&) {}) {
  ib_uverbs_modify_qp m{};
  m.qp_handle = of.verbs_qp()->handle;
  m.attr_mask = mask | IBV_QP_STATE;
  m.qp_state = static_cast<std::uint8_t>(state);
  m.port_num = m.dest.port_num = 1;
  m.path_mtu = IBV_MTU_1024;
  const ibv_ah_attr path = Hca::instance().path();
  m.dest.dlid = path.dlid;
  m.dest.is_global = path.is_global;
  m.dest.sgid_index = path.grh.sgid_index;
  std::memcpy(m.dest.dgid, path.grh.dgid.raw, 16);
  spoil(m);
  KernelMessage message = write_command(IB_USER_VERBS_CMD_MODIFY_QP, m);
  spoil_message(message);
  return message.send();
}
inline constexpr unsigned kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
inline constexpr unsigned kRtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

inline int modify_srq(Objects& o, std::uint32_t mask, std::uint32_t limit) {
  ib_uverbs_modify_srq m{};
  m.srq_handle = o.srq->handle;
  m.attr_mask = mask;
  m.srq_limit = limit;
  return write_command(IB_USER_VERBS_CMD_MODIFY_SRQ, m).send();
}

inline int make_srq(
    Objects& o, const Spoil& spoil,
    const std::function<void(mlx5_ib_create_srq&)>& spoil_driver = [](auto&) {}) {
  mlx5_ib_create_srq driver{};
  driver.buf_addr = o.here;
  driver.db_addr = o.here + 2 * kPage;
  spoil_driver(driver);
  KernelMessage m(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
  m.handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0)
      .handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, o.pd)
      .number(UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC)
      .number(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0)
      .number(UVERBS_ATTR_CREATE_SRQ_LIMIT, 0, 4)
      .pointer(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, command_answer, 4)
      .pointer(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, command_answer, 4)
      .number(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 15, 4)
      .number(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1, 4)
      .structure(UVERBS_ATTR_UHW_IN, driver);
  spoil(m);
  return m.send();
}

inline int make_ah(Objects& o, const std::function<void(ib_uverbs_create_ah&)>& spoil,
                   std::size_t room = sizeof(mlx5_ib_create_ah_resp)) {
  ib_uverbs_create_ah a{};
  a.pd_handle = o.pd;
  a.attr.port_num = 1;
  a.attr.is_global = Hca::instance().is_ethernet();
  spoil(a);
  return write_command(IB_USER_VERBS_CMD_CREATE_AH, a)
      .pointer(UVERBS_ATTR_UHW_OUT, command_answer + 256, room)
      .send();
}

// Gets a context, with the abilities that a library announces.
inline int get_context(const std::function<void(mlx5_ib_alloc_ucontext_req_v2&)>& spoil,
                       std::size_t bytes = sizeof(mlx5_ib_alloc_ucontext_req_v2)) {
  mlx5_ib_alloc_ucontext_req_v2 library{};
  library.total_num_bfregs = 16;
  library.num_low_latency_bfregs = 4;
  library.flags = MLX5_IB_ALLOC_UCTX_DEVX;
  library.max_cqe_version = 1;
  library.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
  spoil(library);
  KernelMessage m(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
  m.pointer(UVERBS_ATTR_UHW_IN, &library, bytes)
      .pointer(UVERBS_ATTR_UHW_OUT, command_answer, sizeof(mlx5_ib_alloc_ucontext_resp));
  if (bytes <= 8) std::memcpy(&m.raw(UVERBS_ATTR_UHW_IN).data, &library, bytes);
  return m.send();
}

inline int query_device(
    const std::function<void(ib_uverbs_ex_query_device&)>& spoil,
    const Spoil& spoil_message = [](KernelMessage&) {}) {
  ib_uverbs_ex_query_device q{};
  spoil(q);
  std::uint64_t word;
  std::memcpy(&word, &q, sizeof word);
  KernelMessage m(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
  m.number(UVERBS_ATTR_WRITE_CMD,
           IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE)
      .number(UVERBS_ATTR_CORE_IN, word)
      .pointer(UVERBS_ATTR_CORE_OUT, command_answer, sizeof(ib_uverbs_ex_query_device_resp))
      .pointer(UVERBS_ATTR_UHW_OUT, command_answer, sizeof(mlx5_ib_query_device_resp));
  spoil_message(m);
  return m.send();
}

inline int moderate(Objects& o, const std::function<void(ib_uverbs_ex_modify_cq&)>& spoil) {
  ib_uverbs_ex_modify_cq m{};
  m.cq_handle = o.verbs->verbs_send_cq()->handle;
  m.attr_mask = 1;
  spoil(m);
  return write_command(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ, m).send();
}

inline int register_umem(std::uint64_t address, std::uint64_t bytes, int dmabuf = -1,
                         unsigned access = IBV_ACCESS_LOCAL_WRITE) {
  KernelMessage m(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
  m.handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0)
      .number(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, address)
      .number(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, bytes)
      .pointer(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, command_answer, 4)
      .number(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, access, 4);
  if (dmabuf >= 0) m.handle(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, static_cast<unsigned>(dmabuf));
  return m.send();
}

// Subscribes a channel to events of the object that `handle` names. Their types are a list of
// 16-bit numbers, `type_bytes` long.
inline int subscribe(
    std::uint32_t handle, std::size_t type_bytes, const Spoil& spoil = [](KernelMessage&) {}) {
  static const std::uint16_t types[32] = {};
  mlx5dv_devx_event_channel* channel =
      check(mlx5dv_devx_create_event_channel(Hca::instance().context(),
                                             MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA),
            "event channel");
  KernelMessage m(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
  m.handle(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, static_cast<unsigned>(channel->fd))
      .handle(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, handle)
      .pointer(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, types, type_bytes);
  spoil(m);
  const int error = m.send();
  mlx5dv_devx_destroy_event_channel(channel);
  return error;
}

// Sends a mailbox by the kernel's method for `modify` commands. `handle` names the queue pair.
inline int devx_modify(std::uint32_t handle, const Command& in, std::size_t in_bytes,
                       std::size_t out_bytes) {
  Answer out;
  return KernelMessage(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY)
      .handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, handle)
      .pointer(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in.bytes.data(), in_bytes)
      .pointer(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out.bytes.data(), out_bytes)
      .send();
}
inline Command to_error_of(std::uint32_t qpn) {
  Command in;
  in.set(cmd::kOpcode, cmd::k2Err).set(cmd::kNumber, qpn);
  return in;
}

}  // namespace direct
