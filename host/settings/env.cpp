#include "host/settings/env.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "chime/abi/proxy_fifo.h"
#include "chime/abi/words.h"
#include "chime/device/simt/launch/option_numbers.hpp"
#include "host/errors/error.hpp"

namespace chime::host {
namespace {

[[noreturn]] void refuse(const Variable& variable, std::string_view text, std::string_view why) {
  throw Error(std::string(variable.name), CHIMEX_ERR_INVALID,
              fmt::format("'{}' {}; allowed: {} (default {})", text, why, variable.values,
                          variable.fallback));
}

// One word of a list; `words` and `values` run in parallel.
template <class Value, std::size_t N>
Value parse_word(const Variable& variable, std::string_view text,
                 const std::pair<std::string_view, Value> (&words)[N]) {
  for (const auto& [word, value] : words)
    if (text == word) return value;
  refuse(variable, text, "is not one of its values");
}

std::uint64_t suffix_factor(char suffix) {
  switch (suffix) {
    case 'K':
    case 'k':
      return std::uint64_t{1} << 10;
    case 'M':
    case 'm':
      return std::uint64_t{1} << 20;
    case 'G':
    case 'g':
      return std::uint64_t{1} << 30;
    case 'T':
    case 't':
      return std::uint64_t{1} << 40;
    default:
      return 0;
  }
}

// "512M", "1.5G", "4096". Binary suffixes; an optional B or iB after the suffix.
std::size_t parse_bytes(const Variable& variable, std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0)) refuse(variable, text, "is not a number of bytes");
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!suffix.empty() && suffix_factor(suffix[0])) {
    number *= static_cast<double>(suffix_factor(suffix[0]));
    suffix.remove_prefix(1);
    if (suffix.starts_with('i')) suffix.remove_prefix(1);
  }
  if (suffix == "B" || suffix == "b") suffix = {};
  if (!suffix.empty()) refuse(variable, text, "has an unknown suffix");
  if (number >= 0x1p60) refuse(variable, text, "is too large");
  return static_cast<std::size_t>(number);
}

// Seconds, fractions allowed; 0 means no bound.
std::uint64_t parse_seconds_as_ns(const Variable& variable, std::string_view text) {
  double seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || !(seconds >= 0))
    refuse(variable, text, "is not a number of seconds");
  if (seconds > 1e9) refuse(variable, text, "is too large");
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

unsigned parse_number(const Variable& variable, std::string_view text, unsigned least,
                      unsigned most) {
  unsigned number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(variable, text, "is not a whole number");
  if (number < least || number > most) refuse(variable, text, "is out of range");
  return number;
}

unsigned parse_power_of_two(const Variable& variable, std::string_view text, unsigned least,
                            unsigned most) {
  const unsigned number = parse_number(variable, text, least, most);
  if (!std::has_single_bit(number)) refuse(variable, text, "is not a power of two");
  return number;
}

void read_symmetric_size(const Variable& v, std::string_view text, Settings& s) {
  const std::size_t asked = parse_bytes(v, text);
  s.symmetric_bytes = std::max(asked, kLeastSymmetricBytes);
  s.symmetric_is_raised = asked < kLeastSymmetricBytes;
}

void read_device(const Variable& v, std::string_view text, Settings& s) {
  s.device = parse_word<DeviceChoice>(
      v, text,
      {{"auto", DeviceChoice::kAuto}, {"cpu", DeviceChoice::kCpu}, {"cuda", DeviceChoice::kCuda}});
}

// One word for all of CHIME_P2P, CHIME_NIC and CHIME_FABRIC: users try either.
bool is_off(std::string_view text) { return text == "off" || text == "none"; }

void read_p2p(const Variable& v, std::string_view text, Settings& s) {
  const bool is_number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (is_off(text))
    s.p2p.size = 0;
  else
    s.p2p.size = is_number ? parse_number(v, text, 1, 1 << 20)
                           : parse_word<unsigned>(v, text, {{"auto", P2pGroups::kAll}});
}

void read_nic(const Variable& v, std::string_view text, Settings& s) {
  if (text.empty() || text.find('/') != text.npos) refuse(v, text, "is no device name");
  s.nic.device = is_off(text) ? NicOptions::kOff : text;
}

