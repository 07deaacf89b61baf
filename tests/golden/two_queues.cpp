#include "two_queues.hpp"

#include <endian.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace chime::tests {
namespace {

std::unique_ptr<direct::Endpoint> connected_to_itself() {
  direct::Options options;
  options.send_blocks = 256;
  options.inline_bytes = 32 * 8;  // what a warp puts together
  options.completions = 16384;    // nobody tells the NIC which were taken of Chime's
  options.ignores_overrun = true;
  auto endpoint = direct::make_verbs_endpoint({"verbs", false, false, 64}, options);
  endpoint->connect(endpoint->qpn());
  return endpoint;
}

}  // namespace

TwoQueues::TwoQueues()
    : theirs_(connected_to_itself()),
      ours_(connected_to_itself()),
      strict_(direct::check(
          ibv_reg_mr(direct::Hca::instance().pd(), heap_.at(0), kHeapBytes, direct::kAllAccess),
          "ibv_reg_mr")),
      results_((ours_->sends.blocks + 1) * sizeof(abi::NicFetchSlot)) {
  heap_.fill(0, kHeapBytes, 1);
  job_.unmap(0);
  Context& ctx = job_.context();
  ctx.pe.heap = at(0);
  ctx.pe.heap_bytes = kHeapBytes;
  ctx.pe.on_error = OnError::kReturn;
  ctx.pe.wait_timeout_ns = 60'000'000'000;
  show_queue();
  show_memory();
}

void TwoQueues::show_queue() {
  queue_.head.ring = reinterpret_cast<std::byte*>(ours_->sends.ring);
  queue_.nic.bell.record = ours_->sends.record;
  queue_.nic.bell.doorbell = ours_->sends.doorbell;
  queue_.nic.cq.cqes = reinterpret_cast<std::byte*>(ours_->sent.ring);
  queue_.nic.fetch = results_.as<abi::NicFetchSlot>();
  queue_.nic.fetch_nic = result(0);
  queue_.nic.fetch_lkey_be = htobe32(results_.lkey());
  queue_.head.number_be = htobe32(ours_->qpn() << 8);
  queue_.head.depth = static_cast<std::uint16_t>(ours_->sends.blocks);
  queue_.nic.cq.count = ours_->sent.entries;
  queue_.nic.cq.mode = abi::NicCqMode::kRing;
  queue_.head.path = Path::kNic;
  queue_.fault = &fault_;
  queue_.watch = &watch_;
  queue_.progress.done = abi::kFresh;
}

void TwoQueues::show_memory() {
  queue_.nic.peer = {address(0), htobe32(data_rkey()), htobe32(strict_rkey())};
  Context& ctx = job_.context();
  ctx.channels.pool = {&queue_, &touched_, &watch_, 64};
  ctx.channels.route = &route_;
  ctx.channels.count = 64;  // of which one is there, and is touched
  ctx.channels.slots = 1;
  ctx.nic.buffers = &no_buffers_;
  ctx.nic.heap = {address(0), address(kHeapBytes), address(0), htobe32(lkey()), 0};
}

void TwoQueues::post_receives() {
  for (direct::Endpoint* endpoint : {theirs_.get(), ours_.get()}) {
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    direct::check_zero(ibv_post_recv(endpoint->verbs_qp(), &receive, &bad), "ibv_post_recv");
  }
}

void TwoQueues::post_by_libmlx5(std::vector<Request> requests) {
  std::vector<ibv_sge> here(requests.size());
  std::vector<ibv_send_wr> work(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& r = requests[i];
    const bool is_last = i + 1 == requests.size();
    here[i] = {r.local, r.bytes, r.lkey};
    ibv_send_wr& wr = work[i];
    wr.next = is_last ? nullptr : &work[i + 1];
    wr.sg_list = &here[i];
    wr.num_sge = 1;
    wr.opcode = r.opcode;
    wr.send_flags = r.flags | (is_last ? IBV_SEND_SIGNALED : 0u);
    wr.imm_data = r.immediate_be;
    if (r.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || r.opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
      wr.wr.atomic = {r.remote, r.compare_add, r.swap, r.rkey};
    else
      wr.wr.rdma = {r.remote, r.rkey};
  }
  ibv_send_wr* bad = nullptr;
  direct::check_zero(ibv_post_send(theirs_->verbs_qp(), work.data(), &bad), "ibv_post_send");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  ibv_wc done{};
  while (ibv_poll_cq(theirs_->verbs_send_cq(), 1, &done) == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("libmlx5: no completion within a minute");
    std::this_thread::yield();
  }
  if (done.status != IBV_WC_SUCCESS)
    throw std::runtime_error(std::string("libmlx5: ") + ibv_wc_status_str(done.status));
}

}  // namespace chime::tests
