#include "host/ops/gpu/by_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "host/errors/error.hpp"
#include "host/ops/gpu/kernel_call.hpp"
#include "host/ops/gpu/moves.hpp"
#include "host/ops/memory/mapped.hpp"

namespace chime::host::by_kernel {
namespace {

using gpu_ops::Strides;

Gpu& gpu_of(Runtime& runtime) { return *runtime.device->gpu; }

bool is_in_heap(const Runtime& runtime, const void* memory, std::size_t bytes) {
  const Heap& heap = runtime.device->heap;
  const auto offset = heap.offset_of(memory);
  return offset && bytes <= heap.bytes() - *offset;
}

// Calls move(first byte, number of bytes) for chunks that fit into `most` bytes.
template <class Move>
void for_each_chunk(std::size_t bytes, std::size_t most, Move move) {
  for (std::size_t at = 0; at < bytes; at += most) move(at, std::min(most, bytes - at));
}

// ---- Strides ------------------------------------------------------------------------------------

// How many elements have a span of at most `most` bytes, which holds one.
std::size_t elements_in(std::size_t most, std::ptrdiff_t stride, std::size_t element) {
  if (stride < 1) return 1;
  const std::size_t steps_bytes = most - element;
  const auto step = static_cast<std::size_t>(stride);
  return step > steps_bytes / element ? 1 : steps_bytes / element / step + 1;
}

std::ptrdiff_t offset_of_element(std::size_t i, std::ptrdiff_t stride, std::size_t element) {
  return static_cast<std::ptrdiff_t>(i) * stride * static_cast<std::ptrdiff_t>(element);
}

// The symmetric operand, as the templates check it.
void check_strided(const Runtime& runtime, const void* symmetric, std::ptrdiff_t stride,
                   const Strides& strides, int pe) {
  const std::size_t element = strides.element_bytes;
  check_element(element);
  check_place(runtime, symmetric, span_of(stride, strides.count, element), pe);
  check_word(runtime, symmetric, strides.element_bytes, pe);
}

// From the room to where the elements belong, which holds other things between them.
void scatter(Gpu& gpu, std::byte* dst, const std::byte* room, std::size_t count,
             std::ptrdiff_t stride, std::size_t element) {
  if (stride == 1) return gpu.copy(dst, room, count * element);
  for (std::size_t i = 0; i < count; ++i)
    gpu.copy(dst + offset_of_element(i, stride, element), room + i * element, element);
}

}  // namespace

bool is_in_place(const Runtime& runtime, const void* memory, std::size_t bytes) {
  return is_in_heap(runtime, memory, bytes) ||
         (runtime.device->registered_buffers.holds(memory, bytes) &&
          runtime.device->gpu->kernels_reach(memory));
}

bool kernels_take(const Runtime& runtime, const void* memory, std::size_t bytes) {
  return is_in_heap(runtime, memory, bytes) || runtime.device->gpu->kernels_reach(memory);
}

// ---- Bytes --------------------------------------------------------------------------------------

void put(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe) {
  check_place(runtime, dst, bytes, pe);
  if (bytes == 0) return;
  KernelCall call(runtime);
  if (is_in_place(runtime, src, bytes))
    return call.run(LibraryKernel::kMove,
                    move_of(Operation::kPut, dst, src, bytes, pe, Ends::kComplete));
  const std::span<std::byte> room = call.bounce();
  for_each_chunk(bytes, room.size(), [&](std::size_t at, std::size_t n) {
    gpu_of(runtime).copy(room.data(), bytes_at(src) + at, n);
    const Ends ends = at + n == bytes ? Ends::kComplete : Ends::kAsItSays;
    call.run(LibraryKernel::kMove,
             move_of(Operation::kPut, bytes_at(dst) + at, room.data(), n, pe, ends));
  });
}

void get(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe) {
  check_place(runtime, src, bytes, pe);
  if (bytes == 0) return;
  KernelCall call(runtime);
  if (is_in_place(runtime, dst, bytes))
    return call.run(LibraryKernel::kMove,
                    move_of(Operation::kGet, dst, src, bytes, pe, Ends::kComplete));
  const std::span<std::byte> room = call.bounce();
  for_each_chunk(bytes, room.size(), [&](std::size_t at, std::size_t n) {
    call.run(LibraryKernel::kMove,
             move_of(Operation::kGet, room.data(), bytes_at(src) + at, n, pe, Ends::kComplete));
    gpu_of(runtime).copy(bytes_at(dst) + at, room.data(), n);
  });
}

// ---- Elements -----------------------------------------------------------------------------------

// The bytes between the elements of a chunk are copied into the room with them: one copy each.
void put_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe) {
  if (strides.count == 0) return;
  check_strided(runtime, dst, strides.dst, strides, pe);
  const std::size_t element = strides.element_bytes;
  const std::size_t span = span_of(strides.src, strides.count, element);
  KernelCall call(runtime);
  if (is_in_place(runtime, src, span))
    return call.run(LibraryKernel::kStrided, strided_of(Operation::kIput, dst, src, strides, pe));
  const std::span<std::byte> room = call.bounce();
  const std::size_t most = elements_in(room.size(), strides.src, element);
  for_each_chunk(strides.count, most, [&](std::size_t first, std::size_t n) {
    gpu_of(runtime).copy(room.data(),
                         bytes_at(src) + offset_of_element(first, strides.src, element),
                         span_of(strides.src, n, element));
    call.run(
        LibraryKernel::kStrided,
        strided_of(Operation::kIput, bytes_at(dst) + offset_of_element(first, strides.dst, element),
                   room.data(), {strides.dst, strides.src, n, element}, pe));
  });
}

