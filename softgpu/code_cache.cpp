#include "softgpu/code_cache.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "chime/device/simt/threads/thread.hpp"
#include "softgpu/cache_files.hpp"
#include "softgpu/fingerprint.hpp"
#include "softgpu/first_compilation.hpp"
#include "softgpu/header_folders.hpp"
#include "softgpu/ptx/error.hpp"

namespace softgpu {

namespace fs = std::filesystem;

namespace {

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

// The library of this process that a function lies in.
std::string library_of(const void* function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

// ---- The compiler ----------------------------------------------------------------------------

bool has_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool is_gcc(std::string_view compiler) {
  const std::string_view name = compiler.substr(compiler.rfind('/') + 1);
  return name.find("g++") != std::string_view::npos && name.find("clang") == std::string_view::npos;
}

// Signed sums wrap, types may alias, and a sum is rounded as it is written.
std::vector<std::string> compiler_command(const std::vector<std::string>& folders, bool watched) {
  std::vector<std::string> command{variable_or("CHIME_SOFTGPU_CXX", "g++"),
                                   "-std=c++20",
                                   "-O1",
                                   "-w",
                                   "-fPIC",
                                   "-fwrapv",
                                   "-fno-strict-aliasing",
                                   "-ffp-contract=off",
                                   "-fno-math-errno",
                                   "-fvisibility=hidden",
                                   watched ? "-DSOFTGPU_WATCHED=1" : "-DSOFTGPU_WATCHED=0"};
  // Each loop calls the executor, but rarely: registers are saved only for that call.
  if (is_gcc(command.front())) command.emplace_back("-fcaller-saves");
  // Watched code calls the executor at each access: g++ omits what takes a third of its time.
  if (watched && is_gcc(command.front())) {
    command.insert(command.end(), {"-fno-tree-ccp", "-fno-tree-fre", "-fno-tree-dominator-opts",
                                   "-fno-tree-pta", "-fno-ivopts", "-fno-tree-sink"});
  }
  if (has_fma()) command.insert(command.end(), {"-mavx2", "-mfma"});
  for (std::string& flag : split(variable_or("CHIME_SOFTGPU_CXXFLAGS", ""), ' ')) {
    command.push_back(std::move(flag));
  }
  for (const std::string& folder : folders) command.push_back("-I" + folder);
  return command;
}

// Without the libraries that are preloaded into this process.
std::vector<char*> environment() {
  std::vector<char*> kept;
  for (char** entry = environ; *entry; ++entry) {
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

void rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw PtxError(0, "cannot rename " + from + " to " + to + ": " + error.message());
}
void remove(const std::string& path) {
  std::error_code none;
  fs::remove(path, none);
}

int status_of(pid_t child, CompilerWait& wait) {
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    wait.nap();
  }
}

// Throws PtxError with the output in `log`.
void run(std::vector<std::string> command, const std::string& log, CompilerWait& wait) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int failure =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment().data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw PtxError(0, "kernels need a C++ compiler at run time, and '" + command.front() +
                          "' cannot be run (" + std::strerror(failure) +
                          "): install g++, or name another one by CHIME_SOFTGPU_CXX");
  }
  if (status_of(child, wait) != 0) {
    throw PtxError(
        0, "the compiler '" + command.front() + "' failed:\n" + content_of(log).substr(0, 4000));
  }
}

// A file that is removed at the end of its scope, however that is left.
struct Temporary {
  const std::string path;
  ~Temporary() { remove(path); }
};

// A name beside `path` that is used nowhere else.
std::string own_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return path + "." + std::to_string(getpid()) + "." + std::to_string(count++);
}

// ---- The cache -------------------------------------------------------------------------------

constexpr char kPrecompiled[] = ".gch";  // beside its header: its name with this

class Cache {
 public:
  Cache()
      : folder_(cache_folder()),
        folders_(header_folders(library_of(reinterpret_cast<const void*>(&cache_folder)),
                                SOFTGPU_INSTALLED_INCLUDES, SOFTGPU_INCLUDES)) {
    for (bool watched : {false, true}) {
      command_[watched] = compiler_command(folders_, watched);
      std::string all = fingerprint_of_headers(folders_, kVocabularyHeader);
      for (const std::string& word : command_[watched]) {
        if (!word.starts_with("-I")) all += ' ' + word;
      }
      environment_[watched] = fingerprint(all);
    }
  }

  void load_once(const std::string& source, bool watched) {
    const std::string name = name_of(source, watched);
    const std::lock_guard lock(mutex_);
    if (called_.contains(name)) return;
    load(source, watched, RTLD_GLOBAL);
    called_.insert(name);
  }

