#include "ends.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

namespace chime::run {
namespace {

constexpr std::chrono::seconds kLookTime{1};
// From where a killed process's connections close, by which others may end, to where the system
// tells its parent.
constexpr std::chrono::milliseconds kDyingTime{100};

bool is_good(const PeEnd& end) { return WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0; }

}  // namespace

void Ends::add(std::vector<Abort> aborts) {
  batch_.aborts.insert(batch_.aborts.end(), aborts.begin(), aborts.end());
}

void Ends::add(std::vector<PeEnd> ends) {
  for (PeEnd& end : ends)
    (WIFSIGNALED(end.status) ? batch_.killed : batch_.others).push_back(std::move(end));
}

bool Ends::has_waiting() const {
  return !batch_.killed.empty() || !batch_.aborts.empty() || !batch_.others.empty();
}

std::optional<Clock::time_point> Ends::next() const {
  return dying_until_ && Clock::now() < *dying_until_ ? dying_until_ : look_until_;
}

std::optional<Ends::Batch> Ends::take(const std::vector<std::unique_ptr<Crew>>& crews) {
  if (!has_waiting()) return {};
  const bool all_is_well = batch_.killed.empty() && batch_.aborts.empty() &&
                           std::all_of(batch_.others.begin(), batch_.others.end(), is_good);
  if (!all_is_well && !look_until_) {
    for (const auto& crew : crews) crew->look();
    look_until_ = Clock::now() + kLookTime;
    dying_until_ = Clock::now() + kDyingTime;
  }
  const bool all_have_looked =
      std::all_of(crews.begin(), crews.end(), [](const auto& crew) { return crew->has_looked(); });
  if (!all_is_well && !all_have_looked && Clock::now() < *look_until_) return {};
  const bool one_may_be_dying =
      batch_.killed.empty() && std::any_of(crews.begin(), crews.end(), [](const auto& crew) {
        return crew->has_running_pes();
      });
  if (!all_is_well && one_may_be_dying && Clock::now() < *dying_until_) return {};
  look_until_.reset();
  dying_until_.reset();
  return std::exchange(batch_, {});
}

}  // namespace chime::run
