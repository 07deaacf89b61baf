// A call of Chime from Python: without the interpreter's lock, and with its failure as an
// exception. Chime is initialised with CHIME_ON_ERROR=return, so a failed call comes back and says
// why.
#pragma once

#define CHIME_HOST_ONLY
#include <chime/chime.h>
#include <chime/host_ops.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>

namespace chime_python {

namespace py = pybind11;

inline constexpr int kNoPe = -1;

// Throws chime.Error's class for `status`. `pe`: the PE concerned, or kNoPe.
[[noreturn]] void raise_error(int status, int pe, const std::string& text);

// What a call without a PE of its own has met: the first PE that is dead, or kNoPe.
int dead_pe();

// Throws if this thread has no PE. Chime's own check would end the process: the job's
// CHIME_ON_ERROR counts only from init to finalize.
inline void require_pe() {
  if (chimex_init_status() < CHIME_STATUS_IS_BOOTSTRAPPED)
    raise_error(CHIMEX_ERR_NOT_INITIALIZED, kNoPe,
                "this thread has no PE: call chime.init() first, and nothing after "
                "chime.finalize()");
}

// Throws if the job has no such PE.
void check_pe(int pe);

[[noreturn]] void raise_last_error(int status, int pe);

// In the exception's text a failure is said once: Chime prints nothing of it.
class SilentErrors {
 public:
  SilentErrors() { chime_host_print_errors(0); }
  ~SilentErrors() { chime_host_print_errors(1); }
  SilentErrors(const SilentErrors&) = delete;
};

// Runs a call that reports through chimex_last_status().
template <class Call>
void run(int pe, Call&& call) {
  require_pe();
  chimex_clear_last_error();
  {
    const py::gil_scoped_release released;
    const SilentErrors silent;
    call();
  }
  if (const int status = chimex_last_status(); status != CHIMEX_OK) raise_last_error(status, pe);
}

// Runs a call that returns a chimex_status.
template <class Call>
void run_status(int pe, Call&& call) {
  chimex_clear_last_error();
  int status;
  {
    const py::gil_scoped_release released;
    const SilentErrors silent;
    status = call();
  }
  if (status != CHIMEX_OK) raise_last_error(status, pe);
}

inline chimex_stream_t stream_of(std::uintptr_t handle) {
  return reinterpret_cast<chimex_stream_t>(handle);
}

void bind_job(py::module_& module);
void bind_transfers(py::module_& module);
void bind_words(py::module_& module);
void bind_collectives(py::module_& module);

}  // namespace chime_python
