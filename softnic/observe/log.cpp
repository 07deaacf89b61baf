#include "log.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace softnic {

void print(const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length <= 0) return;
  [[maybe_unused]] auto ignored = ::syscall(
      SYS_write, 2, text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1));
}

}  // namespace softnic
