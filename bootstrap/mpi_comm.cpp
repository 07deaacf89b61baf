#include "bootstrap/mpi_comm.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "bootstrap/mpi/mpi_calls.hpp"

namespace chime::bootstrap {
namespace {

namespace fs = std::filesystem;

constexpr char kOtherWay[] =
    "or make a unique id on rank 0, broadcast it by MPI, and use INIT_WITH_UNIQUEID, which needs "
    "no plug-in";

constexpr std::chrono::microseconds kLongestPause{1000};

using Files = std::set<std::string>;

// The files that the process has loaded, by the loader's names.
Files loaded_files() {
  Files files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        static_cast<Files*>(all)->insert(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

std::string file_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

// Beside the file that this function is in: libchime.so, or a program that holds its objects.
std::string default_plugin() {
  std::error_code error;
  const fs::path own = fs::canonical(file_of(reinterpret_cast<void*>(&loaded_files)), error);
  return (own.parent_path() / "libchime_mpi.so").string();
}

BootstrapError unsupported(const std::string& what) {
  return BootstrapError(what, CHIMEX_ERR_UNSUPPORTED);
}

// An MPI, and what the process had loaded before any plug-in: what one has loaded stays, so that
// later looks would take its MPI for the program's.
struct Plugin {
  const MpiCalls* calls;
  std::string file;
  const Files& loaded_before;
};

const Files& loaded_before_plugins() {
  static const Files files = loaded_files();
  return files;
}

// The loader takes a name without a folder for one of its own folders', so it gets the whole path.
Plugin open_plugin(const std::string& wanted) {
  const std::string file = wanted.empty() ? default_plugin() : fs::absolute(wanted).string();
  if (!fs::exists(file))
    throw unsupported(
        "there is no plug-in for MPI, '" + file +
        "': build Chime where an MPI's mpicc is found (Debian: libopenmpi-dev; CHIME_MPI=ON), or "
        "name a plug-in by CHIME_MPI_PLUGIN, " +
        kOtherWay);
  const Files& before = loaded_before_plugins();
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    throw unsupported("the plug-in for MPI cannot be loaded: " + std::string(::dlerror()) +
                      " (the MPI that it is built for must be where the loader looks, "
                      "LD_LIBRARY_PATH), " +
                      kOtherWay);
  const auto* const calls = static_cast<const MpiCalls*>(::dlsym(library, kMpiCallsName));
  if (!calls || calls->version != kMpiCallsVersion)
    throw unsupported("'" + file + "' is no plug-in for MPI of this version of Chime (" +
                      kMpiCallsName + (calls ? " has another version" : " is not in it") +
                      "); build it again from bootstrap/mpi/plugin.cpp");
  return {calls, file, before};
}

std::string name_of(const MpiCalls& calls) {
  char text[kMpiTextBytes] = "";
  calls.name(text);
  return text;
}

std::string built_for(const Plugin& plugin) {
  return "the plug-in " + plugin.file + " is built for " + plugin.calls->built_for;
}

// The program must have the very MPI that the plug-in calls.
void check_mpi(const Plugin& plugin) {
  const MpiCalls& calls = *plugin.calls;
  const std::string library = file_of(calls.a_function);
  if (!calls.is_of_this_kind())
    throw unsupported("this program's MPI is " + name_of(calls) + " (" + library + "), and " +
                      built_for(plugin) +
                      ": compile bootstrap/mpi/plugin.cpp with the program's mpicxx and name it by "
                      "CHIME_MPI_PLUGIN, " +
                      kOtherWay);
  // A program that loads its MPI later than it first asked for one has initialised it by now.
  if (!plugin.loaded_before.contains(library) && !calls.was_ever_up())
    throw unsupported(
        "this program has not loaded " + library + ", and " + built_for(plugin) +
        ": it has no MPI, another one, or a static one. Link it with that MPI's shared library, or "
        "compile bootstrap/mpi/plugin.cpp with the program's mpicxx and name it by "
        "CHIME_MPI_PLUGIN, " +
        kOtherWay);
  if (!calls.is_up())
    throw BootstrapError("MPI is not initialised in " + library +
                             " (or already finalised): call MPI_Init before, and MPI_Finalize "
                             "after Chime's finalize",
                         CHIMEX_ERR_INVALID);
}

BootstrapError of_mpi(const char* why) {
  return BootstrapError("the MPI communicator cannot be used: " + std::string(why),
                        CHIMEX_ERR_INVALID);
}

// Rank 0's message: an id, or why it has made none.
struct FromRank0 {
  chimex_uniqueid_t id;
  int code;
  char why[kMpiTextBytes];
};

void make_id(FromRank0& made, const Settings& settings) try {
  made.id = create_unique_id(settings.interface);
} catch (const BootstrapError& error) {
  made.code = error.code();
  std::snprintf(made.why, sizeof(made.why), "%s", error.what());
}

// Asks MPI again and again, because MPI moves messages only in its calls. A message that has not
// come in time is left to MPI, which may still write to it.
void broadcast(const MpiCalls& calls, const void* communicator, std::unique_ptr<FromRank0>& sent,
               const Settings& settings) {
  const auto deadline = std::chrono::steady_clock::now() + settings.timeout;
  char why[kMpiTextBytes] = "";
  void* message = nullptr;
  if (calls.begin_broadcast(communicator, sent.get(), sizeof(FromRank0), &message, why))
    throw of_mpi(why);
  for (std::chrono::microseconds pause{1};; pause = std::min(2 * pause, kLongestPause)) {
    bool is_done = false;
    if (calls.finish_broadcast(message, &is_done, why)) throw of_mpi(why);
    if (is_done) return;
    if (std::chrono::steady_clock::now() >= deadline) {
      static_cast<void>(sent.release());
      throw BootstrapError(
          "ranks of the MPI communicator have not come within CHIME_INIT_TIMEOUT: each of them "
          "must make this call",
          CHIMEX_ERR_TIMEOUT);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Introduction introduce_ranks(const void* communicator, const std::string& plugin,
                             const Settings& settings) {
  if (!communicator)
    throw BootstrapError(
        "the address of the MPI communicator is null; it is that of a variable of type MPI_Comm "
        "(attr.mpi_comm = &comm)",
        CHIMEX_ERR_INVALID);
  const Plugin opened = open_plugin(plugin);
  check_mpi(opened);
  Introduction mine;
  char why[kMpiTextBytes] = "";
  if (opened.calls->place_in(communicator, &mine.pe, &mine.n_pes, why)) throw of_mpi(why);
  auto sent = std::make_unique<FromRank0>();
  if (mine.pe == 0) make_id(*sent, settings);
  broadcast(*opened.calls, communicator, sent, settings);
  if (sent->code != CHIMEX_OK)
    throw BootstrapError(
        (mine.pe == 0 ? "" : "rank 0 of the MPI communicator: ") + std::string(sent->why),
        static_cast<chimex_status>(sent->code));
  mine.id = sent->id;
  return mine;
}

}  // namespace chime::bootstrap
