// The name under which errors report an operation: what the specification calls its family, so
// chime_put for chime_int_put.
#pragma once

#include "chime/abi/operation.h"

namespace chime::host {

// Inline: every host operation says its own, which is a constant there.
constexpr const char* operation_name(Operation operation) {
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
