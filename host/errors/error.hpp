// Errors of set-up. host/report/guard.cpp alone turns one into a status code and CHIME_ON_ERROR's
// behaviour.
//
// The lowest header of the host side: the interfaces of device and transport below host/ include it
// too.
#pragma once

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "chime/error.h"

namespace chime::host {

// One failure: where it was seen, which code the user gets, and a sentence that says what is wrong
// and what to do.
class Error : public std::exception {
 public:
  // `origin` names the part that failed in words a user knows: "symmetric heap", "bootstrap",
  // "CHIME_TIMEOUT". Empty: the call that the user made.
  Error(std::string origin, chimex_status code, std::string what)
      : origin_(std::move(origin)), code_(code), what_(std::move(what)) {
    text_ = origin_.empty() ? what_ : origin_ + ": " + what_;
  }

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& origin() const noexcept { return origin_; }
  const std::string& message() const noexcept { return what_; }
  chimex_status code() const noexcept { return code_; }

  // The same failure, which was already reported to the user.
  Error announced() const {
    Error known = *this;
    known.is_announced_ = true;
    return known;
  }
  bool is_announced() const noexcept { return is_announced_; }

 private:
  std::string origin_;
  chimex_status code_;
  std::string what_;
  std::string text_;
  bool is_announced_ = false;
};

// An Error whose message ends with the operating system's words for `error_number`.
inline Error system_error(std::string origin, std::string what, int error_number = errno) {
  return Error(std::move(origin), CHIMEX_ERR_SYSTEM,
               std::move(what) + ": " + std::generic_category().message(error_number));
}

}  // namespace chime::host