void get_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe) {
  if (strides.count == 0) return;
  check_strided(runtime, src, strides.src, strides, pe);
  const std::size_t element = strides.element_bytes;
  const std::size_t span = span_of(strides.dst, strides.count, element);
  KernelCall call(runtime);
  if (is_in_place(runtime, dst, span))
    return call.run(LibraryKernel::kStrided, strided_of(Operation::kIget, dst, src, strides, pe));
  const std::span<std::byte> room = call.bounce();
  for_each_chunk(strides.count, room.size() / element, [&](std::size_t first, std::size_t n) {
    call.run(LibraryKernel::kStrided,
             strided_of(Operation::kIget, room.data(),
                        bytes_at(src) + offset_of_element(first, strides.src, element),
                        {1, strides.src, n, element}, pe));
    scatter(gpu_of(runtime), bytes_at(dst) + offset_of_element(first, strides.dst, element),
            room.data(), n, strides.dst, element);
  });
}

void put_element(Runtime& runtime, void* dst, const void* value, std::size_t bytes, int pe) {
  check_word(runtime, dst, bytes, pe);
  KernelCall(runtime).run(LibraryKernel::kElement, put_element_of(dst, value, bytes, pe));
}

void get_element(Runtime& runtime, void* value, const void* src, std::size_t bytes, int pe) {
  check_word(runtime, src, bytes, pe);
  KernelCall call(runtime);
  call.run(LibraryKernel::kElement, ElementCall{.operation = Operation::kG,
                                                .pe = pe,
                                                .symmetric = const_cast<void*>(src),
                                                .bytes = static_cast<std::uint32_t>(bytes),
                                                .value = {},
                                                .result = call.result()});
  std::memcpy(value, call.result(), bytes);
}

// ---- Words --------------------------------------------------------------------------------------

void signal(Runtime& runtime, std::uint64_t* word, std::uint64_t value, int op, int pe) {
  check_signal_op(op);
  check_word(runtime, word, sizeof(*word), pe);
  KernelCall(runtime).run(
      LibraryKernel::kSignalOp,
      SignalOpCall{.word = word, .value = value, .op = op, .pe = pe, .ends = Ends::kComplete});
}

std::uint64_t amo(Runtime& runtime, AmoCall call) {
  check_word(runtime, call.word, static_cast<std::size_t>(call.width), call.pe);
  KernelCall kernel(runtime);
  call.old = kernel.result();
  kernel.run(LibraryKernel::kAmo, call);
  return *kernel.result();
}

void quiet(Runtime& runtime) {
  KernelCall(runtime).run(LibraryKernel::kSync, SyncCall{Operation::kQuiet});
}

}  // namespace chime::host::by_kernel
