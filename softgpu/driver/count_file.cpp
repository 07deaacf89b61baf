#include "softgpu/driver/count_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "chime/device/simt/memory/memory_kind.hpp"
#include "softgpu/driver/memory/address_space.hpp"

namespace softgpu::driver {

namespace {

const char* file() {
  static const char* const name = [] {
    const char* const value = std::getenv("CHIME_SOFTGPU_COUNT");
    return value && *value ? value : nullptr;
  }();
  return name;
}

// Another device's registers, registered as I/O memory.
bool is_marked_as_bar(std::uint64_t address) {
  return chime::simt::kind_of_memory(reinterpret_cast<const void*>(address)) ==
         chime::simt::MemoryKind::kBar;
}

// The kind of memory, as the driver made it.
Column kind_at(std::uint64_t address) {
  const std::optional<Range> range = address_space().find(address);
  if (!range) return Column::kOther;
  switch (range->kind) {
    case Kind::kDevice:
    case Kind::kManaged:
    case Kind::kMapped:
      return Column::kDevice;
    case Kind::kHost:
    case Kind::kRegistered:
      return is_marked_as_bar(address) ? Column::kBar : Column::kHost;
    default:
      return Column::kOther;
  }
}

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return text;
}

void write_line(const std::string& line) {
  const int fd = ::open(file(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const bool is_written =
      fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  static std::atomic<bool> is_told;
  if (!is_written && !is_told.exchange(true))
    std::fprintf(
        stderr, "softgpu: what kernels execute cannot be written to %s: %s (CHIME_SOFTGPU_COUNT)\n",
        file(), std::strerror(error));
}

}  // namespace

bool launches_are_counted() {
  static const bool are = [] {
    if (file() != nullptr) set_memory_teller(kind_at);
    return file() != nullptr;
  }();
  return are;
}

void append(const CountedLaunch& launch) {
  write_line("{\"process\": " + std::to_string(::getpid()) + ", \"kernel\": \"" +
             escaped(launch.function->shown_name) + "\", \"blocks\": " +
             std::to_string(launch.blocks) + ", \"threads\": " + std::to_string(launch.threads) +
             ", \"instructions\": " + std::to_string(launch.counts->instructions()) +
             ", \"forms\": " + launch.counts->forms_as_json() + "}\n");
}

}  // namespace softgpu::driver
