// What chime.kernel compiles behind a kernel's text: a description of the kernel's parameters, and
// a function that launches it. Both are for kernels.py alone, which has the same struct.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdio>
#include <kernel_parameters.hpp>
#include <string>
#include <utility>

namespace chime_python {

struct Request {
  unsigned grid[3], block[3];
  std::size_t shared_bytes;
  void* stream;       // null: the launch is over when the call returns
  int is_collective;  // PEs may wait for each other in it
  void** arguments;   // the address of each
  char* why;          // gets the reason of a failure
  std::size_t room;   // bytes at `why`
};

// `f4`; for a pointer, `*f4` or `*f4 const`; a comma behind each.
template <class... P>
const char* parameters(void (*kernel)(P...)) {
  static const std::string text = [=] {
    std::string all;
    for (const Parameter& one : parameters_of(kernel).all)
      if (one.kind != 0)
        all += (one.is_pointer ? "*" : "") + std::string(1, one.kind) + std::to_string(one.bytes) +
               (one.is_const ? " const," : ",");
    return all;
  }();
  return text.c_str();
}

template <class... P>
int launch(void (*kernel)(P...), const Request& request) {
  namespace exec = chime::exec;
  exec::LaunchConfig config;
  config.grid = exec::dim3(request.grid[0], request.grid[1], request.grid[2]);
  config.block = exec::dim3(request.block[0], request.block[1], request.block[2]);
  config.shared_bytes = request.shared_bytes;
  config.stream = static_cast<exec::Stream>(request.stream);
  config.cooperative = request.is_collective != 0;
  int status = [&]<std::size_t... I>(std::index_sequence<I...>)->int {
    return exec::launch(config, kernel,
                        *static_cast<std::remove_cv_t<P>*>(request.arguments[I])...);
  }
  (std::index_sequence_for<P...>{});
  if (status == CHIMEX_OK && request.stream == nullptr)
    status = exec::stream_synchronize(config.stream);
  if (status != CHIMEX_OK) std::snprintf(request.why, request.room, "%s", exec::last_error());
  return status;
}

}  // namespace chime_python

#define CHIME_PYTHON_KERNEL(...)                                                            \
  extern "C" CHIME_EXPORT const char* chime_python_parameters() {                           \
    return ::chime_python::parameters(__VA_ARGS__);                                         \
  }                                                                                         \
  extern "C" CHIME_EXPORT int chime_python_launch(const ::chime_python::Request* request) { \
    return ::chime_python::launch(__VA_ARGS__, *request);                                   \
  }
