#include "trace.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <string>

#include "log.hpp"

namespace softnic::trace {
namespace {

constexpr int kNotOpened = -2, kOff = -1;
std::atomic<int> opened{kNotOpened};

// The file that is open. Leaked: used until the process is gone.
std::string& path_in_use() {
  static auto& path = *new std::string;
  return path;
}

int open_at(const std::string& path) {
  const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(),
                                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (fd < 0)
    print("softnic: SOFTNIC_TRACE: cannot open '%s': %s\n", path.c_str(), std::strerror(errno));
  path_in_use() = path;
  return fd;
}

// Empties the file for this process alone, which then holds it as long as it lives. Returns 0 or
// the error. A child of fork() opens its own. Pipes and devices are shared.
int take(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) return 0;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return errno;
  [[maybe_unused]] const int ignored = ::ftruncate(fd, 0);
  return 0;
}

// Opens a file beside one that another process writes, or that cannot be locked.
int open_own_file(const std::string& shared, int error) {
  const std::string path = shared + "." + std::to_string(::getpid());
  const int fd = open_at(path);
  if (fd < 0) return kOff;
  take(fd);  // if that is refused too, its records are appended
  const std::string why = error == EWOULDBLOCK
                              ? "is being written by another process"
                              : std::string("cannot be locked: ") + std::strerror(error);
  print(
      "softnic: SOFTNIC_TRACE: '%s' %s; this process writes to '%s'. A name with %%p gives each "
      "its own\n",
      shared.c_str(), why.c_str(), path.c_str());
  return fd;
}

int open_file() {
  const std::string path = with_process_id(settings().trace);
  if (path.empty()) return kOff;
  const int fd = open_at(path);
  if (fd < 0) return kOff;
  const int error = take(fd);
  if (error == 0) return fd;
  ::syscall(SYS_close, fd);
  return open_own_file(path, error);
}

int file() {
  // The thread that records holds the device's lock.
  int fd = opened.load(std::memory_order_relaxed);
  if (fd == kNotOpened) opened.store(fd = open_file(), std::memory_order_relaxed);
  return fd;
}

// The trace ends here: a full disk. Reported once.
void end(int error) {
  print("softnic: SOFTNIC_TRACE: cannot write '%s': %s; the trace ends here\n",
        path_in_use().c_str(), std::strerror(error));
  ::syscall(SYS_close, opened.exchange(kOff, std::memory_order_relaxed));
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}

// One record: written by one call, so that readers never see half of it.
class Line {
 public:
  explicit Line(const char* event) {
    text_ += "{\"ns\":" + std::to_string(now_ns()) + ",\"pid\":" + std::to_string(::getpid());
    add("event", event);
  }
  ~Line() {
    text_ += "}\n";
    const long written = ::syscall(SYS_write, file(), text_.data(), text_.size());
    if (written != static_cast<long>(text_.size())) end(written < 0 ? errno : ENOSPC);
  }
  Line(const Line&) = delete;

  // Names and texts here are our own: they need no escapes.
  Line& add(const char* name, std::string_view text) {
    key(name) += '"';
    text_.append(text) += '"';
    return *this;
  }
  Line& add(const char* name, std::integral auto number) {
    key(name) += std::to_string(number);
    return *this;
  }
  Line& add(const char* name, std::span<const std::byte> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    key(name) += '"';
    for (const std::byte b : bytes) {
      text_ += digits[std::to_integer<unsigned>(b) >> 4];
      text_ += digits[std::to_integer<unsigned>(b) & 15];
    }
    text_ += '"';
    return *this;
  }

 private:
  std::string& key(const char* name) {
    text_ += ",\"";
    text_ += name;
    return text_ += "\":";
  }

  std::string text_;
};

const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::kRc:
      return "RC";
    case Transport::kUc:
      return "UC";
    default:
      return "UD";
  }
}

}  // namespace

bool is_on() { return file() >= 0; }

void reopen() {
  if (const int fd = opened.exchange(kNotOpened); fd >= 0) ::syscall(SYS_close, fd);
}

void doorbell(std::uint32_t page, std::uint64_t value) {
  if (!is_on()) return;
  const auto bytes = std::as_bytes(std::span(&value, 1));
  Line("doorbell")
      .add("page", page)
      .add("qpn", load_be32(bytes.data() + 4) >> 8)
      .add("index", load_be32(bytes.data()) >> 8 & 0xffff)
      .add("bytes", bytes);
}

void wqe(const QueuePair& qp, const Request& request, std::span<const std::byte> bytes) {
  SOFTNIC_LOG_AT(3, "softnic: WQE qp %#x %s index %u ds %u bytes %llu\n", qp.qpn,
                 softnic::name_of(request.opcode), request.index, request.segments,
                 static_cast<unsigned long long>(request.bytes));
  if (!is_on()) return;
  const auto used = bytes.first(std::min<std::size_t>(bytes.size(), request.segments * kSegment));
  Line("wqe")
      .add("qpn", qp.qpn)
      .add("transport", name_of(qp.transport))
      .add("index", request.index)
      .add("bytes", used);
}

void receive_wqe(const QueuePair& qp, std::uint32_t counter, std::span<const std::byte> list) {
  if (is_on()) Line("receive_wqe").add("qpn", qp.qpn).add("index", counter).add("bytes", list);
}

void cqe(std::uint32_t cqn, const Completion& completion, std::span<const std::byte> bytes) {
  if (is_on()) Line("cqe").add("cqn", cqn).add("qpn", completion.qpn).add("bytes", bytes);
}

void command(std::uint32_t opcode, std::span<const std::byte> in, std::uint32_t status) {
  SOFTNIC_LOG_AT(2, "softnic: command %#x: status %#x\n", opcode, status);
  if (is_on()) Line("command").add("opcode", opcode).add("status", status).add("bytes", in);
}

void message(const char* kind, std::string_view name, std::uint32_t number, int error) {
  SOFTNIC_LOG_AT(2, "softnic: %s %.*s (%#x): %d\n", kind, static_cast<int>(name.size()),
                 name.data(), number, error);
  if (is_on()) Line(kind).add("name", name).add("number", number).add("error", error);
}

}  // namespace softnic::trace
