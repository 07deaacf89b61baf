#include "host/report/error_words.hpp"

#include <fmt/format.h>

#include "host/errors/abort.hpp"
#include "host/errors/operation_name.hpp"
#include "host/report/team_words.hpp"
#include "host/settings/spelling.hpp"

namespace chime::host {
namespace {

std::string place(const Runtime& runtime, std::uint64_t address) {
  const Heap& heap = runtime.device->heap;
  if (auto offset = heap.offset_of(reinterpret_cast<const void*>(address)))
    return fmt::format("heap + {}", *offset);
  return fmt::format("{:#x}", address);
}

// If no transport knows of a loss of the path to the PE itself, the lost path is one of a queue
// that leads to other PEs, too.
std::string why_lost(const Runtime& runtime, const abi::ErrorRecord& record) {
  for (const auto& transport : runtime.device->transports)
    if (auto why = transport->why_lost(record.pe)) return *std::move(why);
  return "a request before it failed or was given up, as an error has reported";
}

// Device code knows that no path leads there, or that a path has failed. Only the host knows that
// the PE is dead.
bool is_about_a_dead_pe(const Runtime& runtime, const abi::ErrorRecord& record) {
  const bool is_about_peer = record.status == CHIMEX_ERR_NETWORK ||
                             record.status == CHIMEX_ERR_UNREACHABLE ||
                             record.status == CHIMEX_ERR_PEER_DEAD;
  return is_about_peer && record.pe >= 0 && record.pe < runtime.n_pes() &&
         runtime.device->peers.is_dead(record.pe);
}

// A sync that cannot come to its end ends at once, a wait for a word when others had their time.
std::string lost_path_words(const Runtime& runtime, const abi::ErrorRecord& record) {
  const char* const since =
      is_meeting(static_cast<Operation>(record.operation))
          ? "PE {} did not learn that this PE has come, because {}"
          : "nothing came in CHIME_TIMEOUT since the path to PE {} was lost: {}";
  return fmt::format(fmt::runtime(since), record.pe, why_lost(runtime, record));
}

// Why a wait ended without its event.
std::string cause_words(const Runtime& runtime, const abi::ErrorRecord& record) {
  if (auto cause = abort_cause(runtime.device->control().abort)) return cause->why;
  if (is_about_a_dead_pe(runtime, record)) return runtime.device->peers.why_not(record.pe);
  if (record.status == CHIMEX_ERR_TIMEOUT)
    return "its time is over (CHIME_TIMEOUT bounds Chime's waits)";
  if (record.status == CHIMEX_ERR_NETWORK) return lost_path_words(runtime, record);
  return chimex_status_string(record.status);
}

// The missing resource, if a wait at `address` was for one that a path to peers needs.
std::optional<Scarcity> awaited_at(const Runtime& runtime, std::uint64_t address) {
  return runtime.device->tables ? runtime.device->tables->awaited_at(address) : std::nullopt;
}

std::string scarcity_sentence(const Runtime& runtime, const abi::ErrorRecord& record,
                              const Scarcity& scarce) {
  const std::string remedy = scarce.remedy ? " by " + spoken(scarce.remedy) : std::string();
  return fmt::format("{} in {:.3g} s; {}{}: {}", scarce.what,
                     static_cast<double>(record.waited_ns) * 1e-9, scarce.note, remedy,
                     cause_words(runtime, record));
}

// The carrier of requests to the PE, if it is not mapped.
std::string carrier_words(const Runtime& runtime, int pe) {
  const Path path = runtime.device->peers.path(pe);
  return path == Path::kProxy ? " for the proxy" : path == Path::kNic ? " for the NIC" : "";
}

// Whether the PE that is named may be a member that waits for another one. Where stores reach a
// member that a collective awaits, the call has found the last one.
bool may_be_waiting(const Runtime& runtime, const abi::ErrorRecord& record) {
  if (static_cast<Fault>(record.fault) != Fault::kWaitForWaiting) return false;
  return !is_collective(static_cast<Operation>(record.operation)) ||
         runtime.device->peers.path(record.pe) != Path::kP2p;
}

std::string wait_sentence(const Runtime& runtime, const abi::ErrorRecord& record) {
  if (const auto scarce = awaited_at(runtime, record.address))
    return scarcity_sentence(runtime, record, *scarce);
  const auto* const address = reinterpret_cast<const void*>(record.address);
  const bool is_for_request = static_cast<Operation>(record.operation) == Operation::kNone;
  // If the job was aborted, the record's PE is the one to blame, not the one that was waited for.
  const int awaited = record.status == CHIMEX_ERR_TIMEOUT ? record.pe : -1;
  std::string partner, others;
  if (awaited >= 0)
    partner =
        fmt::format("{} for PE {}", is_for_request ? carrier_words(runtime, awaited) : "", awaited);
  const TeamTable& teams = *runtime.device->teams;
  if (awaited >= 0 && may_be_waiting(runtime, record)) others = of_others_words(teams, record);
  return fmt::format(
      "the wait{}{}{} ended after {:.3g} s, at {} (it waited for {}, and last saw {}): {}", partner,
      of_team_words(teams, address, awaited), others, static_cast<double>(record.waited_ns) * 1e-9,
      runtime.device->heap.name_of(address), static_cast<std::int64_t>(record.expected),
      static_cast<std::int64_t>(record.seen), cause_words(runtime, record));
}

// A request that the NIC could not carry out, and those that came after it to the same queue.
std::string network_sentence(const Runtime& runtime, const abi::ErrorRecord& record) {
  if (record.pe < 0)
    return "not all requests are complete: one failed or was given up, as an error has reported";
  const std::string why = why_lost(runtime, record);
  return record.address == 0
             ? fmt::format("an operation on PE {} was not begun, because {}", record.pe, why)
             : fmt::format("an operation on {} of PE {} failed: {}", place(runtime, record.address),
                           record.pe, why);
}

// The operation that did not begin; `expected` is its number of bytes, or as the record's fault
// says.
std::string argument_sentence(const Runtime& runtime, const abi::ErrorRecord& record) {
  const auto number = static_cast<std::int64_t>(record.expected);
  if (static_cast<Fault>(record.fault) == Fault::kSignalOp) return signal_op_sentence(number);
  if (static_cast<Fault>(record.fault) == Fault::kComparison)
    return fmt::format("there is no comparison {} ({} and its neighbours are 0 to 5)", number,
                       spoken_constant("CMP_EQ"));
  if (static_cast<Fault>(record.fault) == Fault::kTeam) return team_sentence(number);
  if (static_cast<Fault>(record.fault) == Fault::kRoot)
    return root_sentence(*runtime.device->teams, record);
  if (static_cast<Fault>(record.fault) == Fault::kUnalike)
    return unalike_sentence(*runtime.device->teams, record);
  if (static_cast<Fault>(record.fault) == Fault::kRefused)
    return refused_sentence(*runtime.device->teams, record);
  if (static_cast<Fault>(record.fault) == Fault::kRoom)
    return fmt::format("PE {} sends {} bytes, for which dst_counts says there is no room",
                       record.pe, record.expected);
  if (is_about_a_dead_pe(runtime, record)) return runtime.device->peers.why_not(record.pe);
  if (static_cast<Fault>(record.fault) == Fault::kTeamFailed ||
      static_cast<Fault>(record.fault) == Fault::kTeamInUse)
    return team_refusal_sentence(*runtime.device->teams, record);
  const Heap& heap = runtime.device->heap;
  const auto* const address = reinterpret_cast<const void*>(record.address);
  if (record.pe < 0 && record.status == CHIMEX_ERR_NETWORK)
    return network_sentence(runtime, record);
  if (record.pe < 0 || record.pe >= runtime.n_pes()) return no_such_pe(runtime, record.pe);
  if (record.status == CHIMEX_ERR_NETWORK) return network_sentence(runtime, record);
  if (record.status == CHIMEX_ERR_UNREACHABLE) return runtime.device->peers.why_not(record.pe);
  if (static_cast<Fault>(record.fault) == Fault::kNoMemory)
    return fmt::format(
        "{} is no memory of PE {}, where {} bytes here are meant: a null pointer, or "
        "one into an object at null",
        record.address == 0 ? "null" : place(runtime, record.address), record.pe, number);
  if (static_cast<Fault>(record.fault) == Fault::kAlignment)
    return heap.why_misaligned(address, record.expected);
  if (static_cast<Fault>(record.fault) == Fault::kBounds)
    return heap.why_out_of_bounds(address, record.expected, record.pe);
  return heap.why_outside(address, record.expected);
}

// The thread that met the failure. The NIC's queues do not know for which thread they work.
std::string place_of_call(const abi::ErrorRecord& record) {
  const auto operation = static_cast<Operation>(record.operation);
  std::string place = operation == Operation::kNone ? "" : spoken(operation_name(operation));
  if (record.in_kernel != 0)
    place += fmt::format("{}in thread {} of block {} of a kernel", place.empty() ? "" : " ",
                         record.thread, record.block);
  return place.empty() ? "" : place + ": ";
}

}  // namespace

std::string no_such_pe(const Runtime& runtime, int pe) {
  if (runtime.n_pes() == 1)
    return fmt::format(
        "there is no PE {}; this job has PE 0 alone (chime-run -n 4 <program> starts 4)", pe);
  return fmt::format("there is no PE {}; this job has PEs 0 to {}", pe, runtime.n_pes() - 1);
}

std::string signal_op_sentence(std::int64_t op) {
  return fmt::format("there is no signal operation {} ({} and {})", op,
                     spoken_constant("SIGNAL_SET"), spoken_constant("SIGNAL_ADD"));
}

std::string sentence(const Runtime& runtime, const abi::ErrorRecord& record) {
  const auto fault = static_cast<Fault>(record.fault);
  const bool is_wait = fault == Fault::kWait || fault == Fault::kWaitForWaiting;
  return is_wait ? wait_sentence(runtime, record) : argument_sentence(runtime, record);
}

AsyncError describe(const Runtime& runtime, const abi::ErrorRecord& record) {
  const auto status = is_about_a_dead_pe(runtime, record)
                          ? CHIMEX_ERR_PEER_DEAD
                          : static_cast<chimex_status>(record.status);
  return {status, record.pe, place_of_call(record) + sentence(runtime, record)};
}

}  // namespace chime::host
