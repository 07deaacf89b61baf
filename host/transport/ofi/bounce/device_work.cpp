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

void DeviceWork::update(std::byte* word, const WordUpdate& update, std::uint64_t* before,
                        Then then) {
  call_.updates[call_.count++] = {word,   update.operand, update.compare,
                                  before, update.op,      update.bytes};
  thens_.push_back(std::move(then));
  gathered_ = true;
  if (call_.count == UpdateCall::kMost) launch_updates();
}

void DeviceWork::launch_updates() {
  if (!gathered_) return;
  gathered_ = false;
  if (followed_ != in_.queue->begun()) words_.queue->follow(*in_.queue);
  followed_ = in_.queue->begun();
  void* of_nic[] = {by_nic_ ? &*by_nic_ : nullptr, &call_};
  void* alone[] = {&call_};
  if (by_nic_)
    words_.queue->launch(LibraryKernel::kUpdateByNic, of_nic);
  else
    words_.queue->launch(LibraryKernel::kUpdate, alone);
  call_.count = 0;
  for (Then& then : std::exchange(thens_, {})) words_.add(std::move(then));
}

bool DeviceWork::Line::poll(const std::function<void()>& look) {
  if (waiting.empty()) return false;
  const std::uint64_t ended = queue->ended();
  look();
  bool has_moved = false;
  while (!waiting.empty() && waiting.front().first <= ended) {
    const Then then = std::move(waiting.front().second);
    waiting.pop_front();
    has_moved = true;
    then();
  }
  return has_moved;
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
