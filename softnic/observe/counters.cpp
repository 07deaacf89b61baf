#include "counters.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "log.hpp"
#include "settings.hpp"

namespace softnic {

void Counters::carried_out(const Request& request, bool to_itself) {
  Work& work = (to_itself ? to_itself_ : to_peers_)[static_cast<std::size_t>(request.opcode) % 64];
  ++work.requests;
  work.bytes += request.is_atomic() ? request.atomic.bytes : request.bytes;
}

void Counters::add(std::string& text, const char* name, const ByOpcode& work) {
  text += std::string(",\"") + name + "\":{";
  const char* separator = "";
  for (std::size_t opcode = 0; opcode < work.size(); ++opcode) {
    if (work[opcode].requests == 0) continue;
    text += std::string(separator) + '"' + name_of(static_cast<Opcode>(opcode)) +
            "\":{\"requests\":" + std::to_string(work[opcode].requests) +
            ",\"bytes\":" + std::to_string(work[opcode].bytes) + '}';
    separator = ",";
  }
  text += '}';
}

std::string Counters::line(const Faults::Strikes& faults) const {
  std::string text = "{\"softnic\":\"counters\",\"pid\":" + std::to_string(::getpid());
  const auto number = [&](const char* name, std::uint64_t value) {
    text += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  number("doorbells", doorbells_);
  number("packets_received", packets_received_);
  number("failed", failed_);
  add(text, "to_peers", to_peers_);
  add(text, "to_itself", to_itself_);
  text += ",\"faults\":{";
  const char* separator = "";
  for (const auto& [rule, strikes] : faults) {
    text += std::string(separator) + '"' + rule + "\":" + std::to_string(strikes);
    separator = ",";
  }
  text += '}';
  return text + "}\n";
}

// Written by one call, so that the processes of a job may share a file.
void Counters::tell(const Faults::Strikes& faults) const {
  const std::string path = with_process_id(settings().counters);
  const bool to_stderr = path == "-";
  const int fd = to_stderr
                     ? STDERR_FILENO
                     : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(),
                                                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (fd < 0)
    return print("softnic: SOFTNIC_COUNTERS: cannot open '%s': %s\n", path.c_str(),
                 std::strerror(errno));
  const std::string text = line(faults);
  if (::syscall(SYS_write, fd, text.data(), text.size()) != static_cast<long>(text.size()))
    print("softnic: SOFTNIC_COUNTERS: cannot write '%s': %s\n", path.c_str(), std::strerror(errno));
  if (!to_stderr) ::syscall(SYS_close, fd);
}

}  // namespace softnic
