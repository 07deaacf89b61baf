// libibverbs, loaded by a program that is not linked with it, and the few objects that the tests
// need: one queue pair with its memory, connected to another.
#pragma once

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

// verbs.h makes macros of two of them.
#undef ibv_reg_mr
#undef ibv_query_port

#define SOFTNIC_VERBS(X)  \
  X(ibv_get_device_list)  \
  X(ibv_free_device_list) \
  X(ibv_get_device_name)  \
  X(ibv_open_device)      \
  X(ibv_close_device)     \
  X(ibv_alloc_pd)         \
  X(ibv_dealloc_pd)       \
  X(ibv_reg_mr)           \
  X(ibv_dereg_mr)         \
  X(ibv_create_cq)        \
  X(ibv_destroy_cq)       \
  X(ibv_create_qp)        \
  X(ibv_destroy_qp)       \
  X(ibv_modify_qp)

struct Verbs {
#define SOFTNIC_MEMBER(name) decltype(&::name) name;
  SOFTNIC_VERBS(SOFTNIC_MEMBER)
#undef SOFTNIC_MEMBER

  // `library`: a handle of libibverbs, or RTLD_DEFAULT for one that is linked.
  explicit Verbs(void* library) {
#define SOFTNIC_LOAD(name) load(library, #name, name);
    SOFTNIC_VERBS(SOFTNIC_LOAD)
#undef SOFTNIC_LOAD
  }

 private:
  template <class Function>
  static void load(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (!function) throw std::runtime_error(std::string("libibverbs has no ") + name);
  }
};

// Names of the devices that libibverbs finds, each followed by a space.
inline std::string device_names(const Verbs& verbs) {
  int count = 0;
  ibv_device** list = verbs.ibv_get_device_list(&count);
  std::string names;
  for (int i = 0; i < count; ++i) names += std::string(verbs.ibv_get_device_name(list[i])) + ' ';
  if (list) verbs.ibv_free_device_list(list);
  return names;
}

template <class T>
T* need(T* object, const char* what) {
  if (!object) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return object;
}
inline void need_zero(int error, const char* what) {
  if (error) throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}

// The data that the other side needs.
struct Address {
  std::uint32_t qpn = 0;
  std::uint32_t rkey = 0;
  std::uint64_t memory = 0;
};

// False when `holds` does not come true within a minute.
template <class Condition>
bool until(const Condition& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds())
    if (std::chrono::steady_clock::now() > deadline) return false;
  return true;
}

// An open device with one RC queue pair and 4 KiB of memory.
class Endpoint {
 public:
  static constexpr std::size_t kWords = 512;
  static constexpr std::uint16_t kLid = 7;

  explicit Endpoint(const Verbs& verbs) : verbs_(verbs) {
    open();
    pd_ = need(verbs_.ibv_alloc_pd(context_), "ibv_alloc_pd");
    mr_ = need(verbs_.ibv_reg_mr(pd_, memory_->data(), kWords * 8,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC),
               "ibv_reg_mr");
    cq_ = need(verbs_.ibv_create_cq(context_, 16, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq_;
    wanted.cap = {16, 16, 1, 1, 0};
    wanted.qp_type = IBV_QPT_RC;
    qp_ = need(verbs_.ibv_create_qp(pd_, &wanted), "ibv_create_qp");
  }
  ~Endpoint() {
    verbs_.ibv_destroy_qp(qp_);
    verbs_.ibv_destroy_cq(cq_);
    verbs_.ibv_dereg_mr(mr_);
    verbs_.ibv_dealloc_pd(pd_);
    verbs_.ibv_close_device(context_);
  }
  Endpoint(const Endpoint&) = delete;

  Address address() const {
    return {qp_->qp_num, mr_->rkey, reinterpret_cast<std::uint64_t>(memory_->data())};
  }
  std::uint64_t& word(std::size_t i) { return (*memory_)[i]; }

  void connect(const Address& peer) {
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    need_zero(verbs_.ibv_modify_qp(
                  qp_, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "to INIT");
    a = {};
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_4096;
    a.dest_qp_num = peer.qpn;
    a.max_dest_rd_atomic = 16;
    a.min_rnr_timer = 12;
    a.ah_attr.dlid = kLid;
    a.ah_attr.port_num = 1;
    need_zero(
        verbs_.ibv_modify_qp(qp_, &a,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
        "to RTR");
    a = {};
    a.qp_state = IBV_QPS_RTS;
    a.timeout = 14;
    a.retry_cnt = a.rnr_retry = 7;
    a.max_rd_atomic = 16;
    need_zero(verbs_.ibv_modify_qp(qp_, &a,
                                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
              "to RTS");
  }

  // Copies word `from` here to word `to` there. Returns the completion's status.
  ibv_wc_status write(const Address& peer, std::size_t from, std::size_t to) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma.remote_addr = peer.memory + to * 8;
    wr.wr.rdma.rkey = peer.rkey;
    return post(wr, from);
  }
  // Adds `value` to word `to` there; the value before arrives in word `old` here.
  ibv_wc_status fetch_add(const Address& peer, std::uint64_t value, std::size_t to,
                          std::size_t old) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    wr.wr.atomic.remote_addr = peer.memory + to * 8;
    wr.wr.atomic.rkey = peer.rkey;
    wr.wr.atomic.compare_add = value;
    return post(wr, old);
  }

  // Waits until the other side has written `value` to word `i`. False after a minute.
  bool wait_for(std::size_t i, std::uint64_t value) {
    return until([&] { return std::atomic_ref(word(i)).load(std::memory_order_acquire) == value; });
  }

 private:
  void open() {
    ibv_device** list = need(verbs_.ibv_get_device_list(nullptr), "ibv_get_device_list");
    context_ = list[0] ? verbs_.ibv_open_device(list[0]) : nullptr;
    verbs_.ibv_free_device_list(list);
    need(context_, "ibv_open_device");
  }

  ibv_wc_status post(ibv_send_wr& wr, std::size_t local_word) {
    ibv_sge here{reinterpret_cast<std::uint64_t>(&word(local_word)), 8, mr_->lkey};
    wr.sg_list = &here;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    need_zero(ibv_post_send(qp_, &wr, &bad), "ibv_post_send");
    ibv_wc done{};
    if (!until([&] { return ibv_poll_cq(cq_, 1, &done) != 0; }))
      throw std::runtime_error("no completion within a minute");
    return done.status;
  }

  const Verbs& verbs_;
  std::unique_ptr<std::array<std::uint64_t, kWords>> memory_ =
      std::make_unique<std::array<std::uint64_t, kWords>>();
  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
};
