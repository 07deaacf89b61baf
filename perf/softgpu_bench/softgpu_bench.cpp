// softgpu_bench: the cost of kernels that the softgpu translates from PTX, beside the same kernels
// on the CPU device. clang made the PTX from the functions here.
#include <chime/chime.h>

#include <chime/device/simt/launch/options.hpp>

#include "measure.hpp"
#include "options.hpp"
#include "softgpu/kernel_code.hpp"
#include "sweep.hpp"
#include "table.hpp"

namespace {

namespace exec = chime::exec;
namespace simt = chime::simt;
using namespace chime::perf;

constexpr int kTurns = 20'000;
constexpr int kRounds = 500;
constexpr int kLaunches = 50;

// ---- The kernels, twice ------------------------------------------------------------------------

CHIME_KERNEL void do_nothing(int, unsigned*) {}

CHIME_KERNEL void compute(int turns, unsigned* out) {
  unsigned x = exec::thread_rank();
  float f = 1;
  for (int i = 0; i < turns; ++i) {
    x = x * 1664525u + 1013904223u;
    x ^= x >> 15;
    f = f * 0.999f + 1.0f;
  }
  out[exec::thread_rank()] = x + static_cast<unsigned>(f);
}

CHIME_KERNEL void scale(int turns, unsigned* out) {
  unsigned at = exec::thread_rank();
  for (int i = 0; i < turns; ++i, at += 32) out[512 + (at & 511)] = out[at & 511] * 3u;
}

CHIME_KERNEL void sync_blocks(int rounds, unsigned*) {
  for (int i = 0; i < rounds; ++i) exec::sync_block();
}

CHIME_KERNEL void count(int rounds, unsigned* out) {
  for (int i = 0; i < rounds; ++i) exec::atomic_add<exec::Order::kRelaxed>(out, 1u);
}

constexpr const char* kPtx = R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry do_nothing(.param .u32 turns, .param .u64 out) { ret; }
.visible .entry compute(.param .u32 turns, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<4>;
  ld.param.u32 %r1, [turns];
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %r2;
  mov.f32 %f1, 0f3F800000;
$LOOP:
  mad.lo.s32 %r3, %r3, 1664525, 1013904223;
  shr.u32 %r4, %r3, 15;
  xor.b32 %r3, %r4, %r3;
  fma.rn.f32 %f1, %f1, 0f3F7FBE77, 0f3F800000;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $LOOP;
  cvt.rzi.u32.f32 %r5, %f1;
  add.s32 %r6, %r5, %r3;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
.visible .entry scale(.param .u32 turns, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  ld.param.u32 %r1, [turns];
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
$LOOP:
  and.b32 %r3, %r2, 511;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  mul.lo.s32 %r4, %r4, 3;
  st.global.u32 [%rd3+2048], %r4;
  add.s32 %r2, %r2, 32;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $LOOP;
  ret;
}
.visible .entry sync_blocks(.param .u32 turns, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [turns];
$LOOP:
  bar.sync 0;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $LOOP;
  ret;
}
.visible .entry count(.param .u32 turns, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u32 %r1, [turns];
  ld.param.u64 %rd1, [out];
$LOOP:
  red.relaxed.sys.global.add.u32 [%rd1], 1;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $LOOP;
  ret;
}
)";

// ---- Launching them ----------------------------------------------------------------------------

exec::LaunchConfig block(unsigned threads) {
  exec::LaunchConfig config;
  config.block = threads;
  return config;
}

void wait_for(const exec::LaunchStatus& status) {
  if (status == CHIMEX_OK && exec::stream_synchronize({}) == CHIMEX_OK) return;
  std::fprintf(stderr, "a kernel could not run: %s\n", exec::last_error());
  std::exit(1);
}

struct Parameters {
  int turns;
  unsigned* out;
};

class PtxCall final : public simt::KernelCall {
 public:
  PtxCall(const softgpu::Kernel& kernel, softgpu::Kernel::Code code, Parameters parameters)
      : kernel_(kernel), code_(code), parameters_(parameters) {}
  void run_thread() const override {
    softgpu::Env e = kernel_.env({reinterpret_cast<const std::uint8_t*>(&parameters_), 0, 0});
    code_(e);
  }
  const void* address() const override { return reinterpret_cast<const void*>(code_); }

