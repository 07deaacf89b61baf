#include "softgpu/driver/failure.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace softgpu::driver {

namespace {

void say_line(const char* format, std::va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::fprintf(stderr, "softgpu[%d]: %s\n", static_cast<int>(::getpid()), text);
}

}  // namespace

bool is_traced() {
  static const bool traced = [] {
    const char* value = std::getenv("CHIME_SOFTGPU_TRACE");
    return value && std::string_view(value) != "0" && *value;
  }();
  return traced;
}

void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say_line(format, arguments);
  va_end(arguments);
}

void fail(CUresult result, const char* format, ...) {
  if (is_traced()) {
    std::va_list arguments;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
  }
  throw Failure{result};
}

void fail_aloud(CUresult result, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  say_line(format, arguments);
  va_end(arguments);
  throw Failure{result};
}

}  // namespace softgpu::driver
