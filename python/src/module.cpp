// The extension module chime._chime: what the package's Python files call. It takes numpy arrays as
// descriptions of memory (address, shape, strides, type), and the package checks what they are.
#include "call.hpp"

namespace chime_python {

void raise_error(int status, int pe, const std::string& text) {
  const py::object error = py::module_::import("chime.errors").attr("error")(status, pe, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

int dead_pe() {
  const int n_pes = chimex_host_n_pes();
  int found = kNoPe;
  for (int pe = 0; pe < n_pes && found == kNoPe; ++pe)
    if (chimex_host_pe_status(pe) == CHIMEX_ERR_PEER_DEAD) found = pe;
  return found;
}

void check_pe(int pe) {
  const int n_pes = chimex_host_n_pes();
  if (pe < 0 || pe >= n_pes)
    raise_error(CHIMEX_ERR_INVALID, pe,
                "there is no PE " + std::to_string(pe) +
                    (n_pes == 1 ? "; this job has PE 0 alone (chime-run -n 4 python ... starts 4)"
                                : "; this job has PEs 0 to " + std::to_string(n_pes - 1)));
}

void raise_last_error(int status, int pe) {
  const std::string text = chimex_last_error();
  if (status == CHIMEX_ERR_PEER_DEAD && pe == kNoPe) pe = dead_pe();
  raise_error(status, pe, text.empty() ? chimex_status_string(status) : text);
}

}  // namespace chime_python

PYBIND11_MODULE(_chime, module) {
  module.doc() = "Chime's C functions as the package chime calls them; no public names.";
  module.attr("version") = CHIME_VERSION_TEXT;
  module.attr("knows_numpy_2") = PYBIND11_VERSION_HEX >= 0x020C0000;
  chime_python::bind_job(module);
  chime_python::bind_transfers(module);
  chime_python::bind_words(module);
  chime_python::bind_collectives(module);
}
