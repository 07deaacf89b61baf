// The name under which errors report an operation: what the specification calls its family, so
// chime_put for chime_int_put.
#pragma once

#include "chime/abi/operation.h"

namespace chime::host {

const char* operation_name(Operation operation);

}  // namespace chime::host
