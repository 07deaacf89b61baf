#include "softgpu/driver/objects.hpp"

#include "softgpu/driver/failure.hpp"
#include "softgpu/driver/immortal.hpp"

namespace softgpu::driver {

namespace {

template <class T, class Handle>
std::shared_ptr<T> found(Registry<T, Handle>& objects, Handle handle, const char* what) {
  std::shared_ptr<T> object = objects.find(handle);
  if (!object)
    fail(CUDA_ERROR_INVALID_HANDLE, "%p is not %s, or not any more", static_cast<void*>(handle),
         what);
  return object;
}

}  // namespace

Registry<Stream, CUstream>& streams() { return immortal<Registry<Stream, CUstream>>(); }
Registry<Event, CUevent>& events() { return immortal<Registry<Event, CUevent>>(); }
Registry<LoadedModule, CUmodule>& modules() { return immortal<Registry<LoadedModule, CUmodule>>(); }
Registry<Library, CUlibrary>& libraries() { return immortal<Registry<Library, CUlibrary>>(); }
Registry<Function, CUfunction>& functions() { return immortal<Registry<Function, CUfunction>>(); }

std::shared_ptr<Event> event_of(CUevent handle) { return found(events(), handle, "an event"); }
std::shared_ptr<LoadedModule> module_of(CUmodule handle) {
  return found(modules(), handle, "a module");
}
std::shared_ptr<Library> library_of(CUlibrary handle) {
  return found(libraries(), handle, "a library");
}
std::shared_ptr<Function> function_of(CUfunction handle) {
  return found(functions(), handle, "a function");
}

void forget_objects_of(const Context& context) {
  const auto is_of = [&](const auto& object) { return &object.context == &context; };
  streams().remove_if([&](const Stream& stream) { return &stream.context() == &context; });
  events().remove_if(is_of);
  functions().remove_if(is_of);
  modules().remove_if(is_of);
}

}  // namespace softgpu::driver
