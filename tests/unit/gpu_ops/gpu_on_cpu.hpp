// A device that is used as a GPU is and works on the CPU: the library's kernels run as host
// functions, in stream order, on the memory and streams of the CPU device. What host code makes of
// a GPU is tested through it, in every preset.
#pragma once

#include <functional>
#include <memory>

#include "host/gpu/gpu.hpp"

namespace chime::host {

// What each byte of a new heap is: a GPU does not clear memory that somebody has used before.
inline constexpr int kUsedBefore = 0x5a;

// One of a PE that is none yet.
std::unique_ptr<Gpu> open_gpu_on_cpu();

// Puts it in the place of the calling thread's PE's device. Call after chime_init, on every PE.
void pretend_to_have_a_gpu();

// Of what requests cannot name, so much goes at once to and from PEs that are not mapped: the
// bounce room, and each of the streams' rooms.
inline constexpr std::size_t kBounceRoom = 8192;

// Whether nothing was written behind the bounce room: by the thread that pretended.
bool is_untouched_behind_the_bounce_room();

// How many kernels of the library this process has launched since, how often the host has copied,
// and given a stream a copy.
int library_kernels_launched();
int copies_made();
int copies_given_to_streams();

// Streams are as those that are captured into a graph, but run what they are given.
void capture_streams(bool on);

// From now on kernels reach this memory, which else the heap alone is.
void let_kernels_reach(const void* memory, std::size_t bytes);

// Called for each update of a word that peers ask for, before it is made, if it is set: by the
// thread that launches it.
inline thread_local std::function<void(const void* word)> before_update_on_gpu;

// The body of a library kernel with the arguments of a launch.
void run_library_kernel(LibraryKernel kernel, void** arguments);

}  // namespace chime::host
