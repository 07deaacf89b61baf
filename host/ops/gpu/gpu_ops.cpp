#include "host/ops/gpu/gpu_ops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <vector>

#include "chime/chime.h"
#include "chime/device/signal.cuh"
#include "host/errors/abort.hpp"
#include "host/errors/error.hpp"
#include "host/errors/wait.hpp"
#include "host/ops/amo_table.cuh"
#include "host/ops/gpu/by_kernel.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/memory/mapped.hpp"

namespace chime::host::gpu_ops {
namespace {

Gpu& gpu_of(Runtime& runtime) { return *runtime.device->gpu; }

// Calls move(dst offset, src offset) for each element, in bytes.
template <class Move>
void for_each_element(const Strides& strides, Move move) {
  const auto size = static_cast<std::ptrdiff_t>(strides.element_bytes);
  for (std::size_t i = 0; i < strides.count; ++i) {
    const auto n = static_cast<std::ptrdiff_t>(i);
    move(n * strides.dst * size, n * strides.src * size);
  }
}

bool all_left_out(const chime_wait_request& request) {
  return request.skip != nullptr && std::all_of(request.skip, request.skip + request.count,
                                                [](int skip) { return skip != 0; });
}

bool is_satisfied(const chime_wait_request& request, std::size_t looked) {
  if (request.mode == CHIME_WAIT_ANY) return looked != SIZE_MAX;
  return looked != 0;  // ALL, ONE: holds; SOME: how many
}

}  // namespace

void put(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe) {
  const bool is_copied = is_reached_by_copies(runtime, pe);
  check_here(runtime, src, bytes);
  if (!is_copied) return by_kernel::put(runtime, dst, src, bytes, pe);
  if (bytes != 0) gpu_of(runtime).copy(mapped_at(runtime, dst, bytes, pe), src, bytes);
}

void get(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe) {
  const bool is_copied = is_reached_by_copies(runtime, pe);
  check_here(runtime, dst, bytes);
  if (!is_copied) return by_kernel::get(runtime, dst, src, bytes, pe);
  if (bytes != 0) gpu_of(runtime).copy(dst, mapped_at(runtime, src, bytes, pe), bytes);
}

void put_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe) {
  if (strides.count != 0) {
    check_place(runtime, dst, span_of(strides.dst, strides.count, strides.element_bytes), pe);
    check_here(runtime, src, span_of(strides.src, strides.count, strides.element_bytes));
  }
  if (!is_reached_by_copies(runtime, pe))
    return by_kernel::put_strided(runtime, dst, src, strides, pe);
  for_each_element(strides, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    put(runtime, bytes_at(dst) + to, bytes_at(src) + from, strides.element_bytes, pe);
  });
}

void get_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe) {
  if (strides.count != 0) {
    check_place(runtime, src, span_of(strides.src, strides.count, strides.element_bytes), pe);
    check_here(runtime, dst, span_of(strides.dst, strides.count, strides.element_bytes));
  }
  if (!is_reached_by_copies(runtime, pe))
    return by_kernel::get_strided(runtime, dst, src, strides, pe);
  for_each_element(strides, [&](std::ptrdiff_t to, std::ptrdiff_t from) {
    get(runtime, bytes_at(dst) + to, bytes_at(src) + from, strides.element_bytes, pe);
  });
}

void put_element(Runtime& runtime, void* dst, const void* value, std::size_t bytes, int pe) {
  if (!is_reached_by_copies(runtime, pe))
    return by_kernel::put_element(runtime, dst, value, bytes, pe);
  put(runtime, dst, value, bytes, pe);
}

void get_element(Runtime& runtime, void* value, const void* src, std::size_t bytes, int pe) {
  if (!is_reached_by_copies(runtime, pe))
    return by_kernel::get_element(runtime, value, src, bytes, pe);
  get(runtime, value, src, bytes, pe);
}

