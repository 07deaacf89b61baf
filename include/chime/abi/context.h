// What device code knows when it is called: whose PE it is (pe.h), by which channels what it sends
// goes and completes (channel.h, nic_memory.h), and with whom it meets (team.h).
//
// A Context is an ordering domain: fence and quiet are about what was sent by it. Those of kernels
// and of the host differ in what stands here, not in the code that uses it. Plain data: copied into
// kernel arguments and __constant__ memory.
#ifndef CHIME_ABI_CONTEXT_H_
#define CHIME_ABI_CONTEXT_H_

#include <cstddef>
#include <cstdint>

#include "chime/abi/channel.h"
#include "chime/abi/nic_memory.h"
#include "chime/abi/pe.h"
#include "chime/abi/team.h"
#include "chime/cxx20.h"

namespace chime {

inline constexpr std::uint32_t kAbiVersion = 18;

struct Context {
  std::uint32_t abi_version = 0;  // kAbiVersion; 0 means that nobody filled this copy
  // sizeof(Context) of the library that filled it; before, in what a kernel's compiler made, the
  // kAbiVersion of its headers.
  std::uint32_t size = 0;
  abi::Pe pe;
  abi::Channels channels;
  abi::NicMemory nic;
  abi::Team team;  // all PEs
};

// The Context with which a kernel's module is compiled: it belongs to no PE yet. `checked` is set
// so that waits take their checked way, which finds that nobody has filled it.
constexpr Context unfilled_context() {
  Context context;
  context.size = kAbiVersion;
  context.pe.checked = 1;
  return context;
}

static_assert(sizeof(Context) <= 512, "must fit in constant memory and in kernel arguments");

}  // namespace chime

#endif  // CHIME_ABI_CONTEXT_H_
