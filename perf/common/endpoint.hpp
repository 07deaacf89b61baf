// One RC queue pair on the first RDMA device, with memory that the other side may write: plain
// verbs, as in any program.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

namespace chime::perf {

// Every wait ends: with a message that names the event that did not come.
template <class Condition>
void wait_for(const char* what, const Condition& holds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  for (unsigned turns = 1; !holds(); ++turns)
    if (turns % 4096 == 0 && Clock::now() > deadline)
      throw std::runtime_error(std::string("after 30 s there is still no ") + what);
}

template <class T>
T* need(T* object, const char* what) {
  if (!object) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return object;
}
inline void need_zero(int error, const char* what) {
  if (error) throw std::runtime_error(std::string(what) + ": " + std::strerror(error));
}

// The address that the other side needs.
struct Address {
  std::uint32_t qpn;
  std::uint32_t rkey;
  std::uint64_t memory;
  std::uint32_t lid;
};

class Endpoint {
 public:
  static constexpr std::uint32_t kDepth = 256;       // work requests in the send queue
  static constexpr std::uint32_t kSignalEvery = 32;  // of which so many share a completion

  // `bytes`: the longest message. The other side writes to the first half of the memory, which ends
  // with a flag; this side sends from the second.
  explicit Endpoint(std::size_t bytes) : bytes_((bytes + 7) / 8 * 8 + sizeof(std::uint64_t)) {
    ibv_device** devices = ibv_get_device_list(nullptr);
    if (!devices || !devices[0]) throw std::runtime_error("there is no RDMA device");
    context_ = need(ibv_open_device(devices[0]), "ibv_open_device");
    ibv_free_device_list(devices);
    pd_ = need(ibv_alloc_pd(context_), "ibv_alloc_pd");
    memory_ =
        static_cast<std::uint8_t*>(need(std::aligned_alloc(4096, 2 * bytes_), "aligned_alloc"));
    std::memset(memory_, 0, 2 * bytes_);
    mr_ =
        need(ibv_reg_mr(pd_, memory_, 2 * bytes_, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
             "ibv_reg_mr");
    cq_ = need(ibv_create_cq(context_, kDepth, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq_;
    wanted.cap = {kDepth, 1, 1, 1, 8};
    wanted.qp_type = IBV_QPT_RC;
    qp_ = need(ibv_create_qp(pd_, &wanted), "ibv_create_qp");
  }
  ~Endpoint() {
    ibv_destroy_qp(qp_);
    ibv_destroy_cq(cq_);
    ibv_dereg_mr(mr_);
    std::free(memory_);
    ibv_dealloc_pd(pd_);
    ibv_close_device(context_);
  }
  Endpoint(const Endpoint&) = delete;

  Address address() const {
    ibv_port_attr port;
    need_zero(ibv_query_port(context_, 1, &port), "ibv_query_port");
    return {qp_->qp_num, mr_->rkey, reinterpret_cast<std::uint64_t>(memory_), port.lid};
  }

  void connect(const Address& peer) {
    peer_ = peer;
    ibv_qp_attr a{};
    a.qp_state = IBV_QPS_INIT;
    a.port_num = 1;
    a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    need_zero(ibv_modify_qp(qp_, &a,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              "ibv_modify_qp to INIT");
    a.qp_state = IBV_QPS_RTR;
    a.path_mtu = IBV_MTU_4096;
    a.dest_qp_num = peer.qpn;
    a.max_dest_rd_atomic = 1;
    a.min_rnr_timer = 12;
    a.ah_attr.port_num = 1;
    a.ah_attr.dlid = static_cast<std::uint16_t>(peer.lid);
    need_zero(ibv_modify_qp(qp_, &a,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
              "ibv_modify_qp to RTR");
    a.qp_state = IBV_QPS_RTS;
    a.timeout = 18;
    a.retry_cnt = a.rnr_retry = 7;
    a.max_rd_atomic = 1;
    need_zero(ibv_modify_qp(qp_, &a,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
              "ibv_modify_qp to RTS");
  }

  // Posts one write of `bytes` bytes.
  void write(std::uint32_t bytes, bool signalled) {
    Write write(*this, 0, bytes, signalled);
    post(write);
  }

  // Posts a write of `bytes` and a signalled one of the flag after it, together.
  void write_and_flag(std::uint32_t bytes, std::uint64_t value) {
    std::memcpy(source() + flag_at(), &value, sizeof value);
    Write data(*this, 0, bytes, false), flag(*this, flag_at(), sizeof value, true);
    data.request.next = &flag.request;
    post(data);
  }
  // The value that the other side wrote to this side's flag; 0 at first.
  std::uint64_t flag() const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_ + flag_at()))
        .load(std::memory_order_acquire);
  }

  // A signalled write of `bytes`; its last word, which lands last, is `value`.
  void write_value(std::uint64_t value, std::uint32_t bytes) {
    std::memcpy(source() + bytes - sizeof value, &value, sizeof value);
    write(bytes, true);
  }
  // The last word of a message of `bytes` that the other side wrote.
  std::uint64_t last_word(std::uint32_t bytes) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_ + bytes - 8))
        .load(std::memory_order_acquire);
  }

  // One completion, if there is one.
  bool poll() {
    ibv_wc completion;
    const int got = ibv_poll_cq(cq_, 1, &completion);
    if (got > 0 && completion.status != IBV_WC_SUCCESS)
      throw std::runtime_error(std::string("a write failed: ") +
                               ibv_wc_status_str(completion.status));
    return got > 0;
  }

  // Posts `count` writes, a multiple of kSignalEvery, with at most `window` unfinished (a multiple,
  // too, or 1); waits for all.
  void write_windowed(std::uint32_t bytes, std::uint32_t count, std::uint32_t window) {
    const std::uint32_t every = std::min(window, kSignalEvery);
    std::uint32_t unfinished = 0;
    for (std::uint32_t posted = 1; posted <= count; ++posted) {
      write(bytes, posted % every == 0);
      if (++unfinished < window) continue;
      wait_for("completion", [&] { return poll(); });
      unfinished -= every;
    }
    for (; unfinished > 0; unfinished -= every) wait_for("completion", [&] { return poll(); });
  }

 private:
  // A work request that writes from an offset of the source to the same offset of the target.
  struct Write {
    Write(const Endpoint& self, std::size_t offset, std::uint32_t bytes, bool signalled)
        : piece{reinterpret_cast<std::uint64_t>(self.source() + offset), bytes, self.mr_->lkey} {
      request.sg_list = &piece;
      request.num_sge = 1;
      request.opcode = IBV_WR_RDMA_WRITE;
      request.send_flags = (signalled ? unsigned{IBV_SEND_SIGNALED} : 0u) |
                           (bytes <= 8 ? unsigned{IBV_SEND_INLINE} : 0u);
      request.wr.rdma = {self.peer_.memory + offset, self.peer_.rkey};
    }
    Write(const Write&) = delete;

    ibv_sge piece;
    ibv_send_wr request{};
  };
  void post(Write& first) {
    ibv_send_wr* bad = nullptr;
    need_zero(ibv_post_send(qp_, &first.request, &bad), "ibv_post_send");
  }

  std::uint8_t* source() const { return memory_ + bytes_; }
  std::size_t flag_at() const { return bytes_ - sizeof(std::uint64_t); }

  std::size_t bytes_;  // of each half
  ibv_context* context_;
  ibv_pd* pd_;
  std::uint8_t* memory_;
  ibv_mr* mr_;
  ibv_cq* cq_;
  ibv_qp* qp_;
  Address peer_{};
};

}  // namespace chime::perf
