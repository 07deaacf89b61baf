// A queue pair with its completion queues, made by one of two routes: (V) verbs objects, whose
// memory mlx5dv_init_obj shows, or (X) DevX objects, made by firmware mailboxes. Tests drive both
// through the same rings.
#pragma once

#include <memory>

#include "hca.hpp"
#include "queues.hpp"

namespace direct {

struct Route {
  const char* name;
  bool devx;
  bool collapsed;  // send CQ with one entry
  unsigned cqe_bytes;
};

enum class Service { kRc, kUc, kUd };

struct Options {
  Service service = Service::kRc;
  unsigned send_blocks = 64;
  unsigned inline_bytes = 0;  // verbs only: for requests that libmlx5 posts
  unsigned receives = 16;
  unsigned receive_pieces = 4;
  unsigned completions = 256;
  bool ignores_overrun = false;
  unsigned access = kAllAccess;
  unsigned retry_count = 7;
  unsigned rnr_retry = 7;
  unsigned timeout = 14;
  unsigned min_rnr_timer = 1;  // 10 us
  unsigned max_reads = 16;
  unsigned max_dest_reads = 16;          // verbs only
  std::uint32_t sq_psn = 0, rq_psn = 0;  // verbs only
  ibv_mtu path_mtu = IBV_MTU_4096;       // verbs only
  std::uint32_t qkey = 0x1234;
  std::uint32_t user_index = 0;  // DevX only; verbs choose their own
  ibv_srq* srq = nullptr;
  ibv_comp_channel* channel = nullptr;  // verbs only
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  std::uint32_t qpn() const { return sends.qpn; }
  SendQueue sends;
  ReceiveQueue receives;
  CompletionRing sent;
  CompletionRing received;

  // Transitions. The result is 0 or the library's error number.
  virtual int to_init() = 0;
  virtual int to_rtr(std::uint32_t peer) = 0;
  virtual int to_rts() = 0;
  virtual int to_error() = 0;
  virtual int to_reset() = 0;
  // An ibv_qp_state: the NIC's, not the one that the library remembers.
  virtual unsigned state() = 0;

  virtual ibv_qp* verbs_qp() { return nullptr; }
  virtual ibv_cq* verbs_send_cq() { return nullptr; }
  virtual ibv_cq* verbs_receive_cq() { return nullptr; }

  void connect(std::uint32_t peer);
};

std::unique_ptr<Endpoint> make_endpoint(const Route& route, const Options& options);
std::unique_ptr<Endpoint> make_verbs_endpoint(const Route& route, const Options& options);
std::unique_ptr<Endpoint> make_devx_endpoint(const Route& route, const Options& options);

// Two endpoints of one route, connected to each other.
struct Pair {
  Pair(const Route& route, const Options& left_options, const Options& right_options);
  Pair(const Route& route, const Options& options = {}) : Pair(route, options, options) {}
  std::unique_ptr<Endpoint> left, right;
};

}  // namespace direct
