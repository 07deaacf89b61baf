// The data that device code gets with a call: its PE (pe.h), the channels by which it sends
// (channel.h, nic_memory.h), and the teams of its PE (team.h).
//
// A Context is an ordering domain: fence and quiet concern what was sent by it. The Contexts of
// kernels and of the host differ only in these data, not in the code that uses them. Plain data:
// copied into kernel arguments and __constant__ memory.
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

inline constexpr std::uint32_t kAbiVersion = 30;

struct Context {
  std::uint32_t abi_version = 0;  // kAbiVersion; 0: this copy is not filled
  // sizeof(Context) of the library that filled it. Before that, the kAbiVersion of the headers with
  // which the kernel was compiled.
  std::uint32_t size = 0;
  abi::Pe pe;
  abi::Channels channels;
  abi::NicMemory nic;
  abi::Teams teams;
  std::int32_t team = 0;  // the handle of the one that PE numbers are ranks of: all PEs
  std::uint32_t reserved = 0;
};

// The Context with which a kernel's module is compiled: it belongs to no PE yet. `checked` is set
// so that waits check their arguments and find that it is not filled. (On the CPU device, where
// `checked` is 0 no operation looks whether the Context is filled.)
constexpr Context unfilled_context() {
  Context context;
  context.size = kAbiVersion;
  context.pe.checked = abi::kChecks;
  return context;
}

static_assert(sizeof(Context) <= 512, "must fit in constant memory and in kernel arguments");

}  // namespace chime

#endif  // CHIME_ABI_CONTEXT_H_
