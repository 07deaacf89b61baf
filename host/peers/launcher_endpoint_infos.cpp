#include "host/peers/launcher_endpoint_infos.hpp"

#include <fmt/format.h>

#include "host/errors/error.hpp"
#include "host/peers/left_endpoint_infos.hpp"

namespace chime::host {
namespace {

EndpointInfoFinder::Found found_in(int pe, const bootstrap::Answer& answer) {
  if (answer.code != CHIMEX_OK) return {pe, {}, answer.why};
  try {
    return {pe, read_endpoint_info(pe, answer.value), ""};
  } catch (const Error& error) {
    return {pe, {}, error.what()};
  }
}

}  // namespace

LauncherEndpointInfos::LauncherEndpointInfos(const bootstrap::Bootstrap& bootstrap, Path path,
                                             std::chrono::nanoseconds timeout)
    : bootstrap_(bootstrap), key_(key_of_endpoint_infos(path)), timeout_(timeout) {}

// The bootstrap calls back from a thread of its own: nobody waits here.
void LauncherEndpointInfos::look_for(int pe) {
  deadlines_[pe] = Clock::now() + timeout_;
  try {
    questions_[pe] = bootstrap_.ask(
        pe, key_, [this, pe](bootstrap::Answer answer) { note(pe, std::move(answer)); });
  } catch (const bootstrap::BootstrapError& error) {
    note(pe, {.code = error.code(), .why = error.what()});
  }
}

void LauncherEndpointInfos::note(int pe, bootstrap::Answer answer) {
  const std::lock_guard lock(mutex_);
  answers_.emplace_back(pe, std::move(answer));
}

std::vector<EndpointInfoFinder::Found> LauncherEndpointInfos::take() {
  if (deadlines_.empty()) return {};
  std::vector<std::pair<int, bootstrap::Answer>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  std::vector<Found> found;
  for (const auto& [pe, answer] : answers) {
    if (deadlines_.erase(pe) == 0) continue;  // it came too late
    questions_.erase(pe);
    found.push_back(found_in(pe, answer));
  }
  take_late_ones(found);
  return found;
}

void LauncherEndpointInfos::take_late_ones(std::vector<Found>& found) {
  const auto now = Clock::now();
  std::erase_if(deadlines_, [&](const auto& one) {
    const auto& [pe, deadline] = one;
    if (now < deadline) return false;
    questions_.erase(pe);
    found.push_back(
        {pe,
         {},
         fmt::format("it has not said within {} s where it is (CHIME_INIT_TIMEOUT); "
                     "look whether it has started",
                     std::chrono::duration_cast<std::chrono::seconds>(timeout_).count())});
    return true;
  });
}

}  // namespace chime::host
