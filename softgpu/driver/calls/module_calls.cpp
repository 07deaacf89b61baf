// Modules: PTX text, the kernels and variables in it.
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "softgpu/driver/calls/calls.hpp"
#include "softgpu/driver/device.hpp"
#include "softgpu/driver/kernel_call.hpp"
#include "softgpu/driver/loading.hpp"
#include "softgpu/driver/memory/address_space.hpp"
#include "softgpu/driver/objects.hpp"

using namespace softgpu::driver;

namespace {

// PTX text begins with its version, after comments. Machine code and its containers, which nvcc
// makes, begin with bytes that no text has: this reads no further.
bool is_text(const char* image) {
  constexpr std::size_t kLooked = 64;
  for (std::size_t i = 0; i < kLooked && image[i]; ++i) {
    const auto byte = static_cast<unsigned char>(image[i]);
    if (byte >= 0x7f || (byte < ' ' && byte != '\n' && byte != '\t' && byte != '\r')) return false;
  }
  return image[0] != 0;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return text ? text.get() : symbol;
}

CUfunction handle_of(Context& context, CUmodule handle, LoadedModule& module,
                     softgpu::Kernel& kernel) {
  const std::lock_guard lock(module.mutex);
  CUfunction& function = module.functions[&kernel];
  if (!function)
    function = functions().add(std::shared_ptr<Function>(
        new Function{context, handle, module.code, kernel, demangled(kernel.name()), {-1}}));
  return function;
}

// Variables of a module are ordinary device memory while it is loaded.
void make_known(Context& context, const LoadedModule& module, CUdeviceptr address,
                std::size_t bytes) {
  if (bytes == 0 || address_space().overlaps(address, bytes)) return;
  address_space().add({.begin = address,
                       .bytes = bytes,
                       .context = context.handle(),
                       .device = context.device().ordinal(),
                       .module = module.code.get()});
}

void check_image(const void* image) {
  need(image);
  if (!is_text(static_cast<const char*>(image)))
    fail(CUDA_ERROR_INVALID_IMAGE,
         "the image is no PTX text: the softgpu runs the text that clang makes (softgpu/README)");
}

CUmodule load(Context& context, const char* text) {
  auto code = std::make_shared<softgpu::Module>(text);
  return modules().add(
      std::shared_ptr<LoadedModule>(new LoadedModule{context, std::move(code), {}, {}}));
}

void unload(CUmodule handle) {
  const std::shared_ptr<LoadedModule> module = module_of(handle);
  modules().remove(handle);
  functions().remove_if([&](const Function& function) { return function.module == handle; });
  module->context.synchronize();
  address_space().remove_variables_of(*module->code);
}

void find_variable(const LoadedModule& module, const char* name, CUdeviceptr* address,
                   std::size_t* bytes) {
  need(name);
  std::size_t size = 0;
  void* const variable = module.code->variable(name, &size);
  if (!variable) fail(CUDA_ERROR_NOT_FOUND, "the module has no variable %s", name);
  make_known(module.context, module, reinterpret_cast<CUdeviceptr>(variable), size);
  if (address) *address = reinterpret_cast<CUdeviceptr>(variable);
  if (bytes) *bytes = size;
}

CUmodule module_in(Library& library, Context& context) {
  const std::lock_guard lock(library.mutex);
  CUmodule& module = library.modules[context.handle()];
  if (!module || !modules().find(module)) module = load(context, library.text.c_str());
  return module;
}

}  // namespace

SOFTGPU_API cuModuleLoadData(CUmodule* module, const void* image) {
  return answer_uncaptured("cuModuleLoadData", [&](Context& context) {
    need(module);
    check_image(image);
    *module = load(context, static_cast<const char*>(image));
  });
}

SOFTGPU_API cuModuleUnload(CUmodule handle) {
  return answer_uncaptured("cuModuleUnload", [&](Context&) { unload(handle); });
}

SOFTGPU_API cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return answer_in_context([&](Context& context) {
    need(function);
    need(name);
    const std::shared_ptr<LoadedModule> module = module_of(handle);
    softgpu::Kernel* const kernel = module->code->find(name);
    if (!kernel) fail(CUDA_ERROR_NOT_FOUND, "the module has no kernel %s", name);
    *function = handle_of(context, handle, *module, *kernel);
  });
}

