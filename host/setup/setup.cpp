#include "host/setup/setup.hpp"

#include <mutex>

#include "bootstrap/hub/tcp.hpp"
#include "bootstrap/local.hpp"
#include "bootstrap/mpi_comm.hpp"
#include "host/errors/error.hpp"
#include "host/pe/end.hpp"
#include "host/settings/config.hpp"
#include "host/settings/spelling.hpp"
#include "host/setup/init.hpp"

namespace chime::host {
namespace {

constexpr int kInitAttrVersion = chimex_init_attr_t CHIMEX_INIT_ATTR_INITIALIZER.version;

bootstrap::Settings bootstrap_settings(const Settings& settings) {
  return {settings.bootstrap_kind, settings.bootstrap_interface,
          std::chrono::milliseconds(settings.init_timeout_ns / 1'000'000),
          spoken("chimex_get_uniqueid")};
}

void check_unique_id_arguments(int my_pe, int n_pes) {
  if (n_pes < 1 || my_pe < 0 || my_pe >= n_pes)
    throw Error(
        "setup", CHIMEX_ERR_INVALID,
        fmt::format("there is no PE {} among {} PEs; {} takes this PE's number, from 0, and "
                    "how many there are",
                    my_pe, n_pes, spoken("chimex_set_attr_uniqueid_args")));
}

void warn_of_unknown_variables() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const std::string& warning : unknown_variable_warnings(process_environment_names()))
      log(LogLevel::kWarn, -1, "{}", warning);
  });
}

// By one PE for all: the PEs mostly have the same environment.
void warn_of(const Source& source, const bootstrap::Bootstrap& job) {
  static std::once_flag once;
  if (job.rank() != 0) return;
  std::call_once(once, [&] {
    for (const std::string& warning : source.warnings()) log(LogLevel::kWarn, 0, "{}", warning);
  });
}

// By one PE for all: the PEs have the same size, or an error says that they differ.
void tell_of_raised_size(const Source& source, const Settings& settings,
                         const bootstrap::Bootstrap& job) {
  if (settings.symmetric_is_raised && job.rank() == 0)
    log(LogLevel::kWarn, 0, "{} is below the least size; each heap has {} bytes",
        source.set_as("CHIME_SYMMETRIC_SIZE"), settings.symmetric_bytes);
}

// For a PE that is about to join.
Settings settings_of_new_pe(const Source& source) {
  Settings settings = read_settings(source.lookup);
  set_log_level(settings.log_level);
  warn_of_unknown_variables();
  forget_failed_join();
  return settings;
}

// Later calls report a failure.
template <class Join>
void attempt(const Source& source, Join join) {
  throw_if_child_of_pes();
  speak_nvshmem(source.is_nvshmems);
  try {
    join();
    forget_failed_init();
  } catch (const std::exception& error) {
    keep_failed_init(error.what());
    throw;
  }
}

// How a PE is to come up.
struct Start {
  const Source& source;
  DeviceStart device;
};

DeviceStart device_start(DeviceStart::Time when, int cuda_device) {
  return {when, cuda_device == kAnyCudaDevice ? std::nullopt : std::optional(cuda_device)};
}

template <class MakeBootstrap>
void join(const Start& start, MakeBootstrap make_bootstrap) {
  const Settings settings = settings_of_new_pe(start.source);
  std::unique_ptr<bootstrap::Bootstrap> job = make_bootstrap(bootstrap_settings(settings));
  warn_of(start.source, *job);
  tell_of_raised_size(start.source, settings, *job);
  join_job(settings, std::move(job), start.device);
}

void init_with_launcher(const Start& start) {
  if (!current_slot()) attempt(start.source, [&] { join(start, bootstrap::make_bootstrap); });
}

void join_with_unique_id(const chimex_init_attr_t& attr, const Start& start) {
  if (attr.version != kInitAttrVersion)
    throw Error(
        "setup", CHIMEX_ERR_INVALID,
        fmt::format("attr has version {}, this library knows {}; fill attr with {}", attr.version,
                    kInitAttrVersion, spoken("chimex_set_attr_uniqueid_args")));
  check_unique_id_arguments(attr.my_pe, attr.n_pes);
  join(start, [&](const bootstrap::Settings& settings) {
    return bootstrap::join_unique_id(attr.uniqueid, attr.my_pe, attr.n_pes, settings);
  });
}

// A thread may become a PE beside others of its process.
void init_with_unique_id(const chimex_init_attr_t* attr, const Start& start) {
  if (!attr) throw Error("setup", CHIMEX_ERR_INVALID, "the argument attr is null");
  if (!bound_slot_of_thread()) attempt(start.source, [&] { join_with_unique_id(*attr, start); });
}

}  // namespace

Source environment_of_chime(const chimex_config_t* config) {
  return {lookup_of(config), [] { return counterpart_hints(process_environment_names()); },
          [](std::string_view name) { return std::string(name); }};
}

void init_as(unsigned flags, const chimex_init_attr_t* attr, const Source& source,
             int cuda_device) {
  const bool is_put_off = flags & CHIMEX_INIT_DEFER_DEVICE;
  const auto when = is_put_off ? DeviceStart::Time::kFirstUse : DeviceStart::Time::kWhenChosen;
  const Start start = {source, device_start(when, cuda_device)};
  switch (flags & ~static_cast<unsigned>(CHIMEX_INIT_DEFER_DEVICE)) {
    case CHIMEX_INIT_WITH_LAUNCHER:
      return init_with_launcher(start);
    case CHIMEX_INIT_WITH_UNIQUEID:
      return init_with_unique_id(attr, start);
  }
  throw Error("setup", CHIMEX_ERR_INVALID,
              fmt::format("there are no flags {}; use CHIMEX_INIT_WITH_LAUNCHER or "
                          "CHIMEX_INIT_WITH_UNIQUEID, and CHIMEX_INIT_DEFER_DEVICE with either",
                          flags));
}

chimex_uniqueid_t new_unique_id(const Source& source) {
  throw_if_child_of_pes();
  return bootstrap::create_unique_id(read_settings(source.lookup).bootstrap_interface);
}

chimex_init_attr_t attr_of_unique_id(int my_pe, int n_pes, const chimex_uniqueid_t& id) {
  check_unique_id_arguments(my_pe, n_pes);
  return {kInitAttrVersion, my_pe, n_pes, id};
}

// chime-run starts no MPI: there each process is alone in its MPI_COMM_WORLD, and a job of its own.
void warn_of_lonely_ranks(const bootstrap::Introduction& mine) {
  const int started = bootstrap::processes_of_chime_run();
  if (mine.n_pes == 1 && started > 1)
    log(LogLevel::kWarn, 0,
        "chime-run has started {} processes, and each is alone in its MPI communicator: a job of "
        "one PE. Start programs that call MPI_Init with mpirun",
        started);
}

void init_with_mpi_comm(const void* mpi_comm, const Source& source, int cuda_device) {
  if (current_slot()) return;
  attempt(source, [&] {
    join_with_unique_id(attr_of_mpi_comm(mpi_comm, source),
                        {source, device_start(DeviceStart::Time::kWhenChosen, cuda_device)});
  });
}

chimex_init_attr_t attr_of_mpi_comm(const void* mpi_comm, const Source& source) {
  throw_if_child_of_pes();
  const Settings settings = read_settings(source.lookup);
  const bootstrap::Introduction mine =
      bootstrap::introduce_ranks(mpi_comm, settings.mpi_plugin, bootstrap_settings(settings));
  warn_of_lonely_ranks(mine);
  return attr_of_unique_id(mine.pe, mine.n_pes, mine.id);
}

}  // namespace chime::host
