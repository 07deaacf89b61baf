// Named steps of set-up, whose errors say which one it was, and the time that each step has.
#pragma once

#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "bootstrap/bootstrap.hpp"
#include "host/errors/error.hpp"

namespace chime::host {

// Runs it and returns its result. An exception, also one of the system's errors, becomes an Error
// whose origin begins with `name`.
template <class Step>
decltype(auto) step(const char* name, Step&& run) {
  try {
    return run();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", name, error.origin()), error.code(), error.message());
  } catch (const bootstrap::BootstrapError& error) {
    throw Error(name, error.code(), error.what());
  } catch (const std::runtime_error& error) {
    throw Error(name, CHIMEX_ERR_SYSTEM, error.what());
  } catch (const std::bad_alloc&) {
    throw Error(name, CHIMEX_ERR_OUT_OF_MEMORY, "the system has no memory left");
  }
}

}  // namespace chime::host
