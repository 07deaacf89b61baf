// What chime.kernel compiles behind a kernel's text: a description of the kernel's parameters, and
// a function that launches it. Both are for kernel.py alone, which has the same struct.
#pragma once

#include <chime/chime.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>
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

// A type as numpy says it: kind and bytes; v0 is void, and x what is neither number nor pointer.
template <class T>
std::string kind() {
  if constexpr (std::is_void_v<T>)
    return "v0";
  else if constexpr (std::is_enum_v<T>)
    return kind<std::underlying_type_t<T>>();
  else
    return (std::is_same_v<T, bool>       ? "b"
            : std::is_floating_point_v<T> ? "f"
            : std::is_signed_v<T>         ? "i"
            : std::is_unsigned_v<T>       ? "u"
                                          : "x") +
           std::to_string(sizeof(T));
}

// The text for a parameter: `f4`; for a pointer, `*f4` or `*f4 const`.
template <class P>
std::string parameter() {
  if constexpr (std::is_pointer_v<P>) {
    using Pointed = std::remove_pointer_t<P>;
    return "*" + (std::is_pointer_v<Pointed> ? "u8" : kind<std::remove_cv_t<Pointed>>()) +
           (std::is_const_v<Pointed> ? " const" : "");
  } else {
    return kind<std::remove_cv_t<P>>();
  }
}

template <class... P>
const char* parameters(void (*)(P...)) {
  static const std::string all = ((parameter<P>() + ",") + ... + "");
  return all.c_str();
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
