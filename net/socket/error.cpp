#include "net/socket/error.hpp"

#include <cerrno>
#include <system_error>

namespace chime::net {

Error system_error(const std::string& what) {
  return Error(Fault::kSystem, what + ": " + std::generic_category().message(errno));
}

}  // namespace chime::net
