// What the timeline adds to a put of 8 bytes and a quiet, by one thread of a kernel, to a mapped
// PE: without the lines that note operations, with them in a job that records nothing, and
// recording. All in one run, in turns:
//
//   CHIME_TRACE_EVENTS=1000000 chime-run -n 2 --trace run.json build/cpu/perf/trace/trace_cost
#include <chime/chime.h>

#include <array>
#include <cstdio>

#include "measure.hpp"
#include "options.hpp"
#include "table.hpp"

namespace exec = chime::exec;
using namespace chime::perf;

namespace {

constexpr int kPairs = 20000;

enum Variant { kWithoutLines, kOff, kRecording, kVariants };

// As chime::put and chime::quiet are without their lines for the timeline.
void put_without_line(const chime::Context& ctx, long* dst, const long* src, int pe) {
  const chime::Put put = {dst, src, sizeof(long), chime::Until::kLocal};
  if (!chime::is_memory(ctx, put.src, put.bytes, chime::Operation::kPut)) return;
  const chime::Target target = {put.dst, put.bytes, alignof(long), false, put.src};
  if (!chime::go(ctx, chime::Traffic::kData, target, pe, [&](const auto& path) {
        chime::detail::name_source(ctx, chime::Thread{}, put.src, put.bytes, put.bytes, 1);
        path.template put<alignof(long)>(chime::Thread{}, put);
      })) {
    chime::fail_route(ctx, target, pe, chime::Operation::kPut);
  }
}

void quiet_without_line(const chime::Context& ctx) {
  if (chime::detail::has_channels(ctx)) {
    chime::channel::quiet(ctx);
  } else {
    chime::need_filled(ctx);
  }
  chime::order::puts_visible();
}

}  // namespace

static CHIME_KERNEL void without_lines(chime::Context ctx, long* data, int pe, int count,
                                       uint64_t* ns) {
  const uint64_t begin = exec::clock_ns();
  for (int i = 0; i < count; ++i) {
    put_without_line(ctx, data, data + 8, pe);
    quiet_without_line(ctx);
  }
  *ns = exec::clock_ns() - begin;
}

static CHIME_KERNEL void with_lines(chime::Context ctx, long* data, int pe, int count,
                                    uint64_t* ns) {
  const uint64_t begin = exec::clock_ns();
  for (int i = 0; i < count; ++i) {
    chime::put(ctx, chime::Thread{}, data, data + 8, 1, pe);
    chime::quiet(ctx);
  }
  *ns = exec::clock_ns() - begin;
}

namespace {

// Microseconds of one put and quiet.
double pair_us(Variant variant, long* data, int peer, int count) {
  chime::Context ctx = chime::context();
  if (variant != kRecording) ctx.pe.traced = ctx.pe.checked = 0;
  const exec::LaunchConfig one{.grid = exec::dim3(1), .block = exec::dim3(1)};
  return kernel_us(one, variant == kWithoutLines ? without_lines : with_lines, ctx, data, peer,
                   count) /
         count;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "What a timeline (CHIME_TRACE) costs a put and quiet", false);
  chime_init();
  if (chime::context().pe.traced == 0) {
    std::fprintf(stderr, "trace_cost: start it with chime-run --trace run.json\n");
    chime_global_exit(2);
  }
  auto* const data = static_cast<long*>(chime_calloc(16, sizeof(long)));
  const int peer = (chime_my_pe() + 1) % chime_n_pes(), count = options.iterations(kPairs);
  std::array<Best, kVariants> best;
  for (int turn = 0; turn < options.repeats; ++turn) {
    chime_barrier_all();
    for (int v = 0; chime_my_pe() == 0 && v < kVariants; ++v)
      best[v].take(1000 * pair_us(static_cast<Variant>(v), data, peer, count));
  }
  int code = 0;
  if (chime_my_pe() == 0) {
    Table table("Timeline", "Pair", {"Without lines (ns)", "Off (ns)", "Recording (ns)"},
                {"put of 8 bytes and quiet to a mapped PE by one thread of a kernel; best of " +
                     std::to_string(options.repeats) + " turns of " + std::to_string(count),
                 "Without lines: the same code without those that note operations"});
    table.print_header();
    table.row("put+quiet", {best[0].value(), best[1].value(), best[2].value()});
    code = table.write_json(options.json) ? 0 : 1;
  }
  chime_barrier_all();
  chime_finalize();
  return code;
}