  void* load(const std::string& source, bool watched, int visibility) {
    const std::string name = name_of(source, watched);
    const std::string library = folder_ + "/" + name + ".so";
    // Twice: another process may have removed it meanwhile, and a broken one is made anew.
    for (int i = 0; i < 2; ++i) {
      if (is_readable(library) && !is_whole_library(library)) remove(library);
      if (!is_readable(library)) make(source, watched, name, library);
      if (void* handle = dlopen(library.c_str(), RTLD_NOW | visibility)) {
        mark_as_used(library);
        return handle;
      }
      const std::string why = dlerror();
      if (i == 1) throw PtxError(0, "compiled code cannot be loaded: " + why);
      remove(library);
    }
    __builtin_unreachable();
  }

 private:
  std::string name_of(const std::string& source, bool watched) const {
    return fingerprint(environment_[watched] + source);
  }

  // If code does not compile, but does with the vocabulary's text, then the precompiled header was
  // removed meanwhile or is broken: it is made anew.
  void make(const std::string& source, bool watched, const std::string& name,
            const std::string& library) {
    try {
      compile(source, precompiled_vocabulary(watched), watched, name, library);
    } catch (const PtxError& why) {
      try {
        compile(source, kVocabularyHeader, watched, name, library);
      } catch (const PtxError&) {
        throw why;
      }
      remove(header_of(watched) + kPrecompiled);
      precompiled_vocabulary(watched);
    }
  }

  void compile(const std::string& source, const std::string& vocabulary, bool watched,
               const std::string& name, const std::string& library) {
    CompilerWait wait(folder_);
    const MakingOf making(folder_, name, wait);
    if (is_readable(library)) return;
    std::vector<std::string> command = command_[watched];
    command.insert(command.end(), {"-include", vocabulary});
    const std::string own = own_name(library);
    const Temporary made{own}, text{own + ".cpp"}, log{own + ".log"};
    write_file(text.path, source);
    command.insert(command.end(), {"-shared", text.path, "-o", own});
    // For the linker, which does not see the libraries of this process.
    const std::string executor = library_of(reinterpret_cast<const void*>(&chime::simt::yield));
    if (executor.find(".so") != std::string::npos) command.push_back(executor);
    run(command, log.path, wait);
    rename(own, library);
    remove_oldest(folder_, kMostCacheBytes);
  }

  std::string header_of(bool watched) const {
    return folder_ + "/" + std::string(kVocabulary) + environment_[watched] + "/vocabulary.hpp";
  }

  // A header, with its precompiled form beside it.
  std::string precompiled_vocabulary(bool watched) {
    const std::string header = header_of(watched), compiled = header + kPrecompiled;
    if (is_readable(compiled)) {
      mark_as_used(compiled);
      return header;
    }
    CompilerWait wait(folder_);
    const MakingOf making(folder_, "vocabulary", wait);
    if (is_readable(compiled)) return header;
    std::error_code error;
    fs::create_directories(fs::path(header).parent_path(), error);  // the write below reports it
    write_file(header, "#include \"" + std::string(kVocabularyHeader) + "\"\n");
    std::vector<std::string> command = command_[watched];
    const std::string own = own_name(compiled);
    const Temporary made{own}, log{own + ".log"};
    command.insert(command.end(), {"-x", "c++-header", header, "-o", own});
    run(command, log.path, wait);
    rename(own, compiled);
    return header;
  }

  const std::string folder_;
  const std::vector<std::string> folders_;
  std::vector<std::string> command_[2];
  std::string environment_[2];  // the inputs of code besides its source
  std::mutex mutex_;
  std::set<std::string> called_;  // loaded for code that calls it
};

// Code of kernels may run while the process ends: it is never unloaded.
Cache& cache() {
  static Cache& cache = *new Cache;
  return cache;
}

}  // namespace

std::string cache_folder() {
  const std::string home = variable_or("HOME", "/tmp/chime-" + std::to_string(getuid()));
  const std::string user = variable_or("XDG_CACHE_HOME", home + "/.cache");
  const std::string folder = variable_or("CHIME_SOFTGPU_CACHE", user + "/chime/softgpu");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK) != 0) {
    throw PtxError(0, "the folder of compiled kernels, " + folder +
                          ", cannot be written: CHIME_SOFTGPU_CACHE names another one");
  }
  return fs::canonical(folder).string();
}

void* load_code(const std::string& source, bool watched) {
  return cache().load(source, watched, RTLD_LOCAL);
}
void load_called_code(const std::string& source, bool watched) {
  cache().load_once(source, watched);
}

}  // namespace softgpu
