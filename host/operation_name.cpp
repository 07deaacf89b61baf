#include "host/operation_name.hpp"

namespace chime::host {

const char* operation_name(Operation operation) {
  switch (operation) {
#define CHIME_OPERATION(ENUMERATOR, NAME) \
  case Operation::ENUMERATOR:             \
    return NAME;
    CHIME_FOR_OPERATIONS(CHIME_OPERATION)
#undef CHIME_OPERATION
    case Operation::kNone:
      break;
  }
  return "an operation";
}

}  // namespace chime::host
