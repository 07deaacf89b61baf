#include "host/transport/ofi/bounce/device_work.hpp"

#include <atomic>

#include "host/errors/error.hpp"

namespace chime::host::ofi {

void DeviceWork::use_nic(const Context& kernels, std::byte* scratch) {
  static_assert(sizeof(abi::ErrorRecord) + sizeof(std::uint64_t) <= kScratchBytes);
  by_nic_ = kernels;
  by_nic_->pe.error = new (scratch) abi::ErrorRecord{};
  call_.has_failed = new (scratch + sizeof(abi::ErrorRecord)) std::uint32_t(0);
}

void DeviceWork::check_nic() const {
  if (call_.has_failed && std::atomic_ref(*call_.has_failed).load(std::memory_order_acquire) != 0)
    throw Error("NIC", CHIMEX_ERR_NETWORK, "this PE's NIC updates no words of its heap any more");
}

// A word that is set and whose old value nobody wants takes no kernel, and so no room among those
// of the program. A NIC that updates words would lose it.
void DeviceWork::update(std::byte* word, const WordUpdate& update, std::uint64_t* before,
                        Then then) {
  if (update.op == AmoOp::kSet && before == nullptr && !has_nic())
    return set(word, update.operand, update.bytes, std::move(then));
  gathered_.push_back({{word, update.operand, update.compare, before, update.op, update.bytes},
                       std::move(then),
                       in_.come()});
  if (gathered_.size() >= UpdateCall::kMost) launch_updates();
}

void DeviceWork::launch_updates() {
  while (!gathered_.empty() && words_.has_room())
    if (!launch_some()) return;
}

// False: what the first of them stands behind is held itself.
bool DeviceWork::launch_some() {
  const std::uint64_t begun = in_.queue->begun();
  call_.count = 0;
  for (const Gathered& one : gathered_) {
    if (call_.count == UpdateCall::kMost || one.behind > begun) break;
    call_.updates[call_.count++] = one.update;
  }
  if (call_.count == 0) return false;
  if (followed_ != begun) words_.queue->follow(*in_.queue);
  followed_ = begun;
  void* of_nic[] = {by_nic_ ? &*by_nic_ : nullptr, &call_};
  void* alone[] = {&call_};
  if (by_nic_)
    words_.queue->launch(LibraryKernel::kUpdateByNic, of_nic);
  else
    words_.queue->launch(LibraryKernel::kUpdate, alone);
  for (std::uint32_t i = 0; i < call_.count; ++i) {
    words_.add(std::move(gathered_.front().then));
    gathered_.pop_front();
  }
  return true;
}

bool DeviceWork::Line::poll(const std::function<void()>& look) {
  if (waiting.empty()) return false;
  ended = queue->ended();
  look();
  bool has_moved = false;
  while (!waiting.empty() && waiting.front().first <= ended) {
    const Then then = std::move(waiting.front().second);
    waiting.pop_front();
    has_moved = true;
    then();
  }
  begin_held();
  return has_moved;
}

void DeviceWork::Line::begin_held() {
  for (; !held.empty() && has_room(); held.pop_front()) {
    held.front().first(*queue);
    add(std::move(held.front().second));
  }
}

bool DeviceWork::poll() {
  launch_updates();
  bool has_moved = out_.poll();
  has_moved |= in_.poll();
  has_moved |= words_.poll([this] { check_nic(); });
  launch_updates();
  return has_moved;
}

}  // namespace chime::host::ofi