void read_nic_backend(const Variable& v, std::string_view text, Settings& s) {
  s.nic.backend = parse_word<NicBackend>(
      v, text,
      {{"auto", NicBackend::kAuto}, {"verbs", NicBackend::kVerbs}, {"devx", NicBackend::kDevx}});
}

void read_nic_relaxed_ordering(const Variable& v, std::string_view text, Settings& s) {
  s.nic.ordering = parse_word<NicOrdering>(
      v, text,
      {{"auto", NicOrdering::kAuto}, {"on", NicOrdering::kRelaxed}, {"off", NicOrdering::kStrict}});
}

void read_nic_order(const Variable& v, std::string_view text, Settings& s) {
  s.nic.write_order = parse_word<NicWriteOrder>(v, text,
                                                {{"auto", NicWriteOrder::kAuto},
                                                 {"strict", NicWriteOrder::kStrict},
                                                 {"relaxed", NicWriteOrder::kRelaxed}});
}

void read_nic_doorbell(const Variable& v, std::string_view text, Settings& s) {
  s.nic.doorbell = parse_word<NicDoorbell>(
      v, text,
      {{"auto", NicDoorbell::kAuto}, {"direct", NicDoorbell::kDirect}, {"cpu", NicDoorbell::kCpu}});
}

void read_connect(const Variable& v, std::string_view text, Settings& s) {
  s.nic.connect = s.fabric.connect = parse_word<Connect>(
      v, text, {{"auto", Connect::kAuto}, {"eager", Connect::kEager}, {"lazy", Connect::kLazy}});
}

void read_nic_peers(const Variable& v, std::string_view text, Settings& s) {
  s.nic.peers = static_cast<unsigned>(parse_number(v, text, 1, 65536));
}

void read_nic_slots(const Variable& v, std::string_view text, Settings& s) {
  s.nic.slots = parse_power_of_two(v, text, 1, 64);
}

void read_qp_depth(const Variable& v, std::string_view text, Settings& s) {
  s.nic.queue_depth = parse_power_of_two(v, text, 128, 32768);
}

void read_nic_gid_index(const Variable& v, std::string_view text, Settings& s) {
  s.nic.gid_index = text == "auto" ? -1 : static_cast<int>(parse_number(v, text, 0, 255));
}

void read_nic_sl(const Variable& v, std::string_view text, Settings& s) {
  s.nic.service_level = parse_number(v, text, 0, 15);
}

void read_nic_tclass(const Variable& v, std::string_view text, Settings& s) {
  s.nic.traffic_class = parse_number(v, text, 0, 255);
}

void read_nic_pkey_index(const Variable& v, std::string_view text, Settings& s) {
  s.nic.pkey_index = parse_number(v, text, 0, 65535);
}

void read_nic_timeout(const Variable& v, std::string_view text, Settings& s) {
  s.nic.timeout = parse_number(v, text, 1, 31);
}

void read_nic_retry(const Variable& v, std::string_view text, Settings& s) {
  s.nic.retry = parse_number(v, text, 0, 7);
}

void read_softnic_library(const Variable&, std::string_view text, Settings& s) {
  s.nic.softnic_library = text;
}

void read_proxy_fifos(const Variable& v, std::string_view text, Settings& s) {
  s.proxy.fifos = parse_power_of_two(v, text, 1, 64);
}

void read_proxy_depth(const Variable& v, std::string_view text, Settings& s) {
  s.proxy.depth = parse_power_of_two(v, text, abi::kProxyLeastDepth, abi::kProxyMostDepth);
}

void read_proxy_batch(const Variable& v, std::string_view text, Settings& s) {
  s.proxy.batch = parse_number(v, text, 1, 32768);
}

void read_proxy_cpu(const Variable& v, std::string_view text, Settings& s) {
  if (text == "any") return s.proxy.cpu.reset();
  const unsigned cpu = parse_number(v, text, 0, CPU_SETSIZE - 1);
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0 && !CPU_ISSET(cpu, &mine))
    refuse(v, text, "is a processor on which this process may not run");
  s.proxy.cpu = static_cast<int>(cpu);
}

void read_proxy_threads(const Variable& v, std::string_view text, Settings&) {
  if (text != "1")
    refuse(v, text,
           "is not possible: a PE has one endpoint of the fabric, which one thread may use; start "
           "more PEs instead");
}

void read_fabric(const Variable& v, std::string_view text, Settings& s) {
  if (text.empty()) refuse(v, text, "is no provider's name");
  s.fabric.provider = is_off(text) ? FabricOptions::kOff : text;
}

