// Process-wide objects of the executor. Never destroyed: its threads run until the process ends,
// past main.
#pragma once

#include "chime/device/simt/faults/sanitizers.hpp"

namespace chime::simt {

// Made at first use. One per type.
template <class T>
T& immortal() {
  static T* const instance = [] {
    const TsanIgnores ignores;
    return new T;
  }();
  return *instance;
}

}  // namespace chime::simt
