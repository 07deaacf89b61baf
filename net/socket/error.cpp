#include "net/socket/error.hpp"

#include <cerrno>
#include <system_error>

namespace chime::net {

Error system_error(const std::string& what) {
  return Error(Fault::kSystem, what + ": " + std::generic_category().message(errno));
}

bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace chime::net
