// Init and finalize, memory, teams and streams.
#include <pybind11/stl.h>

#include <cstring>
#include <utility>
#include <vector>

#include "call.hpp"

// libchime.so exports these functions of the CPU device. Their header
// (device/simt/exec/exec_host.hpp) would bring all of the device side.
namespace chime::simt {
class Stream;
}
namespace chime::exec {
chimex_status stream_create(chime::simt::Stream** stream);
chimex_status stream_destroy(chime::simt::Stream* stream);
chimex_status stream_synchronize(chime::simt::Stream* stream);
}  // namespace chime::exec

namespace chime_python {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

void init(unsigned flags, const chimex_init_attr_t* attr, const Settings& settings) {
  std::vector<chimex_setting_t> list;
  for (const auto& [name, value] : settings) list.push_back({name.c_str(), value.c_str()});
  chimex_config_t config = CHIMEX_CONFIG_INITIALIZER;
  config.count = list.size();
  config.settings = list.data();
  run_status(kNoPe, [&] { return chimex_init_config(flags, attr, &config); });
  run_status(kNoPe, [] { return chimex_init_device(); });
}

void init_launcher(const Settings& settings) { init(CHIMEX_INIT_WITH_LAUNCHER, nullptr, settings); }

void init_uniqueid(const std::string& bytes, int my_pe, int n_pes, const Settings& settings) {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  if (bytes.size() != sizeof(id))
    raise_error(CHIMEX_ERR_INVALID, kNoPe,
                "a unique id has " + std::to_string(sizeof(id)) + " bytes, not " +
                    std::to_string(bytes.size()) + ": pass what chime.unique_id() returned");
  std::memcpy(&id, bytes.data(), sizeof(id));
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  run_status(kNoPe, [&] { return chimex_set_attr_uniqueid_args(my_pe, n_pes, &id, &attr); });
  init(CHIMEX_INIT_WITH_UNIQUEID, &attr, settings);
}

// `comm`: the address of an MPI_Comm, as mpi4py's MPI._addressof gives it.
void init_mpi(std::uintptr_t comm, const Settings& settings) {
  chimex_init_attr_t attr = CHIMEX_INIT_ATTR_INITIALIZER;
  run_status(kNoPe, [&] {
    return chimex_set_attr_mpi_comm_args(reinterpret_cast<const void*>(comm), &attr);
  });
  init(CHIMEX_INIT_WITH_UNIQUEID, &attr, settings);
}

py::bytes unique_id() {
  chimex_uniqueid_t id = CHIMEX_UNIQUEID_INITIALIZER;
  run_status(kNoPe, [&] { return chimex_get_uniqueid(&id); });
  return py::bytes(reinterpret_cast<const char*>(&id), sizeof(id));
}

std::uintptr_t allocate(std::size_t bytes, bool is_clear) {
  void* address = nullptr;
  run(kNoPe, [&] { address = is_clear ? chime_calloc(bytes, 1) : chime_malloc(bytes); });
  return reinterpret_cast<std::uintptr_t>(address);
}

// A numpy array that describes memory of Chime's, which it does not own; it keeps `owner` alive.
py::array view(std::uintptr_t address, std::vector<py::ssize_t> shape,
               std::vector<py::ssize_t> strides, const py::dtype& dtype, const py::object& owner) {
  const auto* const data = reinterpret_cast<const void*>(address);
  return strides.empty() ? py::array(dtype, std::move(shape), data, owner)
                         : py::array(dtype, std::move(shape), std::move(strides), data, owner);
}

template <class Make>
int made_team(Make&& make) {
  require_pe();
  chime_team_t team = CHIME_TEAM_INVALID;
  run_status(kNoPe, [&] { return make(&team); });
  return team;
}

std::pair<int, int> split_2d(int parent, int xrange) {
  require_pe();
  chime_team_t x = CHIME_TEAM_INVALID, y = CHIME_TEAM_INVALID;
  run_status(kNoPe,
             [&] { return chime_team_split_2d(parent, xrange, nullptr, 0, &x, nullptr, 0, &y); });
  return {x, y};
}

void bind_teams(py::module_& module) {
  module.def("team_split_strided", [](int parent, int start, int stride, int size) {
    return made_team([=](chime_team_t* team) {
      return chime_team_split_strided(parent, start, stride, size, nullptr, 0, team);
    });
  });
  module.def("team_split_2d", split_2d);
  module.def("team_split_list", [](int parent, const std::vector<int>& ranks) {
    return made_team([&](chime_team_t* team) {
      return chimex_team_split_list(parent, ranks.data(), static_cast<int>(ranks.size()), nullptr,
                                    0, team);
    });
  });
  module.def("team_shrink", [](int team) {
    return made_team(
        [=](chime_team_t* made) { return chimex_team_shrink(team, nullptr, 0, made); });
  });
  module.def("team_destroy", [](int team) { run(kNoPe, [=] { chime_team_destroy(team); }); });
  module.def("team_my_pe", [](int team) {
    int pe = kNoPe;
    run(kNoPe, [&] { pe = chime_host_team_my_pe(team); });
    return pe;
  });
  module.def("team_n_pes", [](int team) {
    int n = kNoPe;
    run(kNoPe, [&] { n = chime_host_team_n_pes(team); });
    return n;
  });
  module.def("team_translate", [](int team, int pe, int other) {
    int there = kNoPe;
    run(kNoPe, [&] { there = chime_host_team_translate_pe(team, pe, other); });
    return there;
  });
  module.def("team_lane", [](int team, int lane) {
    int handle = CHIME_TEAM_INVALID;
    run(kNoPe, [&] { handle = chime_host_team_lane(team, lane); });
    return handle;
  });
}

void bind_streams(py::module_& module) {
  module.def("stream_create", [] {
    require_pe();
    chime::simt::Stream* stream = nullptr;
    run_status(kNoPe, [&] { return chime::exec::stream_create(&stream); });
    return reinterpret_cast<std::uintptr_t>(stream);
  });
  module.def("stream_destroy", [](std::uintptr_t stream) {
    run_status(kNoPe, [=] {
      return chime::exec::stream_destroy(reinterpret_cast<chime::simt::Stream*>(stream));
    });
  });
  module.def("stream_synchronize", [](std::uintptr_t stream) {
    require_pe();
    run_status(kNoPe, [=] {
      return chime::exec::stream_synchronize(reinterpret_cast<chime::simt::Stream*>(stream));
    });
  });
}

}  // namespace

