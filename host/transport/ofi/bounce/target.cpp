#include "host/transport/ofi/bounce/target.hpp"

#include <cstring>

namespace chime::host::ofi {
namespace {

using Kind = Message::Kind;

// Asks whose data goes through a slot of the peer's, however few bytes are left for the last one.
bool is_large(const Message& ask) { return ask.kind == Kind::kPull || ask.kind == Kind::kPush; }
bool is_word(const Message& put) {
  return (put.bytes == 4 || put.bytes == 8) && put.at % put.bytes == 0;
}

std::uint64_t word_at(std::span<const std::byte> body, std::size_t at = 0,
                      std::size_t bytes = sizeof(std::uint64_t)) {
  std::uint64_t word = 0;
  std::memcpy(&word, body.data() + at, bytes);
  return word;
}

}  // namespace

void Target::take(PeerLink& link, const Message& ask, std::span<const std::byte> body) {
  if (is_large(ask) && (ask.bytes == 0 || ask.bytes > SlotPool::kLargeBytes))
    return request_sink_.send(link, answer_to(ask.id, 0, CHIMEX_ERR_INVALID), {});
  const auto line = lines_.find(link.pe);
  if (line == lines_.end() && serve(link, ask, body)) return;
  lines_.try_emplace(link.pe, Line{&link, {}})
      .first->second.held.push_back({ask, {body.begin(), body.end()}});
}

bool Target::poll() {
  bool has_begun = false;
  while (serve_round()) has_begun = true;
  return has_begun;
}

// One ask of each waiting peer. The round begins behind the peer that was served last, which has
// the last turn now, so free slots go to each in turn.
bool Target::serve_round() {
  bool has_begun = false;
  auto at = lines_.upper_bound(last_served_);
  for (std::size_t left = lines_.size(); left != 0; --left) {
    if (at == lines_.end()) at = lines_.begin();
    auto& [link, held] = at->second;
    if (!held.empty() && serve(*link, held.front().ask, held.front().body)) {
      if (!held.empty()) held.pop_front();  // the peer may be lost by this
      last_served_ = at->first;
      has_begun = true;
    }
    at = held.empty() ? lines_.erase(at) : std::next(at);
  }
  return has_begun;
}

// False: something that it needs is not free.
bool Target::serve(PeerLink& link, const Message& ask, std::span<const std::byte> body) {
  switch (ask.kind) {
    case Kind::kPut:
      return serve_put(link, ask, body);
    case Kind::kAsk:
      return serve_update(link, ask, body);
    case Kind::kPull:
      return serve_pull(link, ask, word_at(body));
    case Kind::kPush:
      return serve_get(link, ask, word_at(body));
    case Kind::kGet:
      return serve_get(link, ask, 0);
    case Kind::kAnswer:
    case Kind::kData:
    case Kind::kPutSignal:
      break;
  }
  return true;
}

bool Target::serve_put(PeerLink& link, const Message& ask, std::span<const std::byte> body) {
  if (is_word(ask)) {
    Task& task = new_task(link, ask);
    work_.set(there(task), word_at(body, 0, ask.bytes), ask.bytes, [this, &task] {
      answer(task);
      end(task);
    });
    return true;
  }
  Task* const task = new_task_with_slot(link, ask);
  if (task == nullptr) return false;
  std::memcpy(task->slot->memory, body.data(), ask.bytes);
  work_.copy_in(there(*task), task->slot->memory, ask.bytes, [this, task] {
    answer(*task);
    end(*task);
  });
  return true;
}

bool Target::serve_update(PeerLink& link, const Message& ask, std::span<const std::byte> body) {
  const WordUpdate update{static_cast<AmoOp>(ask.op), ask.bytes, word_at(body), word_at(body, 8)};
  const bool wants_before = ask.wants_before != 0;
  if (wants_before && results_.empty()) return false;
  Task& task = new_task(link, ask);
  const auto then = [this, &task] {
    answer(task, task.before ? *task.before : 0);
    end(task);
  };
  if (wants_before) {
    task.before = results_.back();
    results_.pop_back();
  }
  work_.update(there(task), update, task.before, then);
  return true;
}

bool Target::serve_pull(PeerLink& link, const Message& ask, std::uint64_t theirs) {
  Task* const task = new_task_with_slot(link, ask);
  if (task == nullptr) return false;
  request_sink_.run(link,
                    {.kind = HostRequest::Kind::kGet,
                     .pe = link.pe,
                     .at = theirs,
                     .here = task->slot->memory,
                     .bytes = ask.bytes},
                    task);
  return true;
}

bool Target::serve_get(PeerLink& link, const Message& ask, std::uint64_t theirs) {
  Task* const task = new_task_with_slot(link, ask);
  if (task == nullptr) return false;
  task->theirs = theirs;
  work_.copy_out(task->slot->memory, there(*task), ask.bytes,
                 [this, task] { on_copied_out(*task); });
  return true;
}

void Target::on_copied_out(Task& task) {
  if (task.link->is_lost) return end(task);
  const Message& ask = task.ask;
  if (is_large(ask))
    return request_sink_.run(*task.link,
                             {.kind = HostRequest::Kind::kPut,
                              .pe = task.link->pe,
                              .at = task.theirs,
                              .here = task.slot->memory,
                              .bytes = ask.bytes},
                             &task);
  const Message data = ask_for_piece(Kind::kData, ask.id, 0, ask.bytes);
  request_sink_.send(*task.link, data, {task.slot->memory, ask.bytes});
  end(task);
}

void Target::on_handed_over(void* of) {
  Task& task = *static_cast<Task*>(of);
  if (task.ask.kind == Kind::kPush) answer(task);
}

void Target::on_internal_request(void* of, chimex_status status) {
  Task& task = *static_cast<Task*>(of);
  if (status != CHIMEX_OK) return end(task);  // the peer is lost
  if (task.ask.kind == Kind::kPush) {
    if (!task.is_answered) answer(task);
    return end(task);
  }
  work_.copy_in(there(task), task.slot->memory, task.ask.bytes, [this, &task] {
    answer(task);
    end(task);
  });
}

void Target::answer(Task& task, std::uint64_t before) {
  task.is_answered = true;
  request_sink_.send(*task.link, answer_to(task.ask.id, before, CHIMEX_OK), {});
}

void Target::end(Task& task) {
  BounceUse& use = task.link->bounce;
  if (task.slot && is_large(task.ask))
    slots_.large.give_back(task.slot, use.large_served);
  else if (task.slot)
    slots_.small.give_back(task.slot, use.small_served);
  if (task.before) results_.push_back(task.before);
  free_.push_back(&task);
}

// Work in flight ends by itself, and answers nobody.
void Target::lose(const PeerLink& link) {
  if (const auto line = lines_.find(link.pe); line != lines_.end()) line->second.held.clear();
}

Target::Task& Target::new_task(PeerLink& link, const Message& ask) {
  if (free_.empty()) free_.push_back(&tasks_.emplace_back());
  Task& task = *free_.back();
  free_.pop_back();
  task = {.link = &link, .ask = ask};
  return task;
}

// With a slot; null: none is free.
Target::Task* Target::new_task_with_slot(PeerLink& link, const Message& ask) {
  Slot* const slot = is_large(ask) ? slots_.large.take(link.bounce.large_served)
                                   : slots_.small.take(link.bounce.small_served);
  if (slot == nullptr) return nullptr;
  Task& task = new_task(link, ask);
  task.slot = slot;
  return &task;
}

}  // namespace chime::host::ofi
