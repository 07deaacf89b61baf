// The frame of every call of the driver: checks the caller and the current context, and turns
// exceptions into codes.
#pragma once

#include <cuda.h>

#include <exception>
#include <new>
#include <type_traits>

#include "softgpu/driver/capture.hpp"
#include "softgpu/driver/context.hpp"
#include "softgpu/driver/failure.hpp"
#include "softgpu/ptx/error.hpp"

#define SOFTGPU_API extern "C" __attribute__((visibility("default"))) CUresult

namespace softgpu::driver {

// cuInit has succeeded. Defined in driver/device.cpp.
bool is_initialised();

// Whether the calling thread runs a function of cuLaunchHostFunc, which must not call the driver.
bool in_host_function();

// `body` may be called at any time.
template <class Body>
CUresult answer(Body body) noexcept {
  try {
    if (in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      body();
      return CUDA_SUCCESS;
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return failure.result;
  } catch (const PtxError& error) {
    say("%s", error.what());
    return CUDA_ERROR_INVALID_PTX;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    say("%s", error.what());
    return CUDA_ERROR_UNKNOWN;
  }
}

// `body` needs an initialised driver.
template <class Body>
CUresult answer_initialised(Body body) noexcept {
  if (!is_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
  return answer(body);
}

// `body(Context&)` needs a current context. Once the context is lost, every call returns its error.
template <class Body>
CUresult answer_in_context(Body body) noexcept {
  return answer_initialised([&] {
    const std::shared_ptr<Context> context = current_context();
    context->need_alive();
    return body(*context);
  });
}

// The same for a call that may allocate, free or wait, and so spoils a capture.
template <class Body>
CUresult answer_uncaptured(const char* call, Body body) noexcept {
  return answer_in_context([&](Context& context) {
    captures().need_none(call);
    return body(context);
  });
}

// The arguments of a program must not be null.
inline void need(const void* pointer) {
  if (!pointer) fail(CUDA_ERROR_INVALID_VALUE, "a pointer that the call needs is null");
}
template <class T>
T& required(T* pointer) {
  need(pointer);
  return *pointer;
}

}  // namespace softgpu::driver