void read_fabric_interface(const Variable&, std::string_view text, Settings& s) {
  s.fabric.interface = text;
}

void read_fabric_timeout(const Variable& v, std::string_view text, Settings& s) {
  s.fabric.timeout_ns = parse_seconds_as_ns(v, text);
}

void read_amo(const Variable& v, std::string_view text, Settings& s) {
  s.amo = parse_word<AmoChoice>(
      v, text,
      {{"auto", AmoChoice::kAuto}, {"owner", AmoChoice::kOwner}, {"p2p", AmoChoice::kP2p}});
}

void read_max_teams(const Variable& v, std::string_view text, Settings& s) {
  s.max_teams = parse_number(v, text, 8, abi::kMostTeams);
}

void read_collective_scratch(const Variable& v, std::string_view text, Settings& s) {
  s.collective_scratch = parse_number(v, text, 256, 1u << 20);
}

// "auto|few|many|...|bytes": the place of the word. None: it is bytes.
std::optional<std::size_t> word_of_algorithm(const Variable& v, std::string_view text) {
  std::string_view words = v.values;
  for (std::size_t i = 0; words != "bytes"; ++i) {
    const std::string_view word = words.substr(0, words.find('|'));
    if (text == word) return i;
    words.remove_prefix(word.size() + 1);
  }
  return std::nullopt;
}

template <CollectiveOptions::Bytes CollectiveOptions::*kCall,
          CollectiveOptions::Bytes CollectiveOptions::*kByNodes = nullptr,
          std::uint32_t kMultimem = 0>
void read_algorithm(const Variable& v, std::string_view text, Settings& s) {
  struct Choice {
    CollectiveOptions::Bytes from, by_nodes;
  };
  // By a third word "nodes" all that can be; by "multimem", a bit of abi::Team::by_multimem, what
  // can be, and else as auto.
  const bool by_multimem = kMultimem != 0 && text == "multimem";
  s.collectives.by_multimem &= ~kMultimem;
  if (by_multimem) s.collectives.by_multimem |= kMultimem;
  const Choice words[] = {{}, {kNoBytes, kNoBytes}, {0, kNoBytes}, {0, 0}};
  const std::optional<std::size_t> word = by_multimem ? 0 : word_of_algorithm(v, text);
  const Choice asked = word ? words[*word] : Choice{parse_bytes(v, text), {}};
  s.collectives.*kCall = asked.from;
  if constexpr (kByNodes != nullptr) s.collectives.*kByNodes = asked.by_nodes;
}

void read_doubling(const Variable& v, std::string_view text, Settings& s) {
  std::optional<std::uint64_t>& from = s.collectives.doubling;
  if (text == "auto")
    from.reset();
  else
    from = is_off(text) ? 0 : parse_number(v, text, 2, 1 << 20);
}

void read_barrier(const Variable& v, std::string_view text, Settings& s) {
  s.collectives.direct_barrier = parse_word<std::optional<bool>>(
      v, text, {{"auto", std::nullopt}, {"rounds", false}, {"direct", true}});
}

void read_team_lanes(const Variable& v, std::string_view text, Settings& s) {
  s.team_lanes = parse_number(v, text, 1, abi::kMostTeamLanes / 2);
}

void read_timeout(const Variable& v, std::string_view text, Settings& s) {
  s.wait_timeout_ns = parse_seconds_as_ns(v, text);
}

void read_init_timeout(const Variable& v, std::string_view text, Settings& s) {
  s.init_timeout_ns = parse_seconds_as_ns(v, text);
  if (s.init_timeout_ns == 0) refuse(v, text, "would let a missing PE hang the others");
}

void read_on_error(const Variable& v, std::string_view text, Settings& s) {
  s.on_error = parse_word<OnError>(
      v, text, {{"exit", OnError::kExit}, {"return", OnError::kReturn}, {"trap", OnError::kTrap}});
}

void read_on_peer_failure(const Variable& v, std::string_view text, Settings& s) {
  s.on_peer_failure = parse_word<OnPeerFailure>(
      v, text, {{"abort", OnPeerFailure::kAbort}, {"report", OnPeerFailure::kReport}});
}

void read_check(const Variable& v, std::string_view text, Settings& s) {
  const unsigned level = parse_word<unsigned>(v, text, {{"0", 0}, {"1", 1}, {"2", 2}});
  s.checked = level >= 1;
  s.checks_bounds = level >= 2;
}

