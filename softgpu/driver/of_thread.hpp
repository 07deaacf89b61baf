// An object for each host thread.
#pragma once

namespace softgpu::driver {

// The calling thread's T, made at first use, and destroyed with the thread. Programs also call from
// exit handlers, which run later: these get a new one, which is never destroyed.
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
