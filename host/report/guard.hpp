// The one place where exceptions become status codes and CHIME_ON_ERROR's behaviour. Every exported
// host function is one call of these (setup/api.cpp, ops/).
#pragma once

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "chime/device/simt/launch/host_calls.hpp"
#include "chime/error.h"
#include "host/errors/error.hpp"
#include "host/errors/operation_name.hpp"
#include "host/pe/pe.hpp"

namespace chime::host {

// The name under which a call is reported.
constexpr const char* name_of(const char* function) { return function; }
constexpr const char* name_of(Operation operation) { return operation_name(operation); }

// Turns the exception that is being handled into this thread's last error: prints it, unless
// chime_host_print_errors(0) holds, and returns its code.
int report_current_exception(const char* function) noexcept;

// What an error does: as the calling thread's PE was initialised, else as CHIME_ON_ERROR says.
OnError behaviour() noexcept;

// report_current_exception, then the behaviour: end the job, trap, or return.
void handle_current_exception(const char* function) noexcept;
void handle_current_exception(const char* function, OnError behaviour) noexcept;

// The object behind a pointer argument; throws Error{INVALID} that names the argument if it is
// null.
template <class T>
T& not_null(T* pointer, const char* name) {
  if (pointer) return *pointer;
  throw Error("setup", CHIMEX_ERR_INVALID, fmt::format("the argument {} is null", name));
}

// For functions that return a chimex_status. `Name`: what name_of takes.
template <class Name, class Body>
int status_of(Name function, Body&& body) noexcept {
  const simt::HostCall call(name_of(function), current_slot());
  try {
    std::forward<Body>(body)();
    return CHIMEX_OK;
  } catch (...) {
    return report_current_exception(name_of(function));
  }
}

// For functions that the specification declares void or as returning a value: `T{}` after an error.
template <class Name, class Body>
auto guarded(Name function, Body&& body) noexcept -> decltype(body()) {
  const simt::HostCall call(name_of(function), current_slot());
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    handle_current_exception(name_of(function));
    if constexpr (!std::is_void_v<decltype(body())>) return decltype(body()){};
  }
}

}  // namespace chime::host
