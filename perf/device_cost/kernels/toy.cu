// A kernel with an obvious straight path: the smallest possible put. Its counts are in
// tests/toy_test.py, its rules in rules/toy.toml.
#include "chime/chime.h"

using namespace chime;
using exec::Order;
using exec::Scope;

namespace {

struct Queue {
  uint64_t reserved, done, depth, ready;
  uint64_t* slots;
  uint32_t* record;
  uint64_t* doorbell;
};

// Rare, and longer than the path around it.
CHIME_DEVICE_OUT_OF_LINE void wait_for_room(Queue* queue, uint64_t end) {
  while (end - exec::ld<Order::kAcquire, Scope::kDevice>(&queue->done) > queue->depth) {
    exec::nanosleep(100);
  }
  exec::atomic_add<Order::kRelaxed, Scope::kSystem>(&queue->done, uint64_t{0});
}

}  // namespace

extern "C" CHIME_KERNEL void toy(Queue* queue, const uint32_t* value) {
  const uint64_t at =
      exec::atomic_add<Order::kRelaxed, Scope::kDevice>(&queue->reserved, uint64_t{1});
  if (at - exec::ld<Order::kRelaxed, Scope::kDevice>(&queue->done) >= queue->depth) {
    wait_for_room(queue, at + 1);
  }
  exec::st16(queue->slots + 2 * (at % 64), {*value, 1, 2, 3});
  while (exec::ld<Order::kRelaxed, Scope::kDevice>(&queue->ready) != at) exec::pause();
  exec::fence<Order::kAcqRel, Scope::kSystem>();
  exec::st<Order::kRelaxed, Scope::kSystem>(queue->record, static_cast<uint32_t>(at + 1));
  exec::st_mmio(queue->doorbell, at + 1);
}
