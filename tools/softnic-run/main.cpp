// softnic-run: becomes any RDMA program, on the emulated NIC.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "softnic/attach/tree_path.hpp"
#include "softnic/observe/faults.hpp"
#include "softnic/observe/settings.hpp"
#include "tools/options.hpp"

namespace {

namespace fs = std::filesystem;

struct Options {
  bool ethernet = false;
  std::string fabric, faults, trace, counters;
  int log = -1;
  bool no_strict = false;
  std::vector<std::string> program;
};

// The library beside this program: in the build tree, or ../lib of an install prefix.
fs::path find_library() {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {here / "libsoftnic.so", here / SOFTNIC_LIBDIR "/libsoftnic.so",
                                    here / "../lib/libsoftnic.so"})
    if (fs::exists(candidate)) return fs::canonical(candidate);
  throw std::runtime_error("libsoftnic.so is neither beside softnic-run (" + here.string() +
                           ") nor in " SOFTNIC_LIBDIR);
}

// ld.so ends a name at either, says that it finds no such thing and runs the program without it.
void check_preloadable(const fs::path& library) {
  if (library.string().find_first_of(" :") == std::string::npos) return;
  throw std::runtime_error(library.string() +
                           ": its path holds a space or a colon, which separate names in "
                           "LD_PRELOAD: the program would run without the NIC. Build the softnic "
                           "in a folder without them, or install it to one");
}

fs::path find_tree(const fs::path& library, bool ethernet) {
  const fs::path tree = softnic::tree_beside(library, ethernet);
  if (fs::exists(tree / "class/infiniband_verbs/uverbs0")) return tree;
  throw std::runtime_error("the device tree " + tree.string() +
                           " is not there; it belongs beside libsoftnic.so");
}

bool asks_for_ethernet(const Options& options) {
  const char* layer = std::getenv("SOFTNIC_LINK_LAYER");
  return options.ethernet || (layer && std::strcmp(layer, "ethernet") == 0);
}

void set(const char* name, const std::string& value) {
  if (!value.empty()) ::setenv(name, value.c_str(), 1);
}

// The environment in which the program finds the NIC.
void prepare(const Options& options) {
  const fs::path library = find_library();
  check_preloadable(library);
  const char* before = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD",
      before && *before ? std::string(before) + ":" + library.string() : library.string());
  set("SYSFS_PATH", find_tree(library, asks_for_ethernet(options)));
  set("SOFTNIC_FABRIC", options.fabric);
  set("SOFTNIC_FAULTS", options.faults);
  set("SOFTNIC_TRACE", options.trace);
  set("SOFTNIC_COUNTERS", options.counters);
  if (options.ethernet) set("SOFTNIC_LINK_LAYER", "ethernet");
  if (options.log >= 0) set("SOFTNIC_LOG", std::to_string(options.log));
  if (options.no_strict) set("SOFTNIC_STRICT", "0");
}

// A file's folder must be there and take it. Its name may have a process id that nobody knows yet.
void check_writable(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value || !*value || std::strcmp(value, "-") == 0) return;
  const fs::path folder = fs::absolute(value).parent_path();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error(std::string(variable) + ": cannot write to " + folder.string() + ": " +
                             std::strerror(errno));
  if (fs::is_directory(value))
    throw std::runtime_error(std::string(variable) + ": " + value + " is a folder");
}

// Finds faults that the NIC would find only when the program opens it, or never.
void check() {
  softnic::Faults{softnic::settings_of_environment().faults};
  check_writable("SOFTNIC_TRACE");
  check_writable("SOFTNIC_COUNTERS");
}

int become(const Options& options) {
  std::vector<char*> arguments;
  for (const std::string& word : options.program)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "softnic-run: cannot run '%s': %s\n", arguments[0], std::strerror(errno));
  return errno == ENOENT ? 127 : 126;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Runs a program on the emulated ConnectX (device mlx5_0). Two programs of one user and one "
      "--fabric reach each other."};
  Options options;
  app.add_flag("--ethernet", options.ethernet, "RoCE v2 port instead of InfiniBand");
  app.add_option("--fabric", options.fabric,
                 "Name of the fabric (default: SOFTNIC_FABRIC, else \"default\")");
  app.add_option("--faults", options.faults, "Fault rules, see docs/softnic.md");
  app.add_option("--trace", options.trace,
                 "Write a trace as JSON lines to this file; %p is the process id");
  app.add_option("--counters", options.counters,
                 "When the NIC ends, append what it did as a JSON line to this file; - is stderr");
  app.add_option("--log", options.log, "0 errors .. 4 completions")->check(CLI::Range(0, 4));
  app.add_flag("--no-strict", options.no_strict, "Do not report what hardware would corrupt on");
  app.add_option("program", options.program, "The program and its arguments")->required();
  app.prefix_command(false);
  app.positionals_at_end(true);
  if (const auto code = chime::tools::exit_code_after_parsing("softnic-run", app, argc, argv))
    return *code;
  try {
    prepare(options);
    check();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "softnic-run: %s\n", error.what());
    return chime::tools::kCannot;
  }
  return become(options);
}
