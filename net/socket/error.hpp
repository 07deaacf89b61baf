// The exceptions of net/, which also say why a connection ended.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace chime::net {

enum class Fault {
  kSystem,     // the operating system refused
  kTimeout,    // a deadline passed
  kClosed,     // the other side has closed, or its process has ended
  kProtocol,   // what came is not this protocol, or was changed in transit
  kVersion,    // the other side speaks another version of it
  kSecret,     // the other side does not know the job's secret
  kRefused,    // the other side knows the secret, and says no
  kNobody,     // nobody listens there
  kExhausted,  // this process or host has no descriptor or memory left: nothing was tried
};

// `what()` says what failed; where another process is to blame, it says how.
class Error : public std::exception {
 public:
  Error(Fault fault, std::string what) : fault_(fault), what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
  std::string what_;
};

// The text of errno after a failed call: "cannot listen: Address already in use".
Error system_error(const std::string& what);

// Whether errno's number is of kExhausted.
bool is_exhaustion(int error);

}  // namespace chime::net
