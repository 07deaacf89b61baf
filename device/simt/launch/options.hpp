// How kernels are scheduled. Read from the environment once; can be changed between launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chime/device/simt/exec/export.hpp"

namespace chime::simt {

struct Options {
  // 0: threads of a block take turns in order. Otherwise the next thread is drawn from a generator
  // seeded with this, the launch's number since set_options and the block: one seed gives one
  // schedule per block.
  std::uint64_t seed = 0;        // CHIME_SIMT_SEED
  bool weak = false;             // CHIME_SIMT_WEAK: stores wait in buffers
  std::size_t stack_bytes = 0;   // CHIME_SIMT_STACK_KB. Read when a worker makes its first stack
  unsigned resident_blocks = 0;  // CHIME_SIMT_RESIDENT: blocks of one launch that run at once
};

// The options for the next launch. Thread-safe; a running kernel keeps its own.
CHIME_SIMT_EXPORT Options options();
CHIME_SIMT_EXPORT void set_options(const Options& options);

}  // namespace chime::simt
