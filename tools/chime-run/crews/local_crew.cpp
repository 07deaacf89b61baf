#include "local_crew.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "environment.hpp"
#include "net/socket/descriptor.hpp"
#include "options.hpp"
#include "processes/processes.hpp"

namespace chime::run {
namespace {

// Which limit to raise, for the errors that a job's size brings.
std::string advice_for(const std::error_code& error) {
  if (error == std::errc::too_many_files_open)
    return " (chime-run needs some descriptors for each PE; raise the limit: ulimit -n)";
  if (error == std::errc::resource_unavailable_try_again)
    return " (raise the limit on processes: ulimit -u)";
  return "";
}

// Places among the processors that this process may use itself.
std::vector<cpu_set_t> places_of(const std::optional<topology::PlaceKind>& binding) {
  cpu_set_t allowed;
  if (!binding || sched_getaffinity(0, sizeof allowed, &allowed)) return {};
  return topology::cpu_places(*binding, allowed);
}

}  // namespace

void LocalCrew::start(const Order& order) {
  set_variables(order.environment);
  const net::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<cpu_set_t> places = places_of(order.binding);
  for (std::size_t i = 0; i < order.pes.size(); i++) {
    const Order::Pe& pe = order.pes[i];
    start_pe(order, pe, pe.number == 0 ? surroundings_.input_of_pe_0 : nothing.get(),
             places.empty() ? nullptr : &places[i % places.size()]);
  }
  check_that_all_run(order.command[0]);
}

void LocalCrew::start_pe(const Order& order, const Order::Pe& pe, int input,
                         const cpu_set_t* cpus) try {
  std::vector<std::string> environment = pe.environment;
  // Other launchers have their own names for this; the softgpu has as many devices.
  environment.push_back("CHIME_RUN_LOCAL_SIZE=" + std::to_string(order.pes.size()));
  pes_.push_back({pe.number, ChildProcess(Start{order.command, environment, input,
                                                surroundings_.has_own_output, cpus})});
  by_process_[pes_.back().process.pid()] = &pes_.back();
  if (surroundings_.has_own_output) show_output_of(pes_.back());
} catch (const std::system_error& e) {
  throw CannotRun(kExitCannotRun, "cannot start PE " + std::to_string(pe.number) + ": " + e.what() +
                                      advice_for(e.code()));
}

void LocalCrew::show_output_of(const Pe& pe) {
  const std::vector<Sink*> out{&surroundings_.out}, err{&surroundings_.err};
  sources_.emplace_back(pe.process.output().get(), out, [this, n = pe.number](auto text) {
    owner_.on_output(n, Stream::kOut, text);
  });
  sources_.emplace_back(pe.process.errors().get(), err, [this, n = pe.number](auto text) {
    owner_.on_output(n, Stream::kErr, text);
  });
}

void LocalCrew::check_that_all_run(const std::string& program) {
  for (Pe& pe : pes_)
    if (const int error = pe.process.exec_error())
      throw CannotRun(error == ENOENT ? kExitNotFound : kExitCannotRun,
                      "cannot run '" + program + "': " + std::strerror(error));
}

void LocalCrew::add_to(std::vector<pollfd>& polled) const {
  for (const Source& source : sources_)
    if (source.is_waited_for()) polled.push_back({source.fd(), POLLIN, 0});
}

void LocalCrew::serve() {
  for (Source& source : sources_) source.read_some();
}

void LocalCrew::read_rest() {
  for (Source& source : sources_) source.read_rest();
}

std::vector<PeEnd> LocalCrew::take_ends() {
  std::vector<PeEnd> ended;
  for (const pid_t pid : ChildProcess::ended()) {
    const auto found = by_process_.find(pid);
    if (found == by_process_.end() || !found->second->process.note_end()) continue;
    const Pe& pe = *found->second;
    ended.push_back({pe.number, pid, *pe.process.status()});
  }
  return ended;
}

bool LocalCrew::has_running_pes() const {
  return std::any_of(pes_.begin(), pes_.end(),
                     [](const Pe& pe) { return pe.process.is_running(); });
}

void LocalCrew::end(int signal) {
  for (const Pe& pe : pes_)
    pe.process.send(signal), pe.process.send(SIGCONT);  // a stopped process must see it, too
}

void LocalCrew::kill() {
  for (const Pe& pe : pes_) pe.process.send(SIGKILL);
}

void LocalCrew::pass_to_listeners(int signal) {
  for (const Pe& pe : pes_)
    if (pe.process.is_running() && listens_to(pe.process.pid(), signal)) pe.process.send(signal);
}

}  // namespace chime::run
