#include "host/trace/recorder.hpp"

#include <pthread.h>

#include <atomic>

namespace chime::trace {
namespace {

constinit std::atomic<PartFile*> in_use{nullptr};

// Where the calling thread writes next.
struct Room {
  PartFile* part = nullptr;
  Event *next = nullptr, *end = nullptr;
};
thread_local constinit Room room __attribute__((tls_model("initial-exec")));

// A child of fork() is no part of the job, and its memory is the parent's file.
void forget_in_children() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { in_use.store(nullptr, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

bool take_room(PartFile& part) {
  Chunk* const chunk = part.take_chunk();
  room.part = &part;
  room.next = chunk != nullptr ? chunk->events : nullptr;
  room.end = chunk != nullptr ? chunk->events + kChunkEvents : nullptr;
  return chunk != nullptr;
}

}  // namespace

void begin_recording(PartFile& part) {
  forget_in_children();
  in_use.store(&part, std::memory_order_release);
}

void end_recording() { in_use.store(nullptr, std::memory_order_release); }

bool is_recording() { return in_use.load(std::memory_order_acquire) != nullptr; }

std::uint32_t number_of(const char* name) {
  PartFile* const part = in_use.load(std::memory_order_acquire);
  return part != nullptr ? part->number_of(name) : 0;
}

void end_event(Event* event) {
  if (event == nullptr) return;
  std::atomic_ref(event->end_ns).store(now_ns(), std::memory_order_release);
}

void add_call(const char* name, int pe, std::uint64_t begin_ns) {
  end_event(begin_event(EventKind::kCall, [&](Event& event) {
    event.name = number_of(name);
    event.my_pe = pe;
    event.begin_ns = begin_ns;
  }));
}

namespace detail {

Event* next_event() {
  PartFile* const part = in_use.load(std::memory_order_acquire);
  if (part == nullptr) return nullptr;
  if ((room.part != part || room.next == room.end) && !take_room(*part)) return nullptr;
  Event* const event = room.next++;
  event->pe = -1;
  event->my_pe = part->header().first_pe;
  return event;
}

// Its fields come before its kind, by which readers know that it is whole.
void publish(Event& event, EventKind kind) {
  if (event.begin_ns == 0) event.begin_ns = now_ns();
  std::atomic_ref(event.kind).store(kind, std::memory_order_release);
}

}  // namespace detail

}  // namespace chime::trace
