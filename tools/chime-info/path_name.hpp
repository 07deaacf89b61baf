// The names of paths in what chime-info prints.
#pragma once

#include "chime/device/route.cuh"

namespace chime::info {

inline const char* path_name(Path path) {
  switch (path) {
    case Path::kP2p:
      return "p2p";
    case Path::kNic:
      return "nic";
    case Path::kProxy:
      return "proxy";
    case Path::kNone:
      break;
  }
  return "none";
}

}  // namespace chime::info
