// The objects behind the handles of programs, except contexts and memory.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "softgpu/driver/registry.hpp"
#include "softgpu/driver/stream.hpp"
#include "softgpu/kernel_code.hpp"

namespace softgpu::driver {

class Context;

Registry<Stream, CUstream>& streams();

// ---- Events -----------------------------------------------------------------------------------

struct Event {
  Context& context;
  const bool has_time;
  std::mutex mutex;
  std::shared_ptr<Point> latest;  // null: never recorded
};

Registry<Event, CUevent>& events();
std::shared_ptr<Event> event_of(CUevent handle);  // fails if there is none

// ---- Modules and functions --------------------------------------------------------------------

struct LoadedModule {
  Context& context;
  const std::shared_ptr<const Module> code;
  std::mutex mutex;
  std::unordered_map<const Kernel*, CUfunction> functions;  // the handles of the program
};

// A kernel of a module, which stays loaded as long as a launch of it is queued.
struct Function {
  Context& context;
  const CUmodule module;
  const std::shared_ptr<const Module> code;
  Kernel& kernel;
  const std::string shown_name;  // as C++ spells it
  std::atomic<int> most_dynamic_shared;
  std::atomic<bool> is_loaded{false};
};

// Text without a context: each context that needs something in it gets a module of it.
struct Library {
  explicit Library(std::string t) : text(std::move(t)) {}
  const std::string text;
  std::mutex mutex;
  std::unordered_map<CUcontext, CUmodule> modules;
};

Registry<LoadedModule, CUmodule>& modules();
Registry<Library, CUlibrary>& libraries();
Registry<Function, CUfunction>& functions();
std::shared_ptr<LoadedModule> module_of(CUmodule handle);  // fails if there is none
std::shared_ptr<Library> library_of(CUlibrary handle);     // fails if there is none
std::shared_ptr<Function> function_of(CUfunction handle);  // fails if there is none

// Removes all of the above that were made in `context`.
void forget_objects_of(const Context& context);

}  // namespace softgpu::driver
