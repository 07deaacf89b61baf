#include "crews.hpp"

#include "local_crew.hpp"
#include "processes/guardian.hpp"
#include "processes/waiting.hpp"
#include "remote_crew.hpp"

namespace chime::run {

std::vector<std::unique_ptr<Crew>> make_crews(const Options& options, CrewOwner& owner, Sink& out,
                                              Sink& err) {
  std::vector<std::unique_ptr<Crew>> crews;
  if (options.hosts.empty())
    crews.push_back(std::make_unique<LocalCrew>(
        owner, LocalCrew::Surroundings{.input_of_pe_0 = input_of_pe_0(),
                                       .has_own_output = options.has_prefix,
                                       .out = out,
                                       .err = err}));
  for (const HostShare& host : options.hosts)
    crews.push_back(std::make_unique<RemoteCrew>(
        owner, RemoteCrew::Where{.host = host.name,
                                 .agent = host.agent,
                                 .start_limit = in_seconds(options.start_limit_s),
                                 .input_of_pe_0 = input_of_pe_0(),
                                 .out = out,
                                 .err = err}));
  return crews;
}

std::vector<Order> orders_for(const Options& options,
                              const std::function<std::vector<std::string>(int)>& environment_of) {
  std::vector<int> shares;
  for (const HostShare& host : options.hosts) shares.push_back(host.n_pes);
  if (shares.empty()) shares = {options.n_pes};
  std::vector<Order> orders;
  int pe = 0;
  for (const int n_pes : shares) {
    Order& order = orders.emplace_back();
    order.command = options.command;
    order.binding = options.binding;
    order.environment = options.variables;
    for (const int end = pe + n_pes; pe < end; ++pe) order.pes.push_back({pe, environment_of(pe)});
  }
  return orders;
}

}  // namespace chime::run
