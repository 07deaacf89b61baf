// Which crews a job has, and what each is to run: one on this machine, or one on each of the hosts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "crew.hpp"
#include "options.hpp"
#include "processes/output.hpp"

namespace chime::run {

// `out`, `err`: where `owner` puts what PEs write.
std::vector<std::unique_ptr<Crew>> make_crews(const Options& options, CrewOwner& owner, Sink& out,
                                              Sink& err);

// One for each of them. `environment_of`: each PE's own variables.
std::vector<Order> orders_for(
    const Options& options, const std::function<std::vector<std::string>(int pe)>& environment_of);

}  // namespace chime::run
