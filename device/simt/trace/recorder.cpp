#include "chime/device/simt/trace/recorder.hpp"

#include "chime/abi/context.h"
#include "chime/device/simt/threads/block.hpp"
#include "chime/device/simt/threads/grid.hpp"
#include "chime/device/simt/trace/traced.hpp"

namespace chime::simt {
namespace {

// The last one that was set: it ends what it began, also when it records nothing new.
constinit std::atomic<const Recorder*> last{nullptr};

ThreadPlace place_of_thread() {
  const ThreadState* const self = current_thread;
  if (self == nullptr) return {};
  const auto& block = static_cast<const Block&>(*self->block);
  return {block.launch()->serial + 1, block.block_rank, self->rank};
}

void* begin(const TracingPe& me, const abi::TracedWork& work) {
  const Recorder* const in_use = recorder();
  return in_use != nullptr ? in_use->begin_work(me, work, place_of_thread()) : nullptr;
}

}  // namespace

namespace detail {
constinit std::atomic<const Recorder*> recorder_in_use{nullptr};
}

void set_recorder(const Recorder* recorder) {
  if (recorder != nullptr) last.store(recorder, std::memory_order_release);
  detail::recorder_in_use.store(recorder, std::memory_order_release);
}

void* begin_traced(const Context& ctx, chime::Operation operation, int pe, const void* address,
                   std::size_t bytes, std::uint64_t value, int how) {
  return begin({ctx.pe.my_pe, ctx.pe.heap, ctx.pe.heap_bytes},
               {operation, pe, address, bytes, value, how});
}

void* begin_noted(const TracingPe& me, const NotedWork& work) {
  return begin(me, {static_cast<chime::Operation>(work.operation), work.pe, work.address,
                    work.bytes, work.value, work.how});
}

void end_traced(void* event) { last.load(std::memory_order_acquire)->end(event); }

void note_seen(void* event, std::uint64_t value) {
  last.load(std::memory_order_acquire)->note_seen(event, value);
}

void TracedCall::end() const { end_traced(event_); }

}  // namespace chime::simt
