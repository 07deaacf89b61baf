// A loop of one collective of all PEs, by each form of call: the host, a stream, or a thread, warp
// or block of a kernel.
#pragma once

#include <chime/chime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "collectives.hpp"
#include "measure.hpp"

namespace chime::perf {

enum class Form { kHost, kStream, kThread, kWarp, kBlock };
inline const std::vector<std::string> kForms = {"host", "stream", "thread", "warp", "block"};
inline constexpr unsigned kBlockThreads = 128;

inline Form form_of(const std::string& word) {
  std::size_t i = 0;
  while (kForms[i] != word) ++i;
  return static_cast<Form>(i);
}

inline std::string in_words(Form form) {
  const std::array<std::string, 5> words = {
      "by the host", "on a stream", "by one thread of a kernel", "by a warp of a kernel",
      "by a block of " + std::to_string(kBlockThreads) + " threads"};
  return words[static_cast<std::size_t>(form)];
}

// `n`: elements of a member, or of each block. Arrays are symmetric. An alltoalls sends every other
// element of src, an alltoallv n elements to each member.
struct Call {
  Collective kind;
  float* dst;
  const float* src;
  std::size_t n;
  std::size_t *dst_counts, *src_counts, *offsets;
};
inline constexpr std::ptrdiff_t kSrcStride = 2;

template <class Group>
CHIME_DEVICE void call_once(const Context& ctx, Group g, const Call& call) {
  constexpr chime_team_t kTeam = CHIME_TEAM_WORLD;
  float* const dst = call.dst;
  const float* const src = call.src;
  const std::size_t n = call.n, bytes = n * sizeof(float);
  switch (call.kind) {
    case Collective::kBarrier:
      team_barrier(ctx, g, kTeam);
      break;
    case Collective::kReduce:
      reduce<Sum>(ctx, g, kTeam, dst, src, n);
      break;
    case Collective::kReducescatter:
      reducescatter<Sum>(ctx, g, kTeam, dst, src, n);
      break;
    case Collective::kBroadcast:
      broadcastmem(ctx, g, kTeam, dst, src, bytes, 0);
      break;
    case Collective::kFcollect:
      fcollectmem(ctx, g, kTeam, dst, src, bytes);
      break;
    case Collective::kAlltoall:
      alltoallmem(ctx, g, kTeam, dst, src, bytes);
      break;
    case Collective::kInscan:
      inscan<Sum>(ctx, g, kTeam, dst, src, n);
      break;
    case Collective::kExscan:
      exscan<Sum>(ctx, g, kTeam, dst, src, n);
      break;
    case Collective::kCollect:
      collectmem(ctx, g, kTeam, dst, src, bytes);
      break;
    case Collective::kAlltoalls:
      alltoallsmem(ctx, g, kTeam, dst, src, 1, kSrcStride, n, sizeof(float));
      break;
    case Collective::kAlltoallv:
      alltoallvmem(ctx, g, kTeam, dst, call.dst_counts, call.offsets, src, call.src_counts,
                   call.offsets, sizeof(float));
      break;
  }
}

template <class Group>
CHIME_KERNEL void call_often(Context ctx, Call call, int iterations, std::uint64_t* ns) {
  const std::uint64_t start = exec::clock_ns();
  for (int i = 0; i < iterations; ++i) call_once(ctx, Group{}, call);
  if (exec::thread_rank() == 0) *ns = exec::clock_ns() - start;
}

// Both return a chimex_status.
inline int call_on_host(const Call& call) {
  constexpr chime_team_t kTeam = CHIME_TEAM_WORLD;
  float* const dst = call.dst;
  const float* const src = call.src;
  switch (call.kind) {
    case Collective::kBarrier:
      return chime_barrier(kTeam);
    case Collective::kReduce:
      return chime_float_sum_reduce(kTeam, dst, src, call.n);
    case Collective::kReducescatter:
      return chime_float_sum_reducescatter(kTeam, dst, src, call.n);
    case Collective::kBroadcast:
      return chime_float_broadcast(kTeam, dst, src, call.n, 0);
    case Collective::kFcollect:
      return chime_float_fcollect(kTeam, dst, src, call.n);
    case Collective::kAlltoall:
      return chime_float_alltoall(kTeam, dst, src, call.n);
    case Collective::kInscan:
      return chime_float_sum_inscan(kTeam, dst, src, call.n);
    case Collective::kExscan:
      return chime_float_sum_exscan(kTeam, dst, src, call.n);
    case Collective::kCollect:
      return chime_float_collect(kTeam, dst, src, call.n);
    case Collective::kAlltoalls:
      return chime_float_alltoalls(kTeam, dst, src, 1, kSrcStride, call.n);
    case Collective::kAlltoallv:
      return chimex_float_alltoallv(kTeam, dst, call.dst_counts, call.offsets, src, call.src_counts,
                                    call.offsets);
  }
  return CHIMEX_ERR_INVALID;
}

inline int call_on_stream(const Call& call) {
  constexpr chime_team_t kTeam = CHIME_TEAM_WORLD;
  constexpr chimex_stream_t kStream = nullptr;
  float* const dst = call.dst;
  const float* const src = call.src;
  const std::size_t n = call.n;
  switch (call.kind) {
    case Collective::kBarrier:
      return chimex_barrier_on_stream(kTeam, kStream);
    case Collective::kReduce:
      return chimex_float_sum_reduce_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kReducescatter:
      return chimex_float_sum_reducescatter_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kBroadcast:
      return chimex_float_broadcast_on_stream(kTeam, dst, src, n, 0, kStream);
    case Collective::kFcollect:
      return chimex_float_fcollect_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kAlltoall:
      return chimex_float_alltoall_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kInscan:
      return chimex_float_sum_inscan_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kExscan:
      return chimex_float_sum_exscan_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kCollect:
      return chimex_float_collect_on_stream(kTeam, dst, src, n, kStream);
    case Collective::kAlltoalls:
      return chimex_float_alltoalls_on_stream(kTeam, dst, src, 1, kSrcStride, n, kStream);
    case Collective::kAlltoallv:
      return chimex_float_alltoallv_on_stream(kTeam, dst, call.dst_counts, call.offsets, src,
                                              call.src_counts, call.offsets, kStream);
  }
  return CHIMEX_ERR_INVALID;
}

inline void need_success(int status) {
  if (status == CHIMEX_OK) return;
  std::fprintf(stderr, "a collective failed: %s\n", chimex_last_error());
  chime_global_exit(1);
}

inline double stream_us(const Call& call, int iterations) {
  const double start = now_us();
  for (int i = 0; i < iterations; ++i) need_success(call_on_stream(call));
  need_success(exec::stream_synchronize({}));
  return (now_us() - start) / iterations;
}

template <class Group>
double group_us(const Call& call, unsigned threads, int iterations) {
  exec::LaunchConfig config;
  config.block = threads;
  return kernel_us(config, call_often<Group>, context(), call, iterations) / iterations;
}

// Microseconds of one of `iterations` calls on this PE, from when all PEs are ready.
inline double call_us(Form form, const Call& call, int iterations) {
  chime_barrier_all();
  switch (form) {
    case Form::kHost:
      return host_us(iterations, [&] { need_success(call_on_host(call)); });
    case Form::kStream:
      return stream_us(call, iterations);
    case Form::kThread:
      return group_us<Thread>(call, 1, iterations);
    case Form::kWarp:
      return group_us<Warp>(call, 32, iterations);
    case Form::kBlock:
      return group_us<Block>(call, kBlockThreads, iterations);
  }
  return kNotMeasured;
}

}  // namespace chime::perf