void read_log(const Variable& v, std::string_view text, Settings& s) {
  s.log_level = parse_word<LogLevel>(v, text,
                                     {{"off", LogLevel::kOff},
                                      {"error", LogLevel::kError},
                                      {"warn", LogLevel::kWarn},
                                      {"info", LogLevel::kInfo},
                                      {"debug", LogLevel::kDebug}});
}

void read_trace(const Variable&, std::string_view text, Settings& s) { s.trace_path = text; }

void read_trace_events(const Variable& v, std::string_view text, Settings& s) {
  s.trace_events = parse_number(v, text, 256, 1u << 28);
}

void read_bootstrap(const Variable&, std::string_view text, Settings& s) {
  s.bootstrap_kind = text;
}

void read_bootstrap_interface(const Variable&, std::string_view text, Settings& s) {
  s.bootstrap_interface = text;
}

void read_mpi_plugin(const Variable&, std::string_view text, Settings& s) { s.mpi_plugin = text; }

// The executor reads these itself, by the same table (device/simt/launch/option_numbers.hpp). Here
// the values are only checked, because here the error can be reported to the user.
template <const simt::OptionNumber& kNumber>
void check_simt_number(const Variable& v, std::string_view text, Settings&) {
  if (!simt::parse(kNumber, std::string(text).c_str())) refuse(v, text, "is not one of them");
}

constexpr std::string_view kDefaultStackKb = simt::kStackKb.otherwise == 64 ? "64" : "256";
constexpr std::string_view kDefaultResident = simt::kResident.otherwise == 256 ? "256" : "16";
static_assert(simt::kStackKb.least == 16 && simt::kStackKb.most == 1048576 &&
                  simt::kResident.least == 1 && simt::kResident.most == 4096,
              "the rows below say so");

