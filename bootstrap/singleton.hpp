// A job of one PE, without a launcher.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.hpp"

namespace chime::bootstrap {

std::unique_ptr<Bootstrap> make_singleton();

}  // namespace chime::bootstrap
