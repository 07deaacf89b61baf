// What each host thread has of its own.
#pragma once

namespace softgpu::driver {

// The calling thread's T, made at first use, and ended with the thread. After that (programs call
// from exit handlers, which run later) a new one, which nobody ends.
template <class T>
T& of_thread() {
  static thread_local T* object = nullptr;
  if (!object) {
    struct End {
      ~End() {
        delete object;
        object = nullptr;
      }
    };
    object = new T;
    static thread_local End end;
    static_cast<void>(&end);
  }
  return *object;
}

}  // namespace softgpu::driver