constexpr Variable kVariables[] = {
    {"CHIME_SYMMETRIC_SIZE", "bytes, with K M G T", "1G",
     "Size of each PE's symmetric heap, at least 1M. On the CPU device memory is taken only when "
     "it "
     "is touched. Alike on all PEs.",
     read_symmetric_size, "NVSHMEM_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE SMA_SYMMETRIC_SIZE"},
    {"CHIME_DEVICE", "auto|cpu|cuda", "auto",
     "Where kernels run: a GPU, or the CPU (SIMT executor). auto: what the program is compiled "
     "for. "
     "Of a node's GPUs each PE takes one that is near, unless its program has chosen "
     "(cudaSetDevice).",
     read_device},
    {"CHIME_P2P", "auto|off|none|number of PEs", "auto",
     "off maps no peer's memory, so that PEs can be reached through a NIC only. n: the PEs 0 to "
     "n-1 "
     "map each other, so do n to 2n-1, and so on.",
     read_p2p, "NVSHMEM_DISABLE_P2P"},
    {"CHIME_NIC", "auto|off|none|soft|<device>[:<port>]", "auto",
     "Which NIC kernels drive. auto: where some PE is not mapped, the active mlx5 port nearest to "
     "the GPU, if there is one; PEs take equally near ones in turn. soft: the emulated one.",
     read_nic,
     "NVSHMEM_HCA_LIST NVSHMEM_HCA_PE_MAPPING NVSHMEM_HCA_PREFIX NVSHMEM_ENABLE_NIC_PE_MAPPING "
     "NVSHMEM_REMOTE_TRANSPORT NVSHMEM_IB_ENABLE_IBGDA"},
    {"CHIME_NIC_BACKEND", "auto|verbs|devx", "auto",
     "How queue pairs are made: verbs objects, in host memory; or firmware commands, for kernels "
     "in "
     "the GPU's memory. auto: the latter where it can be had on a GPU.",
     read_nic_backend},
    {"CHIME_NIC_RELAXED_ORDERING", "auto|on|off", "auto",
     "Whether data may reach this PE's heap out of order: it comes faster, and peers' fences wait "
     "for it. auto: where the NIC says that it can.",
     read_nic_relaxed_ordering, "NVSHMEM_IB_ENABLE_RELAXED_ORDERING"},
    {"CHIME_NIC_ORDER", "auto|strict|relaxed", "auto",
     "Whether writes reach a peer's NIC in the order of posting; adaptive routing "
     "lets them overtake each other. relaxed: fences wait, and a signal behind data is an atomic. "
     "auto: relaxed unless the peer's NIC says that data comes in order.",
     read_nic_order},
    {"CHIME_NIC_DOORBELL", "auto|direct|cpu", "auto",
     "Whether kernels ring the NIC, or a host thread for them, which takes microseconds longer. "
     "auto: the thread where the driver does not map the NIC's registers for the GPU.",
     read_nic_doorbell, "NVSHMEM_IBGDA_NIC_HANDLER"},
    {"CHIME_CONNECT", "auto|eager|lazy", "auto",
     "When the NIC's queue pairs to a peer are connected and its address in a fabric is looked up: "
     "at init, or when it is first touched, which then takes a millisecond. auto: lazy in jobs of "
     "more than 32 PEs.",
     read_connect},
    {"CHIME_NIC_PEERS", "1 to 65536", "40",
     "How many peers a PE can be connected with where that is lazy; their queue pairs are made at "
     "init. A fabric (CHIME_FABRIC) leads to all others. Alike on all PEs.",
     read_nic_peers},
    {"CHIME_NIC_SLOTS", "power of two, 1 to 64", "2",
     "Queue pairs to each peer; blocks of a kernel share them out.", read_nic_slots,
     "NVSHMEM_IBGDA_NUM_RC_PER_PE NVSHMEM_IB_NUM_RC_PER_DEVICE"},
    {"CHIME_QP_DEPTH", "power of two, 128 to 32768", "1024",
     "Blocks of 64 bytes in each queue pair's send queue; a put takes one.", read_qp_depth,
     "NVSHMEM_QP_DEPTH"},
    {"CHIME_NIC_GID_INDEX", "auto|0 to 255", "auto",
     "Which address of the port peers use. auto: on RoCE the RoCE v2 address that reaches "
     "farthest.",
     read_nic_gid_index, "NVSHMEM_IB_GID_INDEX"},
    {"CHIME_NIC_SL", "0 to 15", "0", "Service level of InfiniBand, priority of RoCE.", read_nic_sl,
     "NVSHMEM_IB_SL"},
    {"CHIME_NIC_TCLASS", "0 to 255", "0", "Traffic class of RoCE's packets.", read_nic_tclass,
     "NVSHMEM_IB_TRAFFIC_CLASS"},
    {"CHIME_NIC_PKEY_INDEX", "0 to 65535", "0", "Partition key's index on InfiniBand.",
     read_nic_pkey_index},
    {"CHIME_NIC_TIMEOUT", "1 to 31", "18",
     "How long the NIC waits for an answer before it sends again: 4.096 us * 2^value.",
     read_nic_timeout, "NVSHMEM_IB_TIMEOUT"},
    {"CHIME_NIC_RETRY", "0 to 7", "7", "How often the NIC sends again before a request fails.",
     read_nic_retry, "NVSHMEM_IB_RETRY_CNT"},
    {"CHIME_SOFTNIC_LIBRARY", "path", "",
     "The emulated NIC's libsoftnic.so; beside libchime.so if unset.", read_softnic_library},
    {"CHIME_SOFTGPU_CACHE", "path", "",
     "Where the softgpu keeps compiled kernels; unset: chime/softgpu in the user's cache folder."},
    {"CHIME_SOFTGPU_COUNT", "path", "",
     "A file that gets a line of JSON for each launch on the softgpu: what its threads executed."},
    {"CHIME_SOFTGPU_CXX", "program", "g++", "The C++ compiler that the softgpu runs."},
    {"CHIME_SOFTGPU_CXXFLAGS", "options", "",
     "More options for that compiler, with a space between two: -Og compiles kernels sooner."},
    {"CHIME_SOFTGPU_BLOCKS", "1 to 4096", "2",
     "Blocks on each of the softgpu's multiprocessors: how large a cooperative launch may be."},
    {"CHIME_SOFTGPU_DEVICES", "0 to 256", "",
     "How many devices the softgpu has; unset: one for each PE of the node."},
    {"CHIME_SOFTGPU_DEFAULT_STREAM", "legacy, thread", "legacy",
     "Whose the softgpu's null stream is: one of all threads, or each thread's own."},
    {"CHIME_SOFTGPU_TRACE", "0, 1", "0",
     "1: calls of the softgpu's driver that fail say why, on stderr."},
    {"CHIME_PROXY_FIFOS", "power of two, 1 to 64", "4",
     "FIFOs by which kernels ask the proxy thread to reach PEs that no NIC and no mapping leads "
     "to; "
     "blocks of a kernel share them out. Beside a NIC there are as many as CHIME_NIC_SLOTS says.",
     read_proxy_fifos},
    {"CHIME_PROXY_DEPTH", "power of two, 64 to 32768", "1024",
     "Slots of 32 bytes in each of these FIFOs; a put takes one.", read_proxy_depth},
    {"CHIME_PROXY_BATCH", "1 to 32768", "32",
     "How many requests the proxy takes from one FIFO before it looks at the next.",
     read_proxy_batch, "NVSHMEM_PROXY_REQUEST_BATCH_MAX"},
    {"CHIME_PROXY_CPU", "any|number", "any", "The processor that the proxy thread stays on.",
     read_proxy_cpu},
    {"CHIME_PROXY_THREADS", "1", "1",
     "Proxy threads of a PE. One: it has one endpoint of the fabric, which is one thread's.",
     read_proxy_threads},
    {"CHIME_FABRIC", "auto|off|none|<provider of libfabric>", "auto",
     "By which fabric the host carries requests to PEs that kernels do not reach by themselves. "
     "auto: where there are such, the first that works of cxi, efa, verbs;ofi_rxm, tcp;ofi_rxm "
     "and, on one node, shm.",
     read_fabric, "NVSHMEM_LIBFABRIC_PROVIDER"},
    {"CHIME_IFACE", "interface name", "",
     "Network interface whose address the fabric takes. Unset: loopback on one node, else the "
     "first that others can reach.",
     read_fabric_interface},
    {"CHIME_FABRIC_TIMEOUT", "seconds, 0 = no bound", "30",
     "How long a host, or a PE that has requests of the fabric, may give no sign of life before it "
     "is lost. 0: neither is lost by silence.",
     read_fabric_timeout},
    {"CHIME_AMO", "auto|owner|p2p", "auto",
     "What updates words of atomics and signal adds: the NIC of the PE that owns a word, or every "
     "PE "
     "that has mapped it. auto: the NIC, if some PE is reached by it.",
     read_amo, "NVSHMEM_DISABLE_IB_NATIVE_ATOMICS"},
    {"CHIME_MAX_TEAMS", "8 to 4096", "256",
     "How many teams a PE may be in at a time, the predefined ones included. Each takes "
     "(CHIME_TEAM_LANES + 1) x 2176 bytes and CHIME_TEAM_LANES x CHIME_COLL_SCRATCH beside "
     "CHIME_SYMMETRIC_SIZE, and for each PE of the job 4 bytes and 8 a lane.",
     read_max_teams, "NVSHMEM_MAX_TEAMS"},
    {"CHIME_TEAM_LANES", "1 to 128", "8",
     "Lanes of each team (chimex_team_lane): how many calls of a team may run at once.",
     read_team_lanes},
    {"CHIME_COLL_SCRATCH", "256 to 1048576", "16384",
     "Bytes of each lane for data that members of a team send each other in collectives, beside "
     "CHIME_SYMMETRIC_SIZE; at least 224 for each PE of the job.",
     read_collective_scratch},
    {"CHIME_COLL_BARRIER", "auto|rounds|direct", "auto",
     "How up to 16 members of a team meet. rounds: each tells log2(n) others, one after another. "
     "direct: each tells all at once. auto: directly where all are mapped. Larger teams: rounds.",
     read_barrier},
    {"CHIME_COLL_BROADCAST", "auto|tree|blocks|bytes", "auto",
     "Algorithm of broadcasts: tree, blocks, or blocks from so many bytes on. chime-info "
     "--collectives says what each does, and what auto takes.",
     read_algorithm<&CollectiveOptions::broadcast>},
    {"CHIME_COLL_FCOLLECT", "auto|slots|direct|nodes|multimem|bytes", "auto",
     "Algorithm of fcollects, as CHIME_COLL_BROADCAST. multimem: one store for all GPUs of a node "
     "where these have multicast, else as auto, which never takes it: it has not yet run on "
     "hardware.",
     read_algorithm<&CollectiveOptions::fcollect, &CollectiveOptions::fcollect_by_nodes,
                    abi::kFcollectByMultimem>},
    {"CHIME_COLL_ALLTOALL", "auto|slots|direct|bytes", "auto",
     "Algorithm of alltoalls, as CHIME_COLL_BROADCAST.",
     read_algorithm<&CollectiveOptions::alltoall>},
    {"CHIME_COLL_REDUCE", "auto|slots|blocks|nodes|multimem|bytes", "auto",
     "Algorithm of reductions, as CHIME_COLL_FCOLLECT. By multimem go sums, least and largest "
     "values and bits of integers of 4 and 8 bytes.",
     read_algorithm<&CollectiveOptions::reduce, &CollectiveOptions::reduce_by_nodes,
                    abi::kReduceByMultimem>},
    {"CHIME_COLL_REDUCESCATTER", "auto|slots|blocks|bytes", "auto",
     "Algorithm of reducescatters, as CHIME_COLL_BROADCAST.",
     read_algorithm<&CollectiveOptions::reducescatter>},
    {"CHIME_COLL_SCAN", "auto|slots|blocks|bytes", "auto",
     "Algorithm of inscans and exscans, as CHIME_COLL_BROADCAST.",
     read_algorithm<&CollectiveOptions::scan>},
    {"CHIME_COLL_DOUBLING", "auto|off|members", "auto",
     "From how many members of a team on small messages that each sends to all go by recursive "
     "doubling: fewer messages, one after another.",
     read_doubling},
    {"CHIME_TIMEOUT", "seconds, 0 = no bound", "120",
     "How long each of Chime's own waits (barriers, collective allocation) lasts before it fails. "
     "One operation may have several waits, one after another.",
     read_timeout},
    {"CHIME_INIT_TIMEOUT", "seconds", "60", "How long chime_init waits for the other PEs.",
     read_init_timeout},
    {"CHIME_ON_ERROR", "exit|return|trap", "exit",
     "What a failed call without a return code does, on the host and in a kernel: end the job, "
     "return, or stop in a debugger.",
     read_on_error},
    {"CHIME_ON_PEER_FAILURE", "abort|report", "abort",
     "When a PE dies. abort: the job ends. report: the others go on; operations on the dead PE, "
     "and calls that need all PEs, fail (chimex_pe_status). The launcher must let the others live, "
     "too (chime-run --keep-going, mpirun --enable-recovery).",
     read_on_peer_failure},
    {"CHIME_CHECK", "0|1|2", "0",
     "1 checks PEs, addresses, sizes and operations of every call, on the host and in kernels, and "
     "that Chime allocates nothing while a kernel runs. 2 checks also that both ends of each "
     "operation lie in an allocation.",
     read_check, "NVSHMEM_ENABLE_ERROR_CHECKS"},
    {"CHIME_LOG", "off|error|warn|info|debug", "warn", "Which lines Chime prints on stderr.",
     read_log, "NVSHMEM_DEBUG SHMEM_DEBUG SMA_DEBUG"},
    {"CHIME_TRACE", "file", "",
     "Records a timeline of all PEs, and writes it to this file as JSON for ui.perfetto.dev when "
     "the job ends: host calls, kernels, operations, waits, requests to NIC and proxy. On a GPU "
     "no operations of kernels.",
     read_trace},
    {"CHIME_TRACE_EVENTS", "256 to 268435456", "262144",
     "Room for events of each process, 80 bytes each, on the disk; the timeline says how many "
     "more there were.",
     read_trace_events},
    {"CHIME_BOOTSTRAP", "auto|pmix|local|none", "auto",
     "How PEs find each other: a PMIx launcher, chime-run, or a job of one PE.", read_bootstrap,
     "NVSHMEM_BOOTSTRAP NVSHMEM_BOOTSTRAP_PMI NVSHMEM_BOOTSTRAP_PLUGIN"},
    {"CHIME_BOOTSTRAP_IF", "interface name", "",
     "Network interface by which PEs of other hosts reach this one; all of them if unset.",
     read_bootstrap_interface, "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME"},
    {"CHIME_MPI_PLUGIN", "path", "",
     "The library that knows the program's MPI, where its communicator makes the job "
     "(bootstrap/mpi); libchime_mpi.so beside libchime.so if unset.",
     read_mpi_plugin, "NVSHMEM_BOOTSTRAP_MPI_PLUGIN"},
    {"CHIME_RUN_AGENT", "command", "ssh",
     "The remote shell by which chime-run --hosts starts an agent on each host."},
    {"CHIME_RUN_ADDRESS", "where", "", "Set by chime-run for the PEs that it starts."},
    {"CHIME_RUN_TOKEN", "token", "", "Set by chime-run: proves that a process belongs to its job."},
    {"CHIME_RUN_PE", "number", "", "Set by chime-run: which PE a process is."},
    {"CHIME_RUN_NPES", "number", "", "Set by chime-run: how many PEs there are."},
    {"CHIME_RUN_LOCAL_SIZE", "number", "", "Set by chime-run: how many of them are on this node."},
    {simt::kSeed.variable, "integer from 0", "0",
     "CPU device: seed of the schedule of kernel threads; 0 is round robin.",
     check_simt_number<simt::kSeed>},
    {simt::kWeak.variable, "0|1", "0",
     "CPU device: 1 delays and reorders stores as far as the memory model allows.",
     check_simt_number<simt::kWeak>},
    {simt::kStackKb.variable, "KiB, 16 to 1048576", kDefaultStackKb,
     "CPU device: stack of each kernel thread.", check_simt_number<simt::kStackKb>},
    {simt::kResident.variable, "blocks, 1 to 4096", kDefaultResident,
     "CPU device: how many blocks run at once.", check_simt_number<simt::kResident>},
};

