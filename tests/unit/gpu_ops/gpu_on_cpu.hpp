// A device that is used like a GPU and works on the CPU: the library's kernels run as host
// functions, in stream order, on the memory and streams of the CPU device. Every preset tests the
// host's GPU code with it.
#pragma once

#include <functional>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// The value of each byte of a new heap: a GPU does not clear used memory.
inline constexpr int kUsedBefore = 0x5a;

// One for a thread without a PE.
std::unique_ptr<Gpu> open_gpu_on_cpu();

// Replaces the device of the calling thread's PE. Call after chime_init, on every PE.
void pretend_to_have_a_gpu();

// Memory that requests cannot name goes to and from unmapped PEs in pieces of this size: the bounce
// room, and each of the streams' rooms.
inline constexpr std::size_t kBounceRoom = 8192;

// Whether no byte after the bounce room was written: for the thread that pretended.
bool is_untouched_behind_the_bounce_room();

// The number of library kernels launched by this process since, of host copies, and of copies on
// streams.
int library_kernels_launched();
int copies_made();
int copies_given_to_streams();

// Streams behave like captured ones, but run their work.
void capture_streams(bool on);

// From now on kernels also reach this memory, not the heap alone.
void let_kernels_reach(const void* memory, std::size_t bytes);

// If set, called before each update of a word that peers request: by the thread that launches it.
inline thread_local std::function<void(const void* word)> before_update_on_gpu;

// The body of a library kernel with the arguments of a launch.
void run_library_kernel(LibraryKernel kernel, void** arguments);

}  // namespace chime::host
