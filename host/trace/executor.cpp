#include "host/trace/executor.hpp"

#include <atomic>

#include "chime/device/simt/trace/noting.hpp"
#include "host/trace/recorder.hpp"

namespace chime::trace {
namespace {

constinit std::atomic<int (*)()> pe_of_call{nullptr};

std::uint64_t in_heap(const simt::TracingPe& me, const void* address) {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) -
                                                 static_cast<const std::byte*>(me.heap));
  return address != nullptr && offset < me.heap_bytes ? offset : kNotInHeap;
}

void* begin_work(const simt::TracingPe& me, const abi::TracedWork& work,
                 const simt::ThreadPlace& where) {
  return begin_event(EventKind::kWork, [&](Event& event) {
    event.address = in_heap(me, work.address);
    event.bytes = work.bytes;
    event.value = work.value;
    event.pe = work.pe;
    event.my_pe = me.pe;
    event.launch = static_cast<std::uint32_t>(where.launch);
    event.block = static_cast<std::uint32_t>(where.block);
    event.thread = static_cast<std::uint16_t>(where.thread);
    event.operation = static_cast<std::uint16_t>(work.operation);
    event.how = static_cast<std::uint8_t>(work.how);
  });
}

void* begin_call(const char* name) {
  const auto find_pe = pe_of_call.load(std::memory_order_relaxed);
  const int pe = find_pe != nullptr ? find_pe() : -1;
  return begin_event(EventKind::kCall, [&](Event& event) {
    event.name = number_of(name);
    if (pe >= 0) event.my_pe = pe;
  });
}

void* begin_launch(const simt::LaunchOfKernel& launch) {
  return begin_event(EventKind::kKernel, [&](Event& event) {
    event.name = number_of(launch.name);
    event.bytes = launch.blocks;
    event.value = launch.threads;
    event.launch = static_cast<std::uint32_t>(launch.launch);
    if (launch.pe >= 0) event.my_pe = launch.pe;
  });
}

void end(void* event) { end_event(static_cast<Event*>(event)); }

void note_seen(void* event, std::uint64_t value) {
  static_cast<Event*>(event)->seen = value;
  static_cast<Event*>(event)->has_seen = 1;
}

}  // namespace

const simt::Recorder kExecutorsRecorder = {begin_work, begin_call, begin_launch, end, note_seen};

void set_pe_of_call(int (*find)()) { pe_of_call.store(find, std::memory_order_relaxed); }

}  // namespace chime::trace