// Facts that other implementations print about themselves: here a tool prints them.
constexpr std::pair<std::string_view, std::string_view> kToolsInstead[] = {
    {"NVSHMEM_INFO", "chime-info --variables"},
    {"SHMEM_INFO", "chime-info --variables"},
    {"SMA_INFO", "chime-info --variables"},
    {"NVSHMEM_VERSION", "chime-info"},
    {"SHMEM_VERSION", "chime-info"},
    {"SMA_VERSION", "chime-info"},
};

// Whether `word` is one of those that `list` has, with a space between.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view first = list.substr(0, list.find(' '));
    if (first == word) return true;
    list.remove_prefix(std::min(list.size(), first.size() + 1));
  }
  return false;
}

// The setting or the tool to use instead of the variable `name` of another implementation, in
// words.
std::string instead_of(std::string_view name, std::span<const std::string> environment) {
  for (const auto& [others, tool] : kToolsInstead)
    if (others == name) return fmt::format("{} says it", tool);
  for (const Variable& variable : kVariables) {
    if (!has_word(variable.counterparts, name)) continue;
    const bool is_set =
        std::find(environment.begin(), environment.end(), variable.name) != environment.end();
    return is_set ? "" : fmt::format("Chime's is {} ({})", variable.name, variable.values);
  }
  return "";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      std::size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// CHIME_TEST_ belongs to the tests, which never reach this library through it.
bool is_known(std::string_view name) {
  return name.starts_with("CHIME_TEST_") ||
         std::any_of(std::begin(kVariables), std::end(kVariables),
                     [&](const Variable& v) { return v.name == name; });
}

std::string_view nearest_variable(std::string_view name) {
  return std::min_element(std::begin(kVariables), std::end(kVariables),
                          [&](const Variable& a, const Variable& b) {
                            return edit_distance(name, a.name) < edit_distance(name, b.name);
                          })
      ->name;
}

}  // namespace

std::span<const Variable> variables() { return kVariables; }

std::optional<std::string> process_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<std::string> process_environment_names() {
  std::vector<std::string> names;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view text(*entry);
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

Settings read_settings(const Lookup& lookup) {
  Settings settings;
  for (const Variable& variable : kVariables) {
    if (!variable.read) continue;
    std::optional<std::string> text = lookup(variable.name);
    variable.read(variable, text ? std::string_view(*text) : variable.fallback, settings);
  }
  return settings;
}

std::vector<std::string> unknown_variable_warnings(std::span<const std::string> names) {
  std::vector<std::string> warnings;
  for (const std::string& name : names)
    if (name.starts_with("CHIME_") && !is_known(name))
      warnings.push_back(fmt::format("the variable {} means nothing to Chime; did you mean {}?",
                                     name, nearest_variable(name)));
  return warnings;
}

std::vector<std::string> counterpart_hints(std::span<const std::string> names) {
  std::vector<std::string> hints;
  for (const std::string& name : names)
    if (const std::string instead = instead_of(name, names); !instead.empty())
      hints.push_back(fmt::format("{} is set and not read; {}", name, instead));
  return hints;
}

}  // namespace chime::host