void signal(Runtime& runtime, std::uint64_t* word, std::uint64_t value, int op, int pe) {
  check_signal_op(op);
  check_word(runtime, word, sizeof(*word), pe);
  if (is_of_the_host_alone(runtime, word, pe))
    return signal_op(host_context(), signal_of(word, value, op), pe);
  if (!is_signalled_by_driver(runtime, pe)) return by_kernel::signal(runtime, word, value, op, pe);
  gpu_of(runtime).signal(mapped_signal_at(runtime, word, pe), value, op == CHIME_SIGNAL_ADD);
}

// The data arrives before the signal begins: each is complete when its call returns.
void put_signal(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                const Signal& signal, int pe) {
  check_signal_op(signal.op);
  check_word(runtime, signal.word, sizeof(*signal.word), pe);
  put(runtime, dst, src, bytes, pe);
  gpu_ops::signal(runtime, signal.word, signal.value, signal.op, pe);
}

std::uint64_t amo(Runtime& runtime, const AmoCall& call) {
  check_reached(runtime, call.pe);
  check_word(runtime, call.word, static_cast<std::size_t>(call.width), call.pe);
  if (is_of_the_host_alone(runtime, call.word, call.pe)) return apply_amo(host_context(), call);
  return by_kernel::amo(runtime, call);
}

std::size_t test(Runtime& runtime, const chime_wait_request& request, const Look& look) {
  std::vector<std::byte> copy(request.count * static_cast<std::size_t>(request.width));
  if (!copy.empty()) gpu_of(runtime).copy(copy.data(), request.elements, copy.size());
  chime_wait_request on_host = request;
  on_host.elements = copy.data();
  return look(on_host);
}

namespace {

// A wait of the program's own has no bound, but where a PE is dead: then nothing may come.
class BoundByADeath {
 public:
  explicit BoundByADeath(Runtime& runtime) : runtime_(runtime) {}

  void throw_if_over() {
    const int dead = first_dead(runtime_.device->control().abort);
    const std::uint64_t limit_ns = runtime_.settings.wait_timeout_ns;
    const auto now = std::chrono::steady_clock::now();
    if (dead < 0 || limit_ns == 0) return;
    if (!since_) since_ = now;
    if (now - *since_ < std::chrono::nanoseconds(limit_ns)) return;
    throw Error("", CHIMEX_ERR_PEER_DEAD,
                fmt::format("nothing came in CHIME_TIMEOUT since a PE was lost: {}",
                            runtime_.device->peers.why_not(dead)));
  }

 private:
  Runtime& runtime_;
  std::optional<std::chrono::steady_clock::time_point> since_;
};

}  // namespace

std::size_t wait(Runtime& runtime, const chime_wait_request& request, const Look& look,
                 std::uint64_t timeout_ns) {
  std::size_t looked = 0;
  BoundByADeath bound(runtime);
  const auto done = [&] {
    looked = test(runtime, request, look);
    if (is_satisfied(request, looked) || all_left_out(request)) return true;
    if (timeout_ns == 0) bound.throw_if_over();
    return false;
  };
  wait_until(done, runtime.device->control().abort, timeout_ns,
             [&] { return fmt::format("a value at {}", request.elements); });
  const bool gives_which = request.mode == CHIME_WAIT_ANY || request.mode == CHIME_WAIT_SOME;
  return gives_which ? looked : 0;
}

void quiet(Runtime& runtime) {
  if (runtime.device->posts()) by_kernel::quiet(runtime);
}

// PEs meet also where what was posted has failed: the others wait for this one.
void barrier(Runtime& runtime) {
  std::exception_ptr failed;
  try {
    quiet(runtime);
  } catch (const Error&) {
    failed = std::current_exception();
  }
  runtime.device->rendezvous->meet({CollectiveCall::Kind::kBarrier});
  if (failed) std::rethrow_exception(failed);
}

}  // namespace chime::host::gpu_ops
