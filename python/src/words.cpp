// Signals, waits and atomics.
#include <chime/abi/context.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>

#include "call.hpp"

namespace chime_python {
namespace {

using Clock = std::chrono::steady_clock;

// Between two looks for Ctrl-C and dead PEs.
constexpr std::uint64_t kLookNs = 100'000'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Ends a wait without a bound CHIME_TIMEOUT after a PE has died, which may be the one that it waits
// for. Chime would, too, but the wait begins again whenever it has looked.
class BoundByADeath {
 public:
  void throw_if_over() {
    const int dead = dead_pe();
    if (dead == kNoPe) return;
    if (!seen_) seen_ = Clock::now();
    const double limit_s = static_cast<double>(chime::host_context().pe.wait_timeout_ns) * 1e-9;
    if (limit_s == 0 || seconds_since(*seen_) < limit_s) return;
    raise_error(CHIMEX_ERR_PEER_DEAD, dead,
                "PE " + std::to_string(dead) + " has died, and in the CHIME_TIMEOUT of " +
                    py::str(py::float_(limit_s)).cast<std::string>() +
                    " s since then the wait has not got its value");
  }

 private:
  std::optional<Clock::time_point> seen_;
};

// A wait that Ctrl-C ends, and without a bound of its own a death.
class Waiting {
 public:
  // `timeout_s`: below 0, no bound.
  explicit Waiting(double timeout_s) : timeout_s_(timeout_s) {}

  // `wait(timeout_ns, look)` returns a chimex_status.
  template <class Wait>
  void run(const Wait& wait) {
    require_pe();
    const chime_wait_look how = {look, this, kLookNs};
    const std::uint64_t timeout_ns =
        timeout_s_ < 0 ? 0
                       : std::max<std::uint64_t>(static_cast<std::uint64_t>(timeout_s_ * 1e9), 1);
    int status;
    chimex_clear_last_error();
    {
      const py::gil_scoped_release released;
      const SilentErrors silent;
      status = wait(timeout_ns, &how);
    }
    if (met_) std::rethrow_exception(met_);
    if (status == CHIMEX_ERR_TIMEOUT)
      raise_error(CHIMEX_ERR_TIMEOUT, kNoPe,
                  "the wait ended after " + std::to_string(timeout_s_) +
                      " s without its value: look at what the sender does, or wait longer");
    if (status != CHIMEX_OK) raise_last_error(status, kNoPe);
  }

 private:
  static int look(void* waiting) noexcept {
    const py::gil_scoped_acquire held;
    auto& self = *static_cast<Waiting*>(waiting);
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (self.timeout_s_ < 0) self.bound_.throw_if_over();
      return CHIMEX_OK;
    } catch (...) {
      self.met_ = std::current_exception();
      return CHIMEX_ERR_ABORTED;
    }
  }

  const double timeout_s_;
  BoundByADeath bound_;
  std::exception_ptr met_;
};

std::uint64_t signal_wait(std::uintptr_t sig, int cmp, std::uint64_t value, double timeout_s) {
  std::uint64_t seen = 0;
  Waiting(timeout_s).run([&](std::uint64_t timeout_ns, const chime_wait_look* look) {
    return chime_host_signal_wait_looking(reinterpret_cast<std::uint64_t*>(sig), cmp, value,
                                          timeout_ns, look, &seen);
  });
  return seen;
}

chime_wait_request request_for(const py::array& word, int cmp, const py::array& value) {
  chime_wait_request request = {};
  request.elements = word.data();
  request.count = 1;
  request.cmp = cmp;
  request.values = value.data();
  request.width = static_cast<int>(word.itemsize());
  request.is_signed = word.dtype().kind() == 'i';
  request.mode = CHIME_WAIT_ONE;
  return request;
}

void wait(const py::array& word, int cmp, const py::array& value, double timeout_s) {
  const chime_wait_request request = request_for(word, cmp, value);
  Waiting(timeout_s).run([&](std::uint64_t timeout_ns, const chime_wait_look* look) {
    return chime_host_wait_looking(&request, timeout_ns, look);
  });
}

bool test(const py::array& word, int cmp, const py::array& value) {
  const chime_wait_request request = request_for(word, cmp, value);
  std::size_t holds = 0;
  run(kNoPe, [&] { holds = chime_host_test(&request); });
  return holds == 1;
}

std::uint64_t bits_of(const py::array& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, value.data(), static_cast<std::size_t>(value.itemsize()));
  return bits;
}

// One atomic on `word` at `pe`; returns the old value as an array of one element.
py::array amo(int op, const py::array& word, const py::array& operand, const py::array& compare,
              int pe) {
  const bool fetches = op >= 0x100;
  const std::uint64_t operand_bits = bits_of(operand), compare_bits = bits_of(compare);
  void* const address = const_cast<void*>(word.data());
  const int width = static_cast<int>(word.itemsize());
  std::uint64_t old = 0;
  run(pe, [&] {
    old = chime_host_amo(op & 0xff, fetches, address, width, operand_bits, compare_bits, pe);
  });
  return py::array(word.dtype(), std::vector<py::ssize_t>{}, &old);
}

}  // namespace

void bind_words(py::module_& module) {
  module.def("signal_op", [](std::uintptr_t sig, std::uint64_t value, int op, int pe) {
    run(pe, [=] { chime_host_signal_op(reinterpret_cast<std::uint64_t*>(sig), value, op, pe); });
  });
  module.def("signal_op_on_stream",
             [](std::uintptr_t sig, std::uint64_t value, int op, int pe, std::uintptr_t stream) {
               run(pe, [=] {
                 chimex_signal_op_on_stream(reinterpret_cast<std::uint64_t*>(sig), value, op, pe,
                                            stream_of(stream));
               });
             });
  module.def("signal_fetch", [](std::uintptr_t sig) {
    std::uint64_t value = 0;
    run(kNoPe,
        [&] { value = chime_host_signal_fetch(reinterpret_cast<const std::uint64_t*>(sig)); });
    return value;
  });
  module.def("signal_wait", signal_wait);
  module.def("signal_wait_on_stream",
             [](std::uintptr_t sig, int cmp, std::uint64_t value, std::uintptr_t stream) {
               run(kNoPe, [=] {
                 chimex_signal_wait_until_on_stream(reinterpret_cast<std::uint64_t*>(sig), cmp,
                                                    value, stream_of(stream));
               });
             });
  module.def("wait", wait);
  module.def("test", test);
  module.def("amo", amo);
}

}  // namespace chime_python