void bind_job(py::module_& module) {
  module.def("init_launcher", init_launcher);
  module.def("init_uniqueid", init_uniqueid);
  module.def("init_mpi", init_mpi);
  module.def("unique_id", unique_id);
  module.def("cumodule_init", [](std::uintptr_t handle) {
    require_pe();
    run_status(kNoPe,
               [=] { return chimex_cumodule_init(reinterpret_cast<chimex_cumodule_t>(handle)); });
  });
  module.def("finalize", [] { run(kNoPe, [] { chime_finalize(); }); });
  module.def("is_initialized", [] { return chimex_init_status() == CHIME_STATUS_IS_INITIALIZED; });
  module.def("global_exit", [](int status) {
    require_pe();
    const py::gil_scoped_release released;
    chime_global_exit(status);
  });
  module.def("my_pe", [] {
    require_pe();
    return chimex_host_my_pe();
  });
  module.def("n_pes", [] {
    require_pe();
    return chimex_host_n_pes();
  });
  module.def("node_my_pe", [] {
    int pe = kNoPe;
    run(kNoPe, [&] { pe = chimex_host_node_my_pe(); });
    return pe;
  });
  module.def("node_n_pes", [] {
    int n = 0;
    run(kNoPe, [&] { n = chimex_host_node_n_pes(); });
    return n;
  });
  module.def("pe_status", [](int pe) {
    require_pe();
    const SilentErrors silent;
    return chimex_host_pe_status(pe);
  });
  module.def("status_string", [](int status) { return std::string(chimex_status_string(status)); });
  module.def("allocate", allocate);
  module.def("free", [](std::uintptr_t address) {
    run(kNoPe, [=] { chime_free(reinterpret_cast<void*>(address)); });
  });
  module.def("view", view);
  module.def("address",
             [](const py::array& array) { return reinterpret_cast<std::uintptr_t>(array.data()); });
  module.def("peer", [](std::uintptr_t address, int pe) {
    require_pe();
    check_pe(pe);
    void* mapped = nullptr;
    run(pe, [&] { mapped = chime_host_ptr(reinterpret_cast<const void*>(address), pe); });
    return reinterpret_cast<std::uintptr_t>(mapped);
  });
  bind_teams(module);
  bind_streams(module);
}

}  // namespace chime_python
