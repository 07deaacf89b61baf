#include "host/ops/memory/own_part.hpp"

#include "chime/abi/launch_status.h"
#include "host/pe/pe.hpp"

namespace chime::host {

DeviceStage& device_for_a_call() {
  exec::detail::tell_unseen_launch_errors();
  return *ready_runtime().device;
}

}  // namespace chime::host