SOFTGPU_API cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule handle,
                              const char* name) {
  return answer_in_context(
      [&](Context&) { find_variable(*module_of(handle), name, address, bytes); });
}

SOFTGPU_API cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return answer_in_context([&](Context&) {
    required(count) = static_cast<unsigned>(module_of(handle)->code->kernels().size());
  });
}

// The first `count` functions, in the order of the text.
SOFTGPU_API cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return answer_in_context([&](Context& context) {
    need(functions);
    const std::shared_ptr<LoadedModule> module = module_of(handle);
    for (softgpu::Kernel* kernel : module->code->kernels()) {
      if (count-- == 0) return;
      *functions++ = handle_of(context, handle, *module, *kernel);
    }
  });
}

// ---- Libraries ----------------------------------------------------------------------------------

// Accepts no options, neither the compiler's nor the library's. A context gets its module when it
// first needs something in the library.
SOFTGPU_API cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**,
                              unsigned compiler_options, CUlibraryOption*, void**,
                              unsigned library_options) {
  return answer_uncaptured("cuLibraryLoadData", [&](Context&) {
    need(library);
    if (compiler_options != 0 || library_options != 0)
      fail(CUDA_ERROR_NOT_SUPPORTED, "cuLibraryLoadData takes no options here");
    check_image(image);
    *library =
        libraries().add(std::make_shared<Library>(std::string(static_cast<const char*>(image))));
  });
}

SOFTGPU_API cuLibraryUnload(CUlibrary handle) {
  return answer_uncaptured("cuLibraryUnload", [&](Context&) {
    const std::shared_ptr<Library> library = library_of(handle);
    libraries().remove(handle);
    const std::lock_guard lock(library->mutex);
    for (const auto& [context, module] : library->modules)
      if (modules().find(module)) unload(module);  // else it went with its context
  });
}

SOFTGPU_API cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  return answer_uncaptured("cuLibraryGetModule", [&](Context& context) {
    required(module) = module_in(*library_of(handle), context);
  });
}

SOFTGPU_API cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                               const char* name) {
  return answer_uncaptured("cuLibraryGetGlobal", [&](Context& context) {
    find_variable(*module_of(module_in(*library_of(handle), context)), name, address, bytes);
  });
}

// ---- Functions --------------------------------------------------------------------------------

SOFTGPU_API cuFuncGetName(const char** name, CUfunction function) {
  return answer_in_context(
      [&](Context&) { required(name) = function_of(function)->kernel.name().c_str(); });
}

SOFTGPU_API cuFuncGetModule(CUmodule* module, CUfunction function) {
  return answer_in_context([&](Context&) { required(module) = function_of(function)->module; });
}

// A program that asks wants the kernel ready, so this loads and compiles it.
SOFTGPU_API cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle) {
  return answer_in_context([&](Context&) {
    constexpr int kRegisters = 32, kArchitecture = 90;
    need(value);
    const std::shared_ptr<Function> function = function_of(handle);
    softgpu::Kernel& kernel = function->kernel;
    load(*function);
    switch (which) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = static_cast<int>(kernel.max_threads());
        return;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(kernel.static_shared());
        return;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = kRegisters;
        return;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = kArchitecture;
        return;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = most_dynamic_shared(*function);
        return;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 0;
        return;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = -1;
        return;
    }
    fail(CUDA_ERROR_INVALID_VALUE, "%d is no attribute of a function", static_cast<int>(which));
  });
}

SOFTGPU_API cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
  return answer_in_context([&](Context&) {
    const std::shared_ptr<Function> function = function_of(handle);
    if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) return;  // only a hint
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
      fail(CUDA_ERROR_INVALID_VALUE, "this attribute of a function cannot be set");
    const std::size_t own = function->kernel.static_shared();
    if (value < 0 || own + static_cast<std::size_t>(value) > most_shared_bytes())
      fail(
          CUDA_ERROR_INVALID_VALUE,
          "%d bytes of dynamic shared memory for %s, beside %zu of its variables: %zu are possible",
          value, function->shown_name.c_str(), own, most_shared_bytes());
    function->most_dynamic_shared = value;
  });
}
