// Operations of the host on PEs that only requests reach, where the device is a GPU: a NIC's queues
// and the proxy's FIFOs are the kernels', so kernels of the library post the requests. Each
// operation is complete when it returns.
//
// Requests name memory of the heap and of registered buffers. Other memory that an operation reads
// or writes here goes through a piece of the heap that is set aside (DeviceStage::bounce), by
// copies of the driver, in chunks of its size.
//
// All REQUIRE !is_reached_by_copies(pe), and check the rest. All throw Error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/gpu/library_kernel.hpp"
#include "host/ops/gpu/gpu_ops.hpp"
#include "host/pe/runtime.hpp"

namespace chime::host::by_kernel {

inline constexpr std::size_t kBounceBytes = std::size_t{512} << 10;
inline constexpr std::size_t kStagedBounceBytes = std::size_t{64} << 10;
inline constexpr std::size_t kStreamRoomsBytes = std::size_t{1} << 20;

// Whether requests name it. Registered memory also has to be the kernels', because kernels read
// small data by themselves.
bool is_in_place(const Runtime& runtime, const void* memory, std::size_t bytes);

// Whether kernels may be handed memory of this PE: its heap, and memory that kernels reach by
// themselves. Kernels stage memory that requests cannot name.
bool kernels_take(const Runtime& runtime, const void* memory, std::size_t bytes);

void put(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe);
void get(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int pe);

void put_strided(Runtime& runtime, void* dst, const void* src, const gpu_ops::Strides& strides,
                 int pe);
void get_strided(Runtime& runtime, void* dst, const void* src, const gpu_ops::Strides& strides,
                 int pe);

// An element of 1, 2, 4, 8 or 16 bytes, whose value the host reads or writes.
void put_element(Runtime& runtime, void* dst, const void* value, std::size_t bytes, int pe);
void get_element(Runtime& runtime, void* value, const void* src, std::size_t bytes, int pe);

// These also on mapped PEs.
void signal(Runtime& runtime, std::uint64_t* word, std::uint64_t value, int op, int pe);
std::uint64_t amo(Runtime& runtime, AmoCall call);

// Completes what kernels of the PE have posted.
void quiet(Runtime& runtime);

}  // namespace chime::host::by_kernel
