// What is recorded for a PE is thrown by its next host call. A program whose kernels wait makes
// none, perhaps for CHIME_TIMEOUT: what has failed meanwhile is said on stderr as soon as it has
// been there for a moment, and still thrown by the call that comes, which does not say it again.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "net/descriptor.hpp"

namespace chime::host {

struct Runtime;

class UntoldErrors {
 public:
  // An error is said that two looks find: most are thrown at once.
  static constexpr std::chrono::milliseconds kBetweenLooks{500};

  // REQUIRES: the device stage of `runtime`, until this is gone.
  explicit UntoldErrors(const Runtime& runtime);
  ~UntoldErrors();
  UntoldErrors(const UntoldErrors&) = delete;

 private:
  void watch();
  void look() noexcept;

  const Runtime& runtime_;
  const net::Descriptor end_;
  std::string seen_, said_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace chime::host