 private:
  const softgpu::Kernel& kernel_;
  const softgpu::Kernel::Code code_;
  const Parameters parameters_;
};

void run_ptx(const char* name, bool watched, unsigned threads, Parameters parameters) {
  static softgpu::Module& module = *new softgpu::Module(kPtx);
  softgpu::Kernel& kernel = *module.find(name);
  wait_for(simt::launch_call(
      block(threads),
      std::make_unique<PtxCall>(kernel, kernel.code({.watched = watched}), parameters)));
}
void run_own(void (*kernel)(int, unsigned*), unsigned threads, Parameters parameters) {
  wait_for(exec::launch(block(threads), kernel, parameters.turns, parameters.out));
}

void set_weak(bool weak) {
  simt::Options options = simt::options();
  options.weak = weak;
  options.seed = weak;
  simt::set_options(options);
}

// ---- Figures -----------------------------------------------------------------------------------

// Nanoseconds of a thread's turn in both, taken in turns; less an empty launch.
struct Pair {
  Best ptx, own;
  void take(const char* name, void (*kernel)(int, unsigned*), unsigned threads, int turns,
            unsigned* out) {
    const double per_turn = 1000.0 / turns / threads;
    ptx.take(host_us(1, [&] { run_ptx(name, false, threads, {turns, out}); }) * per_turn);
    own.take(host_us(1, [&] { run_own(kernel, threads, {turns, out}); }) * per_turn);
  }
  void append(std::vector<double>& figures) const {
    figures.insert(figures.end(), {ptx.value(), ptx.value() / own.value()});
  }
};

std::vector<double> measure(const Options& options, unsigned threads) {
  std::vector<unsigned> memory(1024);
  unsigned* const out = memory.data();
  const int turns = options.iterations(kTurns), rounds = options.iterations(kRounds);
  Pair loop, access, barrier, atomic;
  Best launch, own_launch, weak;
  for (const char* name : {"do_nothing", "compute", "scale", "sync_blocks", "count"}) {
    run_ptx(name, false, 1, {1, out});  // compiles it
  }
  run_ptx("count", true, 1, {1, out});
  for (int r = 0; r < options.repeats; ++r) {
    loop.take("compute", compute, threads, turns, out);
    access.take("scale", scale, threads, turns, out);
    barrier.take("sync_blocks", sync_blocks, threads, rounds, out);
    atomic.take("count", count, threads, turns, out);
    const int launches = options.iterations(kLaunches);
    launch.take(host_us(launches, [&] { run_ptx("do_nothing", false, threads, {1, out}); }));
    own_launch.take(host_us(launches, [&] { run_own(do_nothing, threads, {1, out}); }));
    set_weak(true);
    weak.take(host_us(1,
                      [&] {
                        run_ptx("count", true, threads, {turns, out});
                      }) *
              1000 / turns / threads);
    set_weak(false);
  }
  std::vector<double> figures;
  for (const Pair* pair : {&loop, &access, &barrier, &atomic}) pair->append(figures);
  figures.insert(figures.end(),
                 {launch.value(), launch.value() / own_launch.value(), weak.value()});
  return figures;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  parse(options, argc, argv, "Cost of translated PTX beside the same kernels on the CPU device",
        false);
  if (!device_is_cpu()) {
    std::fprintf(stderr, "softgpu_bench measures code for the CPU\n");
    return 2;
  }
  Table table("Softgpu", "Threads",
              {"Loop (ns)", "x own", "ld+st (ns)", "x own", "bar.sync (ns)", "x own",
               "red.add (ns)", "x own", "Launch (us)", "x own", "red, weak (ns)"},
              {"one block; best of " + std::to_string(options.repeats) + " repeats, in turns",
               "x own: by how much the same kernel is quicker that is compiled for the CPU device",
               "Loop: a turn of integer and float arithmetic, per thread; so are the others",
               "ld+st: a load, a product and a store of 4 bytes",
               "red, weak: an atomic under a seed in weak mode"});
  const std::vector<std::size_t> rows = {1, 32, 256};
  sweep(table, options, true, rows, [](const Options& chosen, std::size_t threads) {
    return measure(chosen, static_cast<unsigned>(threads));
  });
  return table.write_json(options.json) ? 0 : 1;
}
