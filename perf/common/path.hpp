// The path that leads from this PE's kernels to another PE.
#pragma once

#include <chime/chime.h>

#include <cstdlib>

namespace chime::perf {

CHIME_KERNEL void tell_path(chime::Context ctx, int pe, Path* path) {
  *path = chime::route_to(ctx, chime::Traffic::kData, pe).path;
}

inline Path path_to(int pe) {
  void* memory = nullptr;
  Path path = Path::kNone;
  if (exec::device_malloc(&memory, sizeof path) != CHIMEX_OK ||
      exec::launch({}, tell_path, chime::context(), pe, static_cast<Path*>(memory)) != CHIMEX_OK ||
      exec::stream_synchronize(nullptr) != CHIMEX_OK ||
      exec::copy(&path, memory, sizeof path) != CHIMEX_OK)
    std::abort();
  exec::device_free(memory);
  return path;
}

}  // namespace chime::perf
