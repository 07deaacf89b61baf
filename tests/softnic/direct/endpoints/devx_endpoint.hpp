// Route X: umem, CREATE_CQ, CREATE_QP, and the state transitions as firmware commands.
#pragma once

#include "endpoint.hpp"
#include "mailbox.hpp"

namespace direct {

struct ObjectDeleter {
  void operator()(mlx5dv_devx_obj* o) const { mlx5dv_devx_obj_destroy(o); }
  void operator()(mlx5dv_devx_umem* u) const { mlx5dv_devx_umem_dereg(u); }
  void operator()(mlx5dv_devx_uar* u) const { mlx5dv_devx_free_uar(u); }
  void operator()(void* p) const { std::free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, ObjectDeleter>;

// Memory of this process that the device may use for queues and records.
struct QueueMemory {
  explicit QueueMemory(std::size_t bytes);
  Owned<void> memory;
  std::uint8_t* base;
  Owned<mlx5dv_devx_umem> umem;
  std::uint32_t id() const { return umem->umem_id; }
};

class DevxEndpoint final : public Endpoint {
 public:
  DevxEndpoint(const Route& route, const Options& options);

  int to_init() override;
  int to_rtr(std::uint32_t peer) override;
  int to_rts() override;
  int to_error() override { return modify(command(cmd::k2Err)); }
  int to_reset() override;
  unsigned state() override;

  // A modify command for this queue pair. The caller sets the context's fields.
  Command command(std::uint32_t opcode) const;
  // 0, or the error number; answer() has the firmware's reply.
  int modify(const Command& in);
  const Answer& answer() const { return answer_; }
  mlx5dv_devx_obj* object() const { return qp_.get(); }
  // Leaves its completion queues.
  void destroy_qp() { qp_.reset(); }
  mlx5dv_devx_obj* send_cq() const { return send_cq_.get(); }
  std::uint32_t send_cqn() const { return send_cqn_; }
  std::uint32_t eqn() const { return eqn_; }

 private:
  Owned<mlx5dv_devx_obj> create_cq(const Route& route, bool collapsed, CompletionRing& ring,
                                   QueueMemory& memory, std::uint32_t& cqn);
  void create_qp();

  Options options_;
  std::uint32_t eqn_ = 0;
  Owned<mlx5dv_devx_uar> uar_;
  QueueMemory records_, send_ring_, receive_ring_, queues_;
  std::uint32_t send_cqn_ = 0, receive_cqn_ = 0;
  Owned<mlx5dv_devx_obj> send_cq_, receive_cq_, qp_;
  Answer answer_;
};

}  // namespace direct
