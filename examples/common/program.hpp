// What programs with kernels do alike: memory, errors, the number of threads, main().
#pragma once

#include <chime/chime.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace examples {

namespace exec = chime::exec;

// ---- Errors end the job -------------------------------------------------------------------------

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s, PE %d: %s\n", program_invocation_short_name, chimex_host_my_pe(),
               what.c_str());
  chime_global_exit(1);
  std::abort();
}
// `status` is that of a call of exec.
inline void must(int status, const char* what) {
  if (status != CHIMEX_OK) fail(std::string(what) + ": " + exec::last_error());
}
// `status` is that of a call of chime.
inline void must_call(int status, const char* what) {
  if (status != CHIMEX_OK) fail(std::string(what) + ": " + chimex_last_error());
}
// A kernel whose wait failed completes, too, but its result is not the answer.
inline void must_have_worked() {
  chimex_async_error_t error;
  must_call(chimex_get_async_error(&error), "asking for errors");
  if (error.status != CHIMEX_OK) fail(std::string("a kernel gave up: ") + error.message);
}

// ---- Memory, which is 0 -------------------------------------------------------------------------

// For chime_free(); collective.
template <class T>
T* symmetric(std::size_t count) {
  auto* const memory = static_cast<T*>(chime_calloc(count, sizeof(T)));
  if (memory == nullptr) fail(std::string("symmetric memory: ") + chimex_last_error());
  return memory;
}
// For exec::device_free(); other PEs do not reach it.
template <class T>
T* of_device(std::size_t count) {
  void* memory = nullptr;
  must(exec::device_malloc(&memory, count * sizeof(T)), "device memory");
  const std::vector<T> zeros(count);
  must(exec::copy(memory, zeros.data(), count * sizeof(T)), "clearing device memory");
  return static_cast<T*>(memory);
}

// ---- Kernels ------------------------------------------------------------------------------------

struct Threads {
  int blocks, threads;  // threads: of a block
};
// What is asked for, where it is not 0; else what suits the device. A CPU runs the threads of a
// block in turns, and has few cores for blocks.
inline exec::LaunchConfig shape_of_kernels(Threads asked, Threads on_gpu, exec::Stream stream) {
  exec::DeviceProps props;
  must(exec::device_props(0, &props), "asking for the device");
  const Threads usual = props.is_cpu ? Threads{1, 1} : on_gpu;
  exec::LaunchConfig config;
  config.grid = static_cast<unsigned>(asked.blocks > 0 ? asked.blocks : usual.blocks);
  config.block = static_cast<unsigned>(asked.threads > 0 ? asked.threads : usual.threads);
  config.stream = stream;
  return config;
}

// ---- main() -------------------------------------------------------------------------------------

// Reads options, then runs between chime_init() and chime_finalize(). Returns the exit code.
template <class Options>
int run_program(int argc, char** argv, bool (*parse)(int, char**, Options*), const char* usage,
                void (*run)(const Options&)) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fputs(usage, stderr);
    return 2;
  }
  chime_init();
  try {
    run(options);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  chime_finalize();
  return 0;
}

}  // namespace examples
