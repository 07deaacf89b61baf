// Collectives of a team: at once, with a bound of the call's own, or on a stream.
#include <pybind11/stl.h>

#include <vector>

#include "call.hpp"

namespace chime_python {
namespace {

// How the call runs. timeout_s: below 0, Chime's own bound. stream: -1, none.
struct Mode {
  double timeout_s;
  std::int64_t stream;
};

void start(const chime_collective_request& request, const Mode& mode) {
  require_pe();
  run_status(kNoPe, [&] {
    if (mode.stream != -1)
      return chime_host_collective_on_stream(&request,
                                             stream_of(static_cast<std::uintptr_t>(mode.stream)));
    if (mode.timeout_s < 0) return chime_host_collective(&request);
    const auto timeout_ns = static_cast<std::uint64_t>(mode.timeout_s * 1e9);
    return chime_host_collective_timeout(&request, timeout_ns > 0 ? timeout_ns : 1);
  });
}

chime_collective_request request_of(int kind, int team, std::uintptr_t dst, std::uintptr_t src) {
  chime_collective_request request = {};
  request.kind = kind;
  request.team = team;
  request.dst = reinterpret_cast<void*>(dst);
  request.src = reinterpret_cast<const void*>(src);
  return request;
}

void move_data(int kind, int team, std::uintptr_t dst, std::uintptr_t src, std::size_t n, int bytes,
               int root, double timeout_s, std::int64_t stream) {
  chime_collective_request request = request_of(kind, team, dst, src);
  request.n = n;
  request.bytes = bytes;
  request.root = root;
  start(request, {timeout_s, stream});
}

void alltoalls(int team, std::uintptr_t dst, std::uintptr_t src, std::ptrdiff_t dst_stride,
               std::ptrdiff_t src_stride, std::size_t n, int bytes, double timeout_s,
               std::int64_t stream) {
  chime_collective_request request = request_of(CHIME_COLLECTIVE_ALLTOALLS, team, dst, src);
  request.n = n;
  request.bytes = bytes;
  request.dst_stride = dst_stride;
  request.src_stride = src_stride;
  start(request, {timeout_s, stream});
}

using Counts = std::vector<std::size_t>;

// `dst_counts`: how many elements there is room for. Returns how many came from each member.
Counts alltoallv(int team, std::uintptr_t dst, std::uintptr_t src, Counts dst_counts,
                 const Counts& dst_offsets, const Counts& src_counts, const Counts& src_offsets,
                 int bytes, double timeout_s) {
  chime_collective_request request = request_of(CHIME_COLLECTIVE_ALLTOALLV, team, dst, src);
  request.bytes = bytes;
  request.dst_counts = dst_counts.data();
  request.dst_offsets = dst_offsets.data();
  request.src_counts = src_counts.data();
  request.src_offsets = src_offsets.data();
  start(request, {timeout_s, -1});
  return dst_counts;
}

void reduce_data(int kind, int team, std::uintptr_t dst, std::uintptr_t src, std::size_t n,
                 int bytes, int op, int element, std::int64_t stream) {
  chime_collective_request request = request_of(kind, team, dst, src);
  request.n = n;
  request.bytes = bytes;
  request.op = op;
  request.element = element;
  start(request, {-1, stream});
}

void meet(bool is_barrier, int team, double timeout_s, std::int64_t stream) {
  require_pe();
  if (timeout_s >= 0) {
    const int kind = is_barrier ? CHIME_COLLECTIVE_BARRIER : CHIME_COLLECTIVE_SYNC;
    return move_data(kind, team, 0, 0, 0, 1, 0, timeout_s, -1);
  }
  run_status(kNoPe, [=] {
    if (stream == -1) return is_barrier ? chime_host_barrier(team) : chime_host_team_sync(team);
    const chimex_stream_t on = stream_of(static_cast<std::uintptr_t>(stream));
    return is_barrier ? chimex_barrier_on_stream(team, on) : chimex_team_sync_on_stream(team, on);
  });
}

}  // namespace

void bind_collectives(py::module_& module) {
  module.def("move", move_data);
  module.def("alltoalls", alltoalls);
  module.def("alltoallv", alltoallv);
  module.def("reduce", reduce_data);
  module.def("meet", meet);
}

}  // namespace chime_python
