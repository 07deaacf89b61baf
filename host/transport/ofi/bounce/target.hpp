// The requests of peers to a PE whose heap is a GPU's: the device carries these out, and an answer
// goes when that is done. The requests of one peer begin in their order; where a slot is missing,
// later ones wait, too.
//
//   put in a message    into a slot, and copied in; of 4 or 8 bytes: set
//   put of their slot   read into a slot, and copied in
//   get                 copied out into a slot; sent in a message, or written into their slot
//   atomic              a word that is set, or an update by a kernel, behind the puts before it
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "host/transport/ofi/bounce/device_work.hpp"
#include "host/transport/ofi/bounce/request_sink.hpp"
#include "host/transport/ofi/bounce/slots.hpp"

namespace chime::host::ofi {

class Target {
 public:
  // All of them outlive this. `results`: free places for words.
  Target(DeviceWork& work, SlotPool::Side& slots, std::vector<std::uint64_t*>& results,
         std::span<std::byte> heap, RequestSink& request_sink)
      : work_(work), slots_(slots), results_(results), heap_(heap), request_sink_(request_sink) {}

  // REQUIRES: it fits the heap.
  void take(PeerLink& link, const Message& ask, std::span<const std::byte> body);
  // Begins asks that waited for slots. Whether any of these began.
  bool poll();

  // The provider has handed over a task's data: what is sent from here on comes behind it.
  void on_handed_over(void* task);
  // The internal request has finished, successfully or not.
  void on_internal_request(void* task, chimex_status status);
  void lose(const PeerLink& link);

 private:
  struct Task {
    PeerLink* link = nullptr;
    Message ask = {};
    Slot* slot = nullptr;
    std::uint64_t* before = nullptr;
    std::uint64_t theirs = 0;  // their slot
    bool is_answered = false;
  };
  struct Held {
    Message ask;
    std::vector<std::byte> body;
  };
  struct Line {
    PeerLink* link;
    std::deque<Held> held;
  };

  bool serve_round();
  bool serve(PeerLink& link, const Message& ask, std::span<const std::byte> body);
  bool serve_put(PeerLink& link, const Message& ask, std::span<const std::byte> body);
  bool serve_update(PeerLink& link, const Message& ask, std::span<const std::byte> body);
  bool serve_pull(PeerLink& link, const Message& ask, std::uint64_t theirs);
  bool serve_get(PeerLink& link, const Message& ask, std::uint64_t theirs);
  void on_copied_out(Task& task);
  void answer(Task& task, std::uint64_t before = 0);
  void end(Task& task);

  Task& new_task(PeerLink& link, const Message& ask);
  Task* new_task_with_slot(PeerLink& link, const Message& ask);
  std::byte* there(const Task& task) const { return heap_.data() + task.ask.at; }

  DeviceWork& work_;
  SlotPool::Side& slots_;
  std::vector<std::uint64_t*>& results_;
  const std::span<std::byte> heap_;
  RequestSink& request_sink_;
  std::deque<Task> tasks_;  // at stable addresses
  std::vector<Task*> free_;
  std::map<int, Line> lines_;  // of peers that wait
  int last_served_ = -1;
};

}  // namespace chime::host::ofi
