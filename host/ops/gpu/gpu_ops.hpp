// The host half of the families on a GPU: the heap is memory that host code cannot load or store,
// so each call is a copy through the driver, or, where requests alone lead to the PE, a kernel of
// the library that posts them (by_kernel.hpp). Each is complete when it returns: fence has nothing
// left to do, and quiet completes what kernels have posted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "chime/host_ops.h"
#include "host/pe/runtime.hpp"

namespace chime::host::gpu_ops {

void put(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe);
void get(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe);

struct Strides {
  std::ptrdiff_t dst, src;  // in elements
  std::size_t count, element_bytes;
};
// On mapped PEs element by element: a driver call each.
void put_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe);
void get_strided(Runtime& runtime, void* dst, const void* src, const Strides& strides, int pe);

// One element, whose value is on the host.
void put_element(Runtime& runtime, void* dst, const void* value, std::size_t bytes, int pe);
void get_element(Runtime& runtime, void* value, const void* src, std::size_t bytes, int pe);

void signal(Runtime& runtime, std::uint64_t* word, std::uint64_t value, int op, int pe);

struct Signal {
  std::uint64_t* word;
  std::uint64_t value;
  int op;  // CHIME_SIGNAL_*
};
void put_signal(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                const Signal& signal, int pe);

// Any atomic of the table, by a kernel: atomic with those of kernels. Returns the old bits, or 0
// where the operation gives none. `call.old` is this function's own.
std::uint64_t amo(Runtime& runtime, const AmoCall& call);

// `look` tests a request whose elements the host can read (CHIME_WAIT_*, as chime_host_test).
using Look = std::function<std::size_t(const chime_wait_request&)>;
std::size_t test(Runtime& runtime, const chime_wait_request& request, const Look& look);
// Throws Error{TIMEOUT} after `timeout_ns` (0: no bound).
std::size_t wait(Runtime& runtime, const chime_wait_request& request, const Look& look,
                 std::uint64_t timeout_ns);

void quiet(Runtime& runtime);

// Collective; barrier and sync are the same here. Both complete what kernels have posted.
void barrier(Runtime& runtime);

}  // namespace chime::host::gpu_ops
