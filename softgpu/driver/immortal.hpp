// Process-wide objects. Never destroyed: programs call from exit handlers that run after the
// library's destructors, and streams run until the process ends.
#pragma once

namespace softgpu::driver {

// Made at first use. One per type.
template <class T>
T& immortal() {
  static T* const instance = new T;
  return *instance;
}

}  // namespace softgpu::driver
