// The input of translated code, for each CUDA thread that runs it. The launch fills it in
// (Kernel::env). Code in the cache was compiled with this layout, and its name covers it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/device/simt/threads/thread.hpp"

namespace softgpu {

class Kernel;
class Module;
struct Env;

// The counts for each form of instruction, in code that counts (counting.hpp): executions,
// executions with the predicate off, and accesses by kind of memory.
enum class Column : std::uint8_t {
  kExecuted,
  kOff,
  kConst,   // __constant__ variables
  kParam,   // parameters of the kernel
  kPassed,  // arguments and results of calls: a GPU has them in registers
  kLocal,   // of the thread
  kShared,
  kDevice,  // of this device or, mapped, of another
  kHost,    // pinned
  kBar,     // registers of another device
  kOther,   // not marked
};
inline constexpr unsigned kColumns = 11;

inline constexpr unsigned kMostMulticast = 64;  // devices

// Functions that kernels call and that are no instructions.
struct Services {
  // `arguments`: those of the format, packed as PTX lays them out.
  int (*vprintf)(const char* format, const std::uint8_t* arguments);
  void* (*malloc)(std::size_t bytes);
  void (*free)(void* memory);
  // The kind of memory at a global address.
  Column (*memory_at)(const Module& module, std::uint64_t address);
  // Ends the kernel: an address is no multiple of the bytes that an instruction accesses there.
  // `function`, `site`: the instruction, as in Kernel::line_of_site.
  void (*misaligned)(const Env& e, const char* function, std::uint32_t site, std::uint64_t address,
                     std::uint32_t bytes);
  // The addresses of all devices' memory at a multicast address, and how many. Ends the kernel
  // where there are none.
  unsigned (*multicast)(std::uint64_t address, std::size_t bytes,
                        std::uint64_t (&addresses)[kMostMulticast]);
};

struct Env {
  chime::simt::ThreadState* thread = nullptr;
  const std::uint8_t* parameters = nullptr;  // of the launch, at the offsets of Kernel::parameters
  std::uint8_t* shared = nullptr;            // the block's window: static variables, then dynamic
  std::uint32_t shared_bytes = 0;            // of the whole window
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint64_t grid_workspace = 0;          // %envreg1 and 2: cooperative launches, else 0
  std::uint8_t* const* variables = nullptr;  // of the module that the kernel uses
  const Services* services = nullptr;
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  std::uint64_t* counts = nullptr;  // code that counts: kColumns for each form, of the launch
};

// Shared addresses begin here, as on sm_90: so none of them is a null pointer.
inline constexpr std::uint32_t kSharedBase = 1024;

}  // namespace softgpu
